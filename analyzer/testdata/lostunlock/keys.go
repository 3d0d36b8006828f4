package lostunlock

import (
	"context"
	"database/sql"
)

func oneOfTwo(ctx context.Context, db *sql.DB, dig func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil {
		return err
	}
	defer conn.ExecContext(context.Background(), "SELECT pg_advisory_unlock(1)")
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock($1)", 2); err != nil { // want `is not freed on the way out`
		return err
	}
	return dig()
}

func both(ctx context.Context, db *sql.DB, dig func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil {
		return err
	}
	defer conn.ExecContext(context.Background(), "SELECT pg_advisory_unlock($1)", 1)
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock($1)", 2); err != nil {
		return err
	}
	defer conn.ExecContext(context.Background(), "SELECT pg_advisory_unlock(2)")
	return dig()
}

func oneKeyIsNotKnown(ctx context.Context, db *sql.DB, key int, dig func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil {
		return err
	}
	defer conn.ExecContext(context.Background(), "SELECT pg_advisory_unlock($1)", key)
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock($1)", 2); err != nil {
		return err
	}
	return dig()
}
