// Package embedded keeps its SQL in files.
package embedded

import (
	"context"
	"database/sql"
	"embed"
)

//go:embed lock.sql
var lock string

var (
	//go:embed lock.sql
	lockBytes []byte

	//go:embed queries
	queries embed.FS
)

func take(ctx context.Context, db *sql.DB, conn *sql.Conn) error {
	if _, err := conn.ExecContext(ctx, lock, 1); err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx, string(lockBytes), 1); err != nil { // want `poollock`
		return err
	}
	_, err := db.ExecContext(ctx, lock, 1) // want `pg_advisory_lock on the pool db .*poollock`
	return err
}

func free(ctx context.Context, db *sql.DB, conn *sql.Conn) error {
	text, err := queries.ReadFile("queries/unlock.sql")
	if err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, string(text), 1); err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, string(text), 1) // want `poolunlock`
	return err
}
