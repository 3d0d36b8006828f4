// Package sqlcgen runs queries that sqlc generated.
package sqlcgen

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pgadvisory/pgadvisory/testdata/sqlcgen/gen"
)

type harbour struct {
	pool    *pgxpool.Pool
	queries *gen.Queries
}

func newHarbour(pool *pgxpool.Pool) *harbour {
	return &harbour{pool: pool, queries: gen.New(pool)}
}

func (h *harbour) try(ctx context.Context, pier int64) (bool, error) {
	return h.queries.TryPier(ctx, pier) // want `pg_try_advisory_lock, run by TryPier, on the pool behind h.queries .*poollock`
}

func (h *harbour) free(ctx context.Context, pier int64) error {
	return h.queries.FreePier(ctx, pier) // want `poolunlock`
}

func (h *harbour) outside(ctx context.Context, pier int64) error {
	if err := h.queries.LockPierXact(ctx, pier); err != nil { // want `autocommit`
		return err
	}
	_, err := h.pool.Exec(ctx, "UPDATE piers SET taken = true WHERE id = $1", pier)
	return err
}

func (h *harbour) inTx(ctx context.Context, pier int64) error {
	return pgx.BeginFunc(ctx, h.pool, func(tx pgx.Tx) error {
		q := h.queries.WithTx(tx)
		if err := q.LockPierXact(ctx, pier); err != nil {
			return err
		}
		_, err := q.TryPier(ctx, pier) // want `sessionintx`
		return err
	})
}

func (h *harbour) pinned(ctx context.Context, pier int64, dock func() error) error {
	conn, err := h.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	q := gen.New(conn)
	ok, err := q.TryPier(ctx, pier)
	if err != nil || !ok {
		return err
	}
	defer q.FreePier(context.WithoutCancel(ctx), pier)
	return dock()
}

func (h *harbour) lost(ctx context.Context, pier int64, dock func() error) error {
	conn, err := h.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	q := gen.New(conn)
	ok, err := q.TryPier(ctx, pier) // want `lostunlock`
	if err != nil || !ok {
		return err
	}
	if err := dock(); err != nil {
		return err
	}
	return q.FreePier(ctx, pier)
}

// queries that may be of any kind.
func given(ctx context.Context, q *gen.Queries) error {
	if _, err := q.TryPier(ctx, 1); err != nil {
		return err
	}
	return q.LockPierXact(ctx, 1)
}
