// Package sessionintx takes session-level locks in transactions.
package sessionintx

import (
	"context"
	"database/sql"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

func begun(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil { // want `pg_advisory_lock in the transaction tx outlives COMMIT .* take pg_advisory_xact_lock, which needs no unlock \(sessionintx\)$`
		return err
	}
	return tx.Commit()
}

func tried(ctx context.Context, pool *pgxpool.Pool) (ok bool, err error) {
	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, "SELECT pg_try_advisory_lock_shared(1)").Scan(&ok) // want `take pg_try_advisory_xact_lock_shared,.*sessionintx`
	})
	return ok, err
}

type ledger struct{ db *sql.DB }

func (l *ledger) inTx(ctx context.Context, fn func(*sql.Tx) error) error {
	tx, err := l.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := fn(tx); err != nil {
		return err
	}
	return tx.Commit()
}

func (l *ledger) post(ctx context.Context) error {
	return l.inTx(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "SELECT pg_advisory_lock(1)") // want `sessionintx`
		return err
	})
}

func lockIn(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, "SELECT pg_advisory_lock(1)") // want `sessionintx`
	return err
}

func (l *ledger) callsLockIn(ctx context.Context) error {
	return l.inTx(ctx, func(tx *sql.Tx) error { return lockIn(ctx, tx) })
}

// who begun it is not known, but the unlock fails all the same when the
// transaction is aborted.
func lockAndFree(ctx context.Context, tx *sql.Tx, book func() error) error {
	if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil { // want `sessionintx`
		return err
	}
	defer tx.ExecContext(ctx, "SELECT pg_advisory_unlock(1)")
	return book()
}

type execer interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}

func lockOn(ctx context.Context, h execer) error {
	_, err := h.ExecContext(ctx, "SELECT pg_advisory_lock(1)")
	return err
}

func (l *ledger) handsTx(ctx context.Context) error {
	return l.inTx(ctx, func(tx *sql.Tx) error {
		return lockOn(ctx, tx) // want `run by lockOn, in the transaction tx .*sessionintx`
	})
}

func nested(ctx context.Context, pool *pgxpool.Pool) error {
	tx, err := pool.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback(ctx)
	inner, err := tx.Begin(ctx)
	if err != nil {
		return err
	}
	_, err = inner.Exec(ctx, "SELECT pg_advisory_lock(1)") // want `sessionintx`
	return err
}

func applock(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var status int
	return tx.QueryRowContext(ctx, // want `take the lock with @LockOwner = 'Transaction'.*sessionintx`
		"DECLARE @r int; EXEC @r = sp_getapplock @Resource = 'x', @LockMode = 'Exclusive', @LockOwner = 'Session'; SELECT @r").Scan(&status)
}

// right.

func transactionLevel(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock(1)"); err != nil {
		return err
	}
	return tx.Commit()
}

func onParameter(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, "SELECT pg_advisory_lock(1)")
	return err
}

// the transaction only takes the lock; the connection keeps it.
func shortTransaction(ctx context.Context, db *sql.DB, book func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, "SET LOCAL lock_timeout = 1000"); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil {
		return err
	}
	defer conn.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock(1)")
	if err := tx.Commit(); err != nil {
		return err
	}
	return book()
}

func onPoolOfOne(ctx context.Context, dsn string) error {
	db, err := sql.Open("postgres", dsn)
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil {
		return err
	}
	return tx.Commit()
}

// the lock and its end in one statement, so that the snapshot is younger than
// the lock.
func freshSnapshot(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock(1), pg_advisory_unlock(1)"); err != nil {
		return err
	}
	return tx.Commit()
}
