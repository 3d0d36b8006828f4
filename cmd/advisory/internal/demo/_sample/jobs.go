// Package shop takes advisory locks in ways that go wrong, and once in one that does not.
package shop

import (
	"context"
	"database/sql"
)

// nightly takes and frees the lock through the pool.
func nightly(ctx context.Context, db *sql.DB, key int64) error {
	if _, err := db.ExecContext(ctx, "SELECT pg_advisory_lock($1)", key); err != nil {
		return err
	}
	if err := bill(ctx, db); err != nil {
		return err
	}
	_, err := db.ExecContext(ctx, "SELECT pg_advisory_unlock($1)", key)
	return err
}

// refund pins a connection, and forgets the lock on it when something fails.
func refund(ctx context.Context, db *sql.DB, key int64) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock($1)", key); err != nil {
		return err
	}
	if err := bill(ctx, db); err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, "SELECT pg_advisory_unlock($1)", key)
	return err
}

// restock locks for one statement only, since there is no transaction around it.
func restock(ctx context.Context, db *sql.DB, key int64) error {
	if _, err := db.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", key); err != nil {
		return err
	}
	return bill(ctx, db)
}

// invoice takes a lock of the session in a transaction, whose end does not free it.
func invoice(ctx context.Context, db *sql.DB, key int64) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_lock($1)", key); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO invoices DEFAULT VALUES"); err != nil {
		return err
	}
	return tx.Commit()
}

// report never learns whether it got the lock.
func report(ctx context.Context, tx *sql.Tx, key int64) error {
	_, err := tx.ExecContext(ctx, "SELECT pg_try_advisory_xact_lock($1)", key)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO reports DEFAULT VALUES")
	return err
}

// settle is right.
func settle(ctx context.Context, db *sql.DB, key int64) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", key); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "UPDATE account SET balance = balance + 50"); err != nil {
		return err
	}
	return tx.Commit()
}

func bill(ctx context.Context, db *sql.DB) error {
	_, err := db.ExecContext(ctx, "UPDATE invoices SET billed = true")
	return err
}
