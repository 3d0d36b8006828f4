package handles_test

import (
	"context"
	"database/sql"
	"reflect"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/pgadvisory/pgadvisory/advisory"
)

func TestPgxPool(t *testing.T) {
	pool := openPool(t, pgx.QueryExecModeCacheStatement)
	outside := stdlib.OpenDBFromPool(pool) // looks at pg_locks
	defer outside.Close()
	proveOn(t, outside, func(ctx context.Context, _ *sql.DB, key advisory.Key, text string, inside func(int) error) error {
		work := func(ctx context.Context, tx *sql.Tx) error {
			var pid int
			err := tx.QueryRowContext(ctx, "INSERT INTO note (text) VALUES ($1) RETURNING pg_backend_pid()", text).Scan(&pid)
			if err != nil {
				return err
			}
			return inside(pid)
		}
		// snippet pgx: a *sql.DB on a *pgxpool.Pool
		db := stdlib.OpenDBFromPool(pool)
		defer db.Close() // the pool stays open
		err := advisory.Do(ctx, db, key, work)
		// end
		return err
	})
	// Do takes its faster statements on pgx, which it knows by the package of the driver's type.
	if got, want := reflect.TypeOf(outside.Driver()), reflect.TypeFor[*stdlib.Driver](); got != want {
		t.Errorf("the driver is a %v, want %v", got, want)
	}
	if n := pool.Stat().AcquiredConns(); n != 0 {
		t.Errorf("%d connections of the pool are still in use", n)
	}
}

// A pgx.Tx has no *sql.Tx, but takes the same lock by SQL, whatever way it sends statements.
func TestPgxTx(t *testing.T) {
	for _, mode := range []pgx.QueryExecMode{
		pgx.QueryExecModeCacheStatement,
		pgx.QueryExecModeCacheDescribe,
		pgx.QueryExecModeDescribeExec,
		pgx.QueryExecModeExec,
		pgx.QueryExecModeSimpleProtocol,
	} {
		t.Run(mode.String(), func(t *testing.T) {
			pool := openPool(t, mode)
			outside := stdlib.OpenDBFromPool(pool)
			defer outside.Close()
			proveOn(t, outside, func(ctx context.Context, _ *sql.DB, key advisory.Key, text string, inside func(int) error) error {
				return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
					// snippet pgx: the same lock in a pgx.Tx
					if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1::bigint)", key.String()); err != nil { // key is an ID or Name
						return err
					}
					// end
					var pid int
					err := tx.QueryRow(ctx, "INSERT INTO note (text) VALUES ($1) RETURNING pg_backend_pid()", text).Scan(&pid)
					if err != nil {
						return err
					}
					return inside(pid)
				})
			})
		})
	}
}

func openPool(t *testing.T, mode pgx.QueryExecMode) *pgxpool.Pool {
	t.Helper()
	config, err := pgxpool.ParseConfig(server.Database(t).DSN())
	if err != nil {
		t.Fatal(err)
	}
	config.ConnConfig.DefaultQueryExecMode = mode
	config.MaxConns = 4
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}
