package analyzer

import (
	"fmt"
	"go/token"

	"github.com/pgadvisory/pgadvisory/analyzer/internal/site"
)

const docLostunlock = `lostunlock: report session-level locks that stay on a connection which goes back to its pool

Wrong:

	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock($1)", key); err != nil {
		return err
	}
	if err := work(ctx); err != nil {
		return err // the pool gets the connection with the lock on it
	}
	_, err = conn.ExecContext(ctx, "SELECT pg_advisory_unlock($1)", key)
	return err

Right:

	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock($1)", key); err != nil {
		return err
	}
	defer conn.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", key)
	return work(ctx)

Neither conn.Close nor Release ends the session: it gives the connection back
to the pool, and a session-level lock that is on it stays there, held by
nobody who knows of it.

Reported, at the call that takes the lock, is a lock on a connection that the
same function takes from a pool, if

  - there is a return on which the lock is neither freed nor the session
    ended: an early return, a defer registered only after it, or no unlock at
    all;
  - an unlock is built but never sent: gorm's Raw without a finisher;
  - the connection is closed before the unlock is run: deferred calls run the
    last one first;
  - the lock is freed on every way out, but not by a defer, and a call in
    between may panic. This kind has a switch: -lostunlock.panic=false.

The branch where a try-lock answered false, or where the lock statement failed,
needs no unlock. A session that ends frees its locks: Hijack and Close, a
function given to Raw that returns driver.ErrBadConn, os.Exit and log.Fatal.

Silent: where the connection, or a closure that frees the lock, is returned,
stored, or handed to a goroutine or to a method of an interface, since the lock
may be freed there; where SQL that is not known, or that calls a function which
is not the server's, runs on the connection, or DISCARD does; functions with
too many paths.

Since: 0.1
`

var lostunlock = rule(docLostunlock, func(r *reporter) {
	panics := r.Analyzer.Flags.Lookup("panic").Value.String() == "true"
	for _, h := range r.Held {
		s := h.Site
		switch h.Loss {
		case site.NeverFreed:
			r.report(s, "%s on %s is not freed on the way out at %s, and the connection goes back to its pool with the lock on it: defer the unlock right after the lock is taken",
				verb(s), name(s), r.line(h.At))
		case site.NeverSent:
			r.report(s, "%s on %s is not freed, since the unlock is never sent: Raw only builds it, run it with Exec", verb(s), name(s))
		case site.ClosedFirst:
			r.report(s, "%s on %s stays on the connection, which is given back (%s) before the unlock is run: defer the close first and the unlock after it",
				verb(s), name(s), r.line(h.At))
		case site.PanicSkips:
			if !panics {
				r.silenced(s)
				continue
			}
			r.report(s, "%s on %s is freed, but not by a defer: a panic in between (%s) leaves the lock on the connection; defer the unlock right after the lock is taken",
				verb(s), name(s), r.line(h.At))
		}
	}
})

func init() {
	lostunlock.Flags.Bool("panic", true, "also report an unlock that is on every way out but not deferred")
}

// line names a place in the function by its line.
func (r *reporter) line(pos token.Pos) string {
	if !pos.IsValid() {
		return "the end of the function"
	}
	return fmt.Sprintf("line %d", r.Fset.Position(pos).Line)
}
