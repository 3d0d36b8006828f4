// Package sqlxlock takes locks through sqlx.
package sqlxlock

import (
	"context"
	"database/sql"

	"github.com/jmoiron/sqlx"
)

type farm struct{ db *sqlx.DB }

type embedded struct{ *sqlx.DB }

func (f *farm) onPool(ctx context.Context) error {
	if _, err := f.db.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil { // want `on the pool f.db .*poollock`
		return err
	}
	f.db.MustExec("SELECT pg_advisory_unlock(1)") // want `poolunlock`
	return nil
}

func (f *farm) get(ctx context.Context) (ok bool, err error) {
	err = f.db.GetContext(ctx, &ok, "SELECT pg_try_advisory_lock(1)") // want `f.db.Connx\(ctx\).*poollock`
	return ok, err
}

func (f *farm) named(ctx context.Context, args map[string]any) error {
	_, err := f.db.NamedExecContext(ctx, "SELECT pg_advisory_lock(:key)", args) // want `poollock`
	return err
}

func (f *farm) rowx() (ok bool, err error) {
	err = f.db.QueryRowx("SELECT pg_try_advisory_lock(1)").Scan(&ok) // want `poollock`
	return ok, err
}

func (e embedded) lock() error {
	_, err := e.Exec("SELECT pg_advisory_lock(1)") // want `poollock`
	return err
}

func (f *farm) preparedx(ctx context.Context) error {
	stmt, err := f.db.PreparexContext(ctx, "SELECT pg_try_advisory_xact_lock($1)")
	if err != nil {
		return err
	}
	defer stmt.Close()
	tx, err := f.db.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var ok bool
	if err := tx.StmtxContext(ctx, stmt).GetContext(ctx, &ok, 1); err != nil || !ok {
		return err
	}
	if err := stmt.GetContext(ctx, &ok, 1); err != nil || !ok { // want `autocommit`
		return err
	}
	_, err = tx.Exec("CALL sow()")
	return err
}

func (f *farm) sessionInTx(ctx context.Context) error {
	tx := f.db.MustBegin()
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil { // want `sessionintx`
		return err
	}
	return tx.Commit()
}

func (f *farm) unread(ctx context.Context, tx *sqlx.Tx) error {
	var ok bool
	return tx.GetContext(ctx, &ok, "SELECT pg_try_advisory_xact_lock(1)") // want `ignoredtry`
}

func (f *farm) lost(ctx context.Context, sow func() error) error {
	conn, err := f.db.Connx(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	var ok bool
	if err := conn.GetContext(ctx, &ok, "SELECT pg_try_advisory_lock(1)"); err != nil { // want `lostunlock`
		return err
	}
	if !ok {
		return nil
	}
	return sow()
}

func (f *farm) lostExec(ctx context.Context, sow func() error) error {
	conn, err := f.db.Connx(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil { // want `lostunlock`
		return err
	}
	return sow()
}

func (f *farm) rebound(ctx context.Context) error {
	_, err := f.db.ExecContext(ctx, f.db.Rebind("SELECT pg_advisory_lock(?)"), 1) // want `poollock`
	return err
}

// right.

func (f *farm) embeddedConnection(ctx context.Context, sow func() error) error {
	conn, err := f.db.Connx(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil {
		return err
	}
	defer conn.Conn.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock(1)")
	return sow()
}

func (f *farm) inTx(ctx context.Context) error {
	tx, err := f.db.BeginTxx(ctx, &sql.TxOptions{})
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock(1)"); err != nil {
		return err
	}
	return tx.Commit()
}

func (f *farm) onConnection(ctx context.Context, sow func() error) error {
	conn, err := f.db.Connx(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	var ok bool
	if err := conn.GetContext(ctx, &ok, "SELECT pg_try_advisory_lock(1)"); err != nil || !ok {
		return err
	}
	defer conn.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock(1)")
	return sow()
}

func onInterface(ctx context.Context, h sqlx.ExtContext) error {
	_, err := h.ExecContext(ctx, "SELECT pg_advisory_lock(1)")
	return err
}

func wrapsOne(db *sql.DB) error {
	db.SetMaxOpenConns(1)
	x := sqlx.NewDb(db, "postgres")
	_, err := x.Exec("SELECT pg_advisory_lock(1)")
	return err
}

func (f *farm) handsTx(ctx context.Context) error {
	tx := f.db.MustBegin()
	defer tx.Rollback()
	if err := xact(ctx, tx); err != nil {
		return err
	}
	if err := xact(ctx, f.db); err != nil { // want `run by xact, on f.db .*autocommit`
		return err
	}
	return tx.Commit()
}

func xact(ctx context.Context, h sqlx.ExecerContext) error {
	_, err := h.ExecContext(ctx, "SELECT pg_advisory_xact_lock(1)")
	return err
}

// functions of the package, with the handle as an argument.
func (f *farm) byFunction(ctx context.Context, ok *bool, key any) error {
	if err := sqlx.GetContext(ctx, f.db, ok, "SELECT pg_try_advisory_lock(1)"); err != nil { // want `on the pool f.db .*f.db.Connx\(ctx\).*poollock`
		return err
	}
	sqlx.MustExec(f.db, "SELECT pg_advisory_lock(1)") // want `poollock`
	return named(ctx, f.db, key)                      // want `run by named, on f.db .*autocommit`
}

func (f *farm) functionsInTx(ctx context.Context, key any) error {
	tx := f.db.MustBegin()
	defer tx.Rollback()
	var ok bool
	if err := sqlx.GetContext(ctx, tx, &ok, "SELECT pg_try_advisory_xact_lock(1)"); err != nil || !ok {
		return err
	}
	if err := named(ctx, tx, key); err != nil {
		return err
	}
	return tx.Commit()
}

func named(ctx context.Context, h sqlx.ExtContext, key any) error {
	_, err := sqlx.NamedExecContext(ctx, h, "SELECT pg_advisory_xact_lock(:key)", key)
	return err
}

func (f *farm) in(ctx context.Context, keys []int64) error {
	query, args, err := sqlx.In("SELECT pg_advisory_xact_lock(id) FROM fields WHERE id IN (?)", keys)
	if err != nil {
		return err
	}
	_, err = f.db.ExecContext(ctx, f.db.Rebind(query), args...) // want `autocommit`
	return err
}
