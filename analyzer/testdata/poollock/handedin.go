package poollock

import (
	"context"
	"database/sql"
)

// a locker that is right on a pool of one, and is handed another one, too.
type locker struct{ db *sql.DB }

func newLocker(db *sql.DB) *locker { return &locker{db: db} }

func (l *locker) lock(ctx context.Context) error {
	_, err := l.db.ExecContext(ctx, "SELECT pg_advisory_lock(1)")
	return err
}

func (l *locker) unlock(ctx context.Context) error {
	_, err := l.db.ExecContext(ctx, "SELECT pg_advisory_unlock(1)")
	return err
}

func lockers(dsn string) (one, many *locker, err error) {
	small, err := sql.Open("pgx", dsn)
	if err != nil {
		return nil, nil, err
	}
	small.SetMaxOpenConns(1)
	large, err := sql.Open("pgx", dsn)
	if err != nil {
		return nil, nil, err
	}
	return newLocker(small), newLocker(large), nil // want `run by newLocker, on the pool large .*poollock` `run by newLocker, on the pool large .*poolunlock`
}
