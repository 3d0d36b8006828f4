// Package autocommit takes transaction-level locks, in transactions and
// outside.
package autocommit

import (
	"context"
	"database/sql"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

var errTaken = errors.New("taken")

type shop struct {
	db   *sql.DB
	pool *pgxpool.Pool
}

func (s *shop) onPool(ctx context.Context, article int64) error {
	if _, err := s.db.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", article); err != nil { // want `pg_advisory_xact_lock on s.db is outside a transaction, .* \(autocommit\)$`
		return err
	}
	_, err := s.db.ExecContext(ctx, "UPDATE stock SET n = n - 1 WHERE article = $1", article)
	return err
}

func (s *shop) shared(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, "select pg_advisory_xact_lock_shared(hashtext('stock'))") // want `autocommit`
	return err
}

func (s *shop) gate(ctx context.Context) error {
	var ok bool
	if err := s.pool.QueryRow(ctx, "SELECT pg_try_advisory_xact_lock(1)").Scan(&ok); err != nil { // want `autocommit`
		return err
	}
	if !ok {
		return errTaken
	}
	_, err := s.pool.Exec(ctx, "CALL restock()")
	return err
}

func (s *shop) gateWithCallback(ctx context.Context, restock func() error) error {
	var ok bool
	if err := s.db.QueryRowContext(ctx, "SELECT pg_try_advisory_xact_lock(1)").Scan(&ok); err != nil { // want `autocommit`
		return err
	}
	if ok {
		return restock()
	}
	return nil
}

// the outer handle, in a function that was handed a transaction.
func (s *shop) outer(ctx context.Context) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := s.pool.Exec(ctx, "SELECT pg_advisory_xact_lock(1)"); err != nil { // want `autocommit`
			return err
		}
		_, err := tx.Exec(ctx, "CALL restock()")
		return err
	})
}

func (s *shop) onConnection(ctx context.Context) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_xact_lock(1)"); err != nil { // want `on conn, where no transaction is open, .*autocommit`
		return err
	}
	_, err = conn.ExecContext(ctx, "CALL restock()")
	return err
}

func (s *shop) prepared(ctx context.Context, stmt *sql.Stmt) error {
	lock, err := s.db.PrepareContext(ctx, "SELECT pg_advisory_xact_lock($1)")
	if err != nil {
		return err
	}
	defer lock.Close()
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := lock.ExecContext(ctx, 1); err != nil { // want `autocommit`
		return err
	}
	if _, err := tx.StmtContext(ctx, lock).ExecContext(ctx, 1); err != nil {
		return err
	}
	return tx.Commit()
}

func (s *shop) committed(ctx context.Context, dsn string) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, "SELECT pg_advisory_xact_lock(1)") // want `autocommit`
	return err
}

// one statement of a set, run one by one.
func (s *shop) steps(ctx context.Context) error {
	steps := []struct{ name, text string }{
		{"lock", "SELECT pg_advisory_xact_lock(1)"},
		{"work", "CALL restock()"},
	}
	for _, step := range steps {
		if _, err := s.db.ExecContext(ctx, step.text); err != nil { // want `autocommit`
			return err
		}
	}
	return nil
}
