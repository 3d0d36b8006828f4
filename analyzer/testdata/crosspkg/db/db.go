// Package db wraps a pool, and says nothing of locks.
package db

import (
	"context"
	"database/sql"
)

// A DB is a pool with a log.
type DB struct {
	pool *sql.DB
	log  func(string)
}

// New wraps a pool.
func New(pool *sql.DB) *DB { return &DB{pool: pool, log: func(string) {}} }

// Exec runs a statement.
func (d *DB) Exec(ctx context.Context, query string, args ...any) (sql.Result, error) {
	d.log(query)
	return d.pool.ExecContext(ctx, query, args...)
}

// InTx runs fn in a transaction.
func (d *DB) InTx(ctx context.Context, fn func(*Tx) error) error {
	tx, err := d.pool.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := fn(&Tx{tx: tx}); err != nil {
		return err
	}
	return tx.Commit()
}

// A Tx is a transaction with a log.
type Tx struct{ tx *sql.Tx }

// Exec runs a statement.
func (t *Tx) Exec(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return t.tx.ExecContext(ctx, query, args...)
}
