package lostunlock

import (
	"context"
	"database/sql"
)

func namesTheReturn(ctx context.Context, db *sql.DB, dig func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil { // want `is not freed on the way out at line 18, `
		return err
	}
	if err := dig(); err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, "SELECT pg_advisory_unlock(1)")
	return err
}

func namesTheClose(ctx context.Context, db *sql.DB, dig func() error) error {
	cleanup := func() {}
	defer func() { cleanup() }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil { // want `which is given back \(line 31\) before the unlock`
		return err
	}
	cleanup = func() { conn.ExecContext(ctx, "SELECT pg_advisory_unlock(1)") }
	return dig()
}

func namesTheEnd(ctx context.Context, db *sql.DB, dig func()) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return
	}
	defer conn.Close()
	conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)") // want `is not freed on the way out at line 47, `
	dig()
}

func namesTheEndOfTheTurn(ctx context.Context, db *sql.DB, holes func(func(int) bool)) {
	for i := range holes {
		conn, err := db.Conn(ctx)
		if err != nil {
			return
		}
		conn.ExecContext(ctx, "SELECT pg_advisory_lock($1)", i) // want `is not freed on the way out at line 57, `
		conn.Close()
	}
}
