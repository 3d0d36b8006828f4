package advisory

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// Fence makes tx safe against the loss of the lease: tx commits before any later holder of the lease starts, or it fails. It must be called before anything else in tx, in a transaction on
// the database of the locker. It is one round trip. [Lease.Do] is the same with less to go wrong.
//
// If the lease is lost already, or was released, Fence returns an error that wraps [ErrLost], [ErrReleased] or [ErrClosed], and the server has aborted tx. On a standby it
// returns [ErrStandby].
//
// How it works: tx locks [FenceKey] in shared mode and then looks in pg_locks whether the lease's session is there and holds the lease. A new holder, before Acquire returns, locks that key
// exclusively for a moment, and so waits for tx.
//
// What it does not cover:
//   - Rolling back to a savepoint that was set before Fence frees the fence; tx may then commit after others have started.
//   - Holders that are no lockers, with [PlainKeys]: they do not wait for tx.
//   - Another database than the locker's: there Fence returns ErrLost.
//   - Effects outside of the database: see [Lease.Token].
//
// A fenced transaction holds up the next holder. So Fence lowers tx's idle_in_transaction_session_timeout to the [TTL], and a new holder cancels queries of fenced
// transactions that still run half a TTL after it got the lock, and terminates their sessions after a whole one. For that it must have the right to: be a member of
// the role of those sessions, or of pg_signal_backend. A fenced transaction that itself waits for the lease's key waits for as long as the lease is held.
func (le *Lease) Fence(ctx context.Context, tx *sql.Tx) error {
	mustTx("Fence", tx)
	if err := le.Err(); err != nil {
		tx.ExecContext(ctx, abort)
		return fmt.Errorf("advisory: Fence: %w", err)
	}
	s := le.hold.session
	_, err := tx.ExecContext(ctx, fenceStatement(s.pid, s.nonce, le.hold.names, le.hold.shared, le.locker.set.ttl))
	if err != nil {
		return le.fenceFailed(ctx, err)
	}
	// The server cannot tell a lease from the next one on the same key in the same session.
	if err := le.Err(); err != nil {
		tx.ExecContext(ctx, abort)
		return fmt.Errorf("advisory: Fence: %w", err)
	}
	return nil
}

// abort is a statement that fails, so that its transaction cannot commit.
const abort = "SELECT '" + marker + "lost'::int"

func (le *Lease) fenceFailed(ctx context.Context, err error) error {
	text := err.Error()
	switch {
	case sqlState(err) != "22P02":
	case strings.Contains(text, marker+"lost:true"):
		return fmt.Errorf("%w: Fence %v: connect to the primary: %w", ErrStandby, le.key, err)
	case strings.Contains(text, marker+"lost:false"):
		return fmt.Errorf("%w: Fence %v: its session does not hold it in this database: %w", ErrLost, le.key, err)
	}
	return failed(ctx, "Fence", []Key{le.key}, err)
}

// Do runs fn in a transaction that is fenced by the lease ([Lease.Fence]): what fn writes is committed before any later holder starts, or not at all. db must be a pool
// on the database of the locker.
//
// If fn returns nil, Do checks the lease once more, commits, and returns what COMMIT returned. If fn returns an error, panics, or ends its goroutine, Do rolls
// back. fn's ctx ends with ctx and with the lease. fn must not end the transaction.
//
// If the lease is over, Do returns an error that wraps the one of [Lease.Err]. The transaction has the database's default isolation level; for others begin one and call Fence. Do panics if db or fn
// is nil.
func (le *Lease) Do(ctx context.Context, db *sql.DB, fn func(ctx context.Context, tx *sql.Tx) error) error {
	if db == nil || fn == nil {
		panic("advisory: Lease.Do: db or fn is nil")
	}
	if err := le.Err(); err != nil {
		return fmt.Errorf("advisory: Do: %w", err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(le.ctx, func() { cancel(context.Cause(le.ctx)) })
	defer stop()
	err := le.do(ctx, db, fn)
	if over := le.Err(); err != nil && over != nil && !errors.Is(err, over) && ctx.Err() != nil {
		return fmt.Errorf("advisory: Do: %w: %w", over, err)
	}
	return err
}

func (le *Lease) do(ctx context.Context, db *sql.DB, fn func(ctx context.Context, tx *sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("advisory: Do %v: begin: %w", le.key, err)
	}
	defer tx.Rollback() // after a commit it does nothing
	if err := le.Fence(ctx, tx); err != nil {
		return err
	}
	if err := fn(ctx, tx); err != nil {
		return err
	}
	// Once more, because fn may have rolled back to a savepoint of before the fence, by a statement of its own.
	if err := le.Fence(ctx, tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("advisory: Do %v: commit: %w", le.key, err)
	}
	return nil
}

// Token returns a number that is greater than all which earlier holders of any lease in the database got, for effects outside of it: whoever is written to
// keeps the greatest that it has seen and refuses smaller ones. It is the same number each time for one lease. It is positive.
//
// The number is a transaction ID, so it needs no table. After a failover to an asynchronous standby, or a restore, the numbers can begin again at smaller ones.
//
// The first call is one round trip, and waits for the server's disk. Token returns the error of [Lease.Err] if the lease is over, ctx's error, or the driver's.
func (le *Lease) Token(ctx context.Context) (int64, error) {
	if token := le.token.Load(); token != 0 {
		return token, le.Err()
	}
	s := le.hold.session
	var failure error
	err := s.ask(ctx, func() {
		if le.token.Load() != 0 || le.Err() != nil {
			return
		}
		var pid int
		var token int64
		failure = s.timed(func(ctx context.Context) error {
			return s.conn.QueryRowContext(ctx, drawToken).Scan(&token, &pid)
		})
		switch {
		case failure == nil && pid != s.pid:
			s.lose(errPoolerFound)
		case failure == nil:
			le.token.Store(token)
		case !s.survives(failure):
			s.lose(failure)
		}
	})
	switch over := le.Err(); {
	case over != nil:
		return 0, fmt.Errorf("advisory: Token: %w", over)
	case err == nil:
		err = failure
	}
	if err != nil {
		return 0, failed(ctx, "Token", []Key{le.key}, err)
	}
	return le.token.Load(), nil
}
