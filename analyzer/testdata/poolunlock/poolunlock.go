// Package poolunlock frees locks through pools, and on connections.
package poolunlock

import (
	"context"
	"database/sql"

	"github.com/jackc/pgx/v5/pgxpool"
)

type desk struct {
	db   *sql.DB
	pool *pgxpool.Pool
	conn *sql.Conn
}

func (d *desk) free(ctx context.Context) {
	d.db.ExecContext(ctx, "SELECT pg_advisory_unlock(1)")                                      // want `pg_advisory_unlock on the pool d.db may reach another session .* \(poolunlock\)$`
	d.pool.Exec(ctx, "SELECT pg_advisory_unlock_shared($1, $2)", 1, 2)                         // want `poolunlock`
	d.pool.Exec(ctx, "SELECT pg_advisory_unlock_all()")                                        // want `frees the locks of any one of its sessions.*poolunlock`
	d.db.ExecContext(ctx, "DO RELEASE_LOCK('desk')")                                           // want `RELEASE_LOCK on the pool.*poolunlock`
	d.db.ExecContext(ctx, "EXEC sp_releaseapplock @Resource = 'desk', @LockOwner = 'Session'") // want `sp_releaseapplock on the pool.*poolunlock`
}

func (d *desk) freeRow(ctx context.Context) (was bool, err error) {
	err = d.pool.QueryRow(ctx, "SELECT pg_advisory_unlock(1)").Scan(&was) // want `poolunlock`
	return was, err
}

func (d *desk) freeLater(ctx context.Context) func() {
	return func() {
		d.db.ExecContext(ctx, "SELECT pg_advisory_unlock(1)") // want `poolunlock`
	}
}

func (d *desk) lockOnConnFreeOnPool(ctx context.Context, sit func() error) error {
	conn, err := d.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil { // want `lostunlock`
		return err
	}
	defer d.db.ExecContext(ctx, "SELECT pg_advisory_unlock(1)") // want `poolunlock`
	return sit()
}

type execer interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}

func release(ctx context.Context, h execer) {
	h.ExecContext(ctx, "SELECT pg_advisory_unlock(1)")
}

func (d *desk) right(ctx context.Context, tx *sql.Tx) {
	d.conn.ExecContext(ctx, "SELECT pg_advisory_unlock(1)")
	release(ctx, d.conn)
	release(ctx, tx)
	release(ctx, d.db) // want `run by release, on the pool d.db .*poolunlock`

	// sp_releaseapplock frees the transaction's lock by default, and a pool has no
	// transaction: it fails, and says so.
	d.db.ExecContext(ctx, "EXEC sp_releaseapplock @Resource = 'desk'")
}

func single(ctx context.Context, dsn string) error {
	db, err := sql.Open("postgres", dsn)
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	_, err = db.ExecContext(ctx, "SELECT pg_advisory_unlock(1)")
	return err
}
