// Package keys locks keys on what it is given.
package keys

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
)

// Take is the statement that takes a key.
const Take = "SELECT pg_advisory_lock($1)"

// Give is the statement that gives it back; a variable, though nothing changes it.
var Give = "SELECT pg_advisory_unlock($1)"

// A Runner runs statements.
type Runner interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// Lock locks a key for the session.
func Lock(ctx context.Context, r Runner, key int64) error {
	_, err := r.ExecContext(ctx, Take, key)
	return err
}

// Unlock is the end of Lock.
func Unlock(ctx context.Context, r Runner, key int64) error {
	_, err := r.ExecContext(ctx, Give, key)
	return err
}

// LockTx locks a key for the transaction.
func LockTx(ctx context.Context, tx *sql.Tx, key int64) error {
	_, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", key)
	return err
}

// LockConn locks a key on a connection.
func LockConn(ctx context.Context, conn *sql.Conn, key int64) error {
	_, err := conn.ExecContext(ctx, Take, key)
	return err
}

// UnlockConn is the end of LockConn.
func UnlockConn(ctx context.Context, conn *sql.Conn, key int64) error {
	_, err := conn.ExecContext(ctx, Give, key)
	return err
}

// Destroy makes the pool drop the connection.
func Destroy(conn *sql.Conn) error {
	err := conn.Raw(func(any) error { return driver.ErrBadConn })
	if errors.Is(err, driver.ErrBadConn) {
		err = nil
	}
	return err
}

// A Store runs statements on a handle.
type Store struct{ runner Runner }

// NewStore returns a store on r.
func NewStore(r Runner) *Store { return &Store{runner: r} }

// In returns the store within a transaction.
func (s *Store) In(tx *sql.Tx) *Store { return &Store{runner: tx} }

// Run runs a statement.
func (s *Store) Run(ctx context.Context, query string, args ...any) error {
	_, err := s.runner.ExecContext(ctx, query, args...)
	return err
}

// Lock locks a key for the session.
func (s *Store) Lock(ctx context.Context, key int64) error { return s.Run(ctx, Take, key) }
