// Package crosspkg locks through helpers of other packages.
package crosspkg

import (
	"context"
	"database/sql"

	"github.com/pgadvisory/pgadvisory/analyzer/testdata/crosspkg/keys"
	"github.com/pgadvisory/pgadvisory/analyzer/testdata/crosspkg/pool"
)

func handles(ctx context.Context, db *sql.DB, conn *sql.Conn) error {
	if err := keys.Lock(ctx, db, 1); err != nil { // want `pg_advisory_lock, run by Lock, on the pool db .*poollock`
		return err
	}
	if err := keys.Unlock(ctx, db, 1); err != nil { // want `run by Unlock, on the pool db .*poolunlock`
		return err
	}
	return keys.Lock(ctx, conn, 1)
}

func texts(ctx context.Context, db *sql.DB) error {
	if _, err := db.ExecContext(ctx, keys.Take, 1); err != nil { // want `poollock`
		return err
	}
	_, err := db.ExecContext(ctx, keys.Give, 1) // want `poolunlock`
	return err
}

func stores(ctx context.Context, db *sql.DB, conn *sql.Conn) error {
	s := keys.NewStore(db)
	if err := s.Lock(ctx, 1); err != nil { // want `poollock`
		return err
	}
	if err := s.Run(ctx, "SELECT pg_advisory_unlock(1)"); err != nil { // want `poolunlock`
		return err
	}
	if err := keys.NewStore(conn).Lock(ctx, 1); err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := s.In(tx).Run(ctx, "SELECT pg_advisory_xact_lock(1)"); err != nil {
		return err
	}
	if err := s.Run(ctx, "SELECT pg_advisory_xact_lock(1)"); err != nil { // want `autocommit`
		return err
	}
	if err := keys.LockTx(ctx, tx, 1); err != nil {
		return err
	}
	return s.In(tx).Lock(ctx, 1) // want `sessionintx`
}

func lost(ctx context.Context, db *sql.DB, work func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := keys.LockConn(ctx, conn, 1); err != nil { // want `run by LockConn, on conn .*lostunlock`
		return err
	}
	if err := work(); err != nil {
		return err
	}
	return keys.UnlockConn(ctx, conn, 1)
}

func freed(ctx context.Context, db *sql.DB, work func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := keys.LockConn(ctx, conn, 1); err != nil {
		return err
	}
	defer keys.UnlockConn(context.WithoutCancel(ctx), conn, 1)
	return work()
}

func destroyed(ctx context.Context, db *sql.DB, work func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := keys.LockConn(ctx, conn, 1); err != nil {
		return err
	}
	defer keys.Destroy(conn)
	return work()
}

func single(ctx context.Context, dsn string) error {
	db, err := pool.One(dsn)
	if err != nil {
		return err
	}
	if err := keys.Lock(ctx, db, 1); err != nil {
		return err
	}
	many, err := pool.Many(dsn)
	if err != nil {
		return err
	}
	return keys.Lock(ctx, many, 1) // want `on the pool many .*poollock`
}
