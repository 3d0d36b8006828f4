package poollock

import (
	"context"
	"database/sql"
)

// The helper's name for the pool means nothing where the helper is called.
type cellar struct{ shelves *sql.DB }

func (c cellar) exec(ctx context.Context, query string) error {
	_, err := c.shelves.ExecContext(ctx, query)
	return err
}

func take(ctx context.Context, db *sql.DB) error {
	return cellar{db}.exec(ctx, "SELECT pg_advisory_lock(1)") // want `run by exec, on a pool .*with Conn\(ctx\) .*poollock`
}
