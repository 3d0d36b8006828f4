// Package bunlock takes locks through bun.
package bunlock

import (
	"context"
	"database/sql"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"
)

type mine struct{ db *bun.DB }

func open(pool *sql.DB, dialect schema.Dialect) *mine { return &mine{bun.NewDB(pool, dialect)} }

func (m *mine) columns(ctx context.Context, shaft int64) (ok bool, err error) {
	err = m.db.NewSelect().ColumnExpr("pg_try_advisory_lock(?)", shaft).Scan(ctx, &ok) // want `pg_try_advisory_lock on the pool m.db .*poollock`
	return ok, err
}

func (m *mine) raw(ctx context.Context, shaft int64) error {
	_, err := m.db.NewRaw("SELECT pg_advisory_lock(?)", shaft).Exec(ctx) // want `poollock`
	return err
}

func (m *mine) chained(ctx context.Context, shaft int64) (ok bool, err error) {
	q := m.db.NewSelect()
	q = q.ColumnExpr("pg_try_advisory_xact_lock(?)", shaft)
	if shaft > 10 {
		q = q.Where("1 = 1")
	}
	if err := q.Scan(ctx, &ok); err != nil || !ok { // want `autocommit`
		return ok, err
	}
	_, err = m.db.ExecContext(ctx, "CALL dig()")
	return ok, err
}

func (m *mine) plain(ctx context.Context) error {
	_, err := m.db.ExecContext(ctx, "SELECT pg_advisory_unlock(1)") // want `poolunlock`
	return err
}

func (m *mine) inTx(ctx context.Context) error {
	return m.db.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
		if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil { // want `sessionintx`
			return err
		}
		var ok bool
		return tx.NewSelect().ColumnExpr("pg_try_advisory_xact_lock(1)").Scan(ctx, &ok) // want `ignoredtry`
	})
}

func (m *mine) lost(ctx context.Context, dig func() error) error {
	conn, err := m.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil { // want `lostunlock`
		return err
	}
	return dig()
}

// right.

func (m *mine) right(ctx context.Context, shaft int64) error {
	return m.db.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
		var ok bool
		if err := tx.NewSelect().ColumnExpr("pg_try_advisory_xact_lock(?)", shaft).Scan(ctx, &ok); err != nil || !ok {
			return err
		}
		_, err := tx.NewRaw("UPDATE shafts SET open = true WHERE id = ?", shaft).Exec(ctx)
		return err
	})
}

func (m *mine) rebound(ctx context.Context, shaft int64) error {
	tx, err := m.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := m.db.NewSelect().Conn(tx).ColumnExpr("pg_advisory_xact_lock(?)", shaft).Scan(ctx); err != nil {
		return err
	}
	return tx.Commit()
}

func (m *mine) pinned(ctx context.Context, dig func() error) error {
	conn, err := m.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.NewRaw("SELECT pg_advisory_lock(1)").Exec(ctx); err != nil {
		return err
	}
	defer conn.NewRaw("SELECT pg_advisory_unlock(1)").Exec(context.WithoutCancel(ctx))
	return dig()
}

func onInterface(ctx context.Context, db bun.IDB) error {
	_, err := db.ExecContext(ctx, "SELECT pg_advisory_lock(1)")
	return err
}

func (m *mine) handsBoth(ctx context.Context) error {
	if err := onInterface(ctx, m.db); err != nil { // want `run by onInterface, on the pool m.db .*poollock`
		return err
	}
	conn, err := m.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := onInterface(ctx, conn); err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, "SELECT pg_advisory_unlock_all()")
	return err
}
