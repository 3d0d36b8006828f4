package analyzer

import (
	"github.com/pgadvisory/pgadvisory/analyzer/internal/site"
	"github.com/pgadvisory/pgadvisory/analyzer/internal/sqltext"
)

const docSessionintx = `sessionintx: report session-level locks that are taken in a transaction

Wrong:

	tx, err := db.BeginTx(ctx, nil)
	…
	_, err = tx.ExecContext(ctx, "SELECT pg_advisory_lock($1)", key)
	…
	_, err = tx.ExecContext(ctx, "SELECT pg_advisory_unlock($1)", key)
	return tx.Commit()

Right:

	tx, err := db.BeginTx(ctx, nil)
	…
	_, err = tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", key)
	return tx.Commit()

A session-level lock does not care for transactions: it survives COMMIT and
ROLLBACK, and goes back to the pool with the connection. An unlock at the end
of the transaction does not help: once a statement has failed the transaction
is aborted, and the unlock fails with it (25P02). And an unlock before COMMIT
lets the next one in before it can see what was done.

Reported where the transaction was begun on a pool, and where a transaction of
unknown origin takes and frees the lock. Silent where it was begun on a pinned
connection, which can free the lock later, or on a pool of one.

Since: 0.1
`

var sessionintx = rule(docSessionintx, func(r *reporter) {
	for _, s := range r.Sites {
		if !takes(s) || s.Lock.Scope != sqltext.Session || s.Deep || s.Unsent || !s.On(site.Tx) || r.paired(s) {
			continue
		}
		if !s.BegunOn(site.Pool) && !(s.BegunOn(site.Unknown) && r.freedOn(s)) {
			continue
		}
		r.report(s, "%s in %s outlives COMMIT and ROLLBACK and goes back to the pool, and in an aborted transaction the unlock fails too: take %s",
			verb(s), handle(s), inTransaction(s))
	}
})

// freedOn reports whether the function of a site frees a lock on the handle
// that takes it.
func (r *reporter) freedOn(s *site.Site) bool {
	for _, o := range r.Sites {
		if frees(o) && site.SameHandle(s, o) {
			return true
		}
	}
	return false
}

// inTransaction names the transaction-level lock to take instead.
func inTransaction(s *site.Site) string {
	switch s.Lock.Func.Dialect {
	case sqltext.PostgreSQL:
		name := "pg_advisory_xact_lock"
		if s.Is(sqltext.TryLock) {
			name = "pg_try_advisory_xact_lock"
		}
		if s.Lock.Shared {
			name += "_shared"
		}
		return name + ", which needs no unlock"
	case sqltext.SQLServer:
		return "the lock with @LockOwner = 'Transaction'"
	}
	return "it on a pinned connection"
}
