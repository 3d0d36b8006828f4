// Package tested has tests that use it in another way than programs do.
package tested

import (
	"context"
	"database/sql"
)

type Store struct{ db *sql.DB }

func New(db *sql.DB) *Store { return &Store{db: db} }

func (s *Store) Lock(ctx context.Context) error {
	_, err := s.db.ExecContext(ctx, "SELECT pg_advisory_lock(1)") // want `poollock`
	return err
}

func Lock(ctx context.Context, db *sql.DB) error {
	_, err := db.ExecContext(ctx, "SELECT pg_advisory_lock(1)") // want `poollock`
	return err
}
