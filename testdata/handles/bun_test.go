package handles_test

import (
	"context"
	"database/sql"
	"testing"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"github.com/pgadvisory/pgadvisory/advisory"
)

type bunNote struct {
	bun.BaseModel `bun:"table:note"`

	ID   int64 `bun:",pk,autoincrement"`
	Text string
}

func TestBun(t *testing.T) {
	t.Run("Lock", func(t *testing.T) {
		prove(t, func(ctx context.Context, pool *sql.DB, key advisory.Key, text string, inside func(int) error) error {
			db := bun.NewDB(pool, pgdialect.New())
			work := func(ctx context.Context, tx bun.Tx) error {
				if _, err := tx.NewInsert().Model(&bunNote{Text: text}).Exec(ctx); err != nil {
					return err
				}
				return bunInside(ctx, tx.NewSelect(), inside)
			}
			// snippet bun: Lock in its transaction
			err := db.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
				if err := advisory.Lock(ctx, tx.Tx, key); err != nil {
					return err
				}
				return work(ctx, tx)
			})
			// end
			return err
		})
	})
	t.Run("Do", func(t *testing.T) {
		prove(t, func(ctx context.Context, pool *sql.DB, key advisory.Key, text string, inside func(int) error) error {
			db := bun.NewDB(pool, pgdialect.New())
			note := bunNote{Text: text}
			work := func(ctx context.Context, tx *sql.Tx) error { return bunInside(ctx, db.NewSelect().Conn(tx), inside) }
			// snippet bun: it works in the transaction of Do
			err := advisory.Do(ctx, db.DB, key, func(ctx context.Context, tx *sql.Tx) error {
				if _, err := db.NewInsert().Model(&note).Conn(tx).Exec(ctx); err != nil { // each query needs Conn(tx)
					return err
				}
				return work(ctx, tx)
			})
			// end
			return err
		})
	})
}

func bunInside(ctx context.Context, query *bun.SelectQuery, inside func(int) error) error {
	var pid int
	if err := query.ColumnExpr("pg_backend_pid()").Scan(ctx, &pid); err != nil {
		return err
	}
	return inside(pid)
}
