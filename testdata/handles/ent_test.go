package handles_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"

	"github.com/pgadvisory/pgadvisory/advisory"
	"github.com/pgadvisory/pgadvisory/testdata/handles/ent"
)

func TestEnt(t *testing.T) {
	for _, options := range []struct {
		name string
		ent  []ent.Option
	}{
		{"", nil},
		{"Debug", []ent.Option{ent.Debug(), ent.Log(func(...any) {})}},
	} {
		t.Run("Lock"+options.name, func(t *testing.T) {
			prove(t, func(ctx context.Context, pool *sql.DB, key advisory.Key, text string, inside func(int) error) error {
				client, hooked := openEnt(pool, options.ent)
				tx, err := client.Tx(ctx)
				if err != nil {
					return err
				}
				defer tx.Rollback()
				// snippet ent: Lock in its transaction, an *ent.Tx
				if err := advisory.Lock(ctx, tx.SQLTx(), key); err != nil {
					return err
				}
				// end
				if err := entWork(ctx, tx.Client(), text, hooked, inside); err != nil {
					return err
				}
				return tx.Commit()
			})
		})
		t.Run("Do"+options.name, func(t *testing.T) {
			prove(t, func(ctx context.Context, pool *sql.DB, key advisory.Key, text string, inside func(int) error) error {
				client, hooked := openEnt(pool, options.ent)
				db := pool
				work := func(ctx context.Context, client *ent.Client) error { return entWork(ctx, client, text, hooked, inside) }
				// snippet ent: it works in the transaction of Do
				err := advisory.Do(ctx, db, key, func(ctx context.Context, tx *sql.Tx) error {
					return work(ctx, client.OnTx(tx))
				})
				// end
				return err
			})
		})
	}
}

// openEnt opens a client, and returns it with the number of mutations that its hook has seen.
func openEnt(pool *sql.DB, options []ent.Option) (*ent.Client, *int) {
	client := ent.NewClient(append(options[:len(options):len(options)], ent.Driver(entsql.OpenDB(dialect.Postgres, pool)))...)
	hooked := new(int)
	client.Use(func(next ent.Mutator) ent.Mutator {
		return ent.MutateFunc(func(ctx context.Context, m ent.Mutation) (ent.Value, error) {
			*hooked++
			return next.Mutate(ctx, m)
		})
	})
	return client, hooked
}

// entWork does what ent uses a transaction of its own for outside of one: an update, and rows that are joined by an edge.
func entWork(ctx context.Context, client *ent.Client, text string, hooked *int, inside func(int) error) error {
	draft, err := client.Note.Create().SetText("draft").Save(ctx)
	if err != nil {
		return err
	}
	if err := draft.Update().SetText(text).Exec(ctx); err != nil {
		return err
	}
	parent, err := client.Note.Create().SetText("parent").AddReplies(draft).Save(ctx)
	if err != nil {
		return err
	}
	if err := parent.Update().ClearReplies().Exec(ctx); err != nil {
		return err
	}
	if err := client.Note.DeleteOne(parent).Exec(ctx); err != nil {
		return err
	}
	if *hooked != 5 {
		return errors.New("the client's hook has not seen all mutations")
	}
	if _, err := client.Tx(ctx); !errors.Is(err, ent.ErrTxStarted) {
		return errors.New("the client begins another transaction in the one it works in")
	}
	pid, err := client.Note.Query().Aggregate(func(*entsql.Selector) string { return "max(pg_backend_pid())" }).Int(ctx)
	if err != nil {
		return err
	}
	return inside(pid)
}
