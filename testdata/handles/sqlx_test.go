package handles_test

import (
	"context"
	"database/sql"
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/pgadvisory/pgadvisory/advisory"
)

type sqlxNote struct {
	Text string `db:"text"`
}

func TestSqlx(t *testing.T) {
	t.Run("Lock", func(t *testing.T) {
		prove(t, func(ctx context.Context, pool *sql.DB, key advisory.Key, text string, inside func(int) error) error {
			db := sqlx.NewDb(pool, "postgres")
			tx, err := db.BeginTxx(ctx, nil)
			if err != nil {
				return err
			}
			defer tx.Rollback()
			// snippet sqlx: Lock in its transaction, a *sqlx.Tx
			if err := advisory.Lock(ctx, tx.Tx, key); err != nil {
				return err
			}
			// end
			if err := sqlxWork(ctx, db, tx, text, inside); err != nil {
				return err
			}
			return tx.Commit()
		})
	})
	t.Run("Do", func(t *testing.T) {
		prove(t, func(ctx context.Context, pool *sql.DB, key advisory.Key, text string, inside func(int) error) error {
			db := sqlx.NewDb(pool, "postgres")
			work := func(ctx context.Context, tx *sqlx.Tx) error { return sqlxWork(ctx, db, tx, text, inside) }
			// snippet sqlx: it works in the transaction of Do
			err := advisory.Do(ctx, db.DB, key, func(ctx context.Context, tx *sql.Tx) error {
				return work(ctx, &sqlx.Tx{Tx: tx, Mapper: db.Mapper})
			})
			// end
			return err
		})
	})
}

// sqlxWork binds the named query with db, because a *sqlx.Tx made by hand does not know the driver and so not its placeholders.
func sqlxWork(ctx context.Context, db *sqlx.DB, tx *sqlx.Tx, text string, inside func(int) error) error {
	query, args, err := db.BindNamed("INSERT INTO note (text) VALUES (:text)", sqlxNote{Text: text})
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, query, args...); err != nil {
		return err
	}
	var pid int
	if err := tx.GetContext(ctx, &pid, "SELECT pg_backend_pid()"); err != nil {
		return err
	}
	return inside(pid)
}
