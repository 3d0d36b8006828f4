package lostunlock

import (
	"context"
	"database/sql"
	"errors"
)

type dialect interface{ unlockSQL() string }

// What is run may free the lock.
func unknownText(ctx context.Context, db *sql.DB, unlock string, dig func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil {
		return err
	}
	defer conn.ExecContext(context.Background(), unlock)
	return dig()
}

func textOfInterface(ctx context.Context, db *sql.DB, d dialect, dig func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil {
		return err
	}
	defer run(conn, d.unlockSQL())
	return dig()
}

func run(conn *sql.Conn, query string) { conn.ExecContext(context.Background(), query) }

func ownFunction(ctx context.Context, db *sql.DB, dig func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil {
		return err
	}
	defer conn.ExecContext(context.Background(), "SELECT release_my_lock()")
	return dig()
}

func discards(ctx context.Context, db *sql.DB, dig func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer conn.ExecContext(context.Background(), "DISCARD ALL")
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil {
		return err
	}
	return dig()
}

func terminates(ctx context.Context, db *sql.DB, dig func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer conn.ExecContext(context.Background(), "SELECT pg_terminate_backend(pg_backend_pid())")
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil {
		return err
	}
	return dig()
}

func known(ctx context.Context, db *sql.DB, table string) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil { // want `is not freed on the way out`
		return err
	}
	if _, err := conn.ExecContext(ctx, "SELECT lower(name) FROM plots"); err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, "UPDATE "+table+" SET dug = true")
	return err
}

// The connection is the outer function's.
func setUpInClosure(ctx context.Context, db *sql.DB, dig func() error) (err error) {
	var conn *sql.Conn
	setUp := func() error {
		if conn, err = db.Conn(ctx); err != nil {
			return err
		}
		_, err = conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)")
		return err
	}
	defer func() {
		conn.ExecContext(context.Background(), "SELECT pg_advisory_unlock(1)")
		conn.Close()
	}()
	if err := setUp(); err != nil {
		return err
	}
	return dig()
}

// Closures in a list run in an order that is not known.
func listed(ctx context.Context, db *sql.DB, dig func() error) (err error) {
	var steps []func()
	defer func() {
		for i := len(steps) - 1; i >= 0; i-- {
			steps[i]()
		}
	}()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	steps = append(steps, func() { conn.Close() })
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil {
		return err
	}
	steps = append(steps, func() { conn.ExecContext(context.Background(), "SELECT pg_advisory_unlock(1)") })
	return dig()
}

// A callee that recovers does not panic.
func recovered(ctx context.Context, db *sql.DB, dig func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil {
		return err
	}
	err = safely(dig)
	_, unlockErr := conn.ExecContext(context.Background(), "SELECT pg_advisory_unlock(1)")
	return errors.Join(err, unlockErr)
}

func safely(dig func() error) (err error) {
	defer func() {
		if recover() != nil {
			err = errBusy
		}
	}()
	return dig()
}
