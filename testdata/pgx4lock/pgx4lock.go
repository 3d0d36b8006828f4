// Package pgx4lock takes locks through pgx v4.
package pgx4lock

import (
	"context"
	"database/sql"

	"github.com/jackc/pgx/v4"
	"github.com/jackc/pgx/v4/pgxpool"
	"github.com/jackc/pgx/v4/stdlib"
)

type pier struct{ pool *pgxpool.Pool }

func (p *pier) onPool(ctx context.Context) error {
	if _, err := p.pool.Exec(ctx, "SELECT pg_advisory_lock(1)"); err != nil { // want `on the pool p.pool .*p.pool.Acquire.*poollock`
		return err
	}
	_, err := p.pool.Exec(ctx, "SELECT pg_advisory_unlock(1)") // want `poolunlock`
	return err
}

func (p *pier) autocommit(ctx context.Context) error {
	if _, err := p.pool.Exec(ctx, "SELECT pg_advisory_xact_lock(1)"); err != nil { // want `autocommit`
		return err
	}
	_, err := p.pool.Exec(ctx, "CALL dock()")
	return err
}

func (p *pier) inTx(ctx context.Context) error {
	return p.pool.BeginFunc(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_lock(1)"); err != nil { // want `sessionintx`
			return err
		}
		_, err := tx.Exec(ctx, "SELECT pg_try_advisory_xact_lock(1)") // want `ignoredtry`
		return err
	})
}

func (p *pier) lost(ctx context.Context, dock func() error) error {
	conn, err := p.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock(1)"); err != nil { // want `lostunlock`
		return err
	}
	return dock()
}

func driverConn(ctx context.Context, db *sql.DB, dock func() error) error {
	conn, err := stdlib.AcquireConn(db)
	if err != nil {
		return err
	}
	defer stdlib.ReleaseConn(db, conn)
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock(1)"); err != nil { // want `lostunlock`
		return err
	}
	return dock()
}

// right.

func (p *pier) right(ctx context.Context, dock func() error) error {
	conn, err := p.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock(1)"); err != nil {
		return err
	}
	defer conn.Exec(context.Background(), "SELECT pg_advisory_unlock(1)")
	return dock()
}

func (p *pier) batch(ctx context.Context) error {
	b := &pgx.Batch{}
	b.Queue("SELECT pg_advisory_xact_lock(1)")
	b.Queue("CALL dock()")
	return p.pool.SendBatch(ctx, b).Close()
}
