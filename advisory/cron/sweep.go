package cron

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// SweepBatch is how many rows are deleted in one transaction, by [Sweep] and by [Keep].
const SweepBatch = 1000

// Sweep deletes the rows of ticks, of all jobs in the schema, that are older than keep by the server's clock, and returns how many. From then on ticks
// of that age are skipped ([TooOld]). Rows of runs that are still running stay. Sweep may be called by several processes at a time.
//
// It returns an error, beside what was deleted until then, when ctx ends or the server refuses. It panics if db is nil or keep is not positive.
func Sweep(ctx context.Context, db *sql.DB, keep time.Duration, opts ...Option) (deleted int64, err error) {
	if db == nil {
		panic("cron: Sweep: db is nil")
	}
	if keep <= 0 {
		panic(fmt.Sprintf("cron: Sweep: keep is %v: the time must be positive", keep))
	}
	schema := settingsOf(opts).schema
	for {
		n, err := sweepBatch(ctx, db, statementsOf(schema), keep)
		deleted += n
		if err != nil {
			return deleted, fmt.Errorf("cron: Sweep: %w", missing(schema, err))
		}
		if n < SweepBatch {
			return deleted, nil
		}
	}
}

// keep deletes one batch after a run.
func (r *run) keep(ctx context.Context, result *Result) {
	if r.set.keep <= 0 || result.Outcome != Ran {
		return
	}
	if _, err := sweepBatch(ctx, r.db, r.sql, r.set.keep); err != nil {
		result.Sweep = r.failed(fmt.Errorf("deleting old rows: %w", err))
	}
}

// sweepBatch commits the mark together with the deletions that it is about: whoever sees a row gone sees the mark, too.
func sweepBatch(ctx context.Context, db *sql.DB, s *statements, keep time.Duration) (n int64, err error) {
	err = transact(ctx, db, false, func(tx *sql.Tx) error {
		var now time.Time
		if err := tx.QueryRowContext(ctx, "SELECT now()").Scan(&now); err != nil {
			return err
		}
		before := now.Add(-keep).Truncate(time.Microsecond).UTC()
		if _, err := tx.ExecContext(ctx, s.mark, before); err != nil {
			return err
		}
		result, err := tx.ExecContext(ctx, s.sweep, before, SweepBatch)
		if err != nil {
			return err
		}
		n, err = result.RowsAffected()
		return err
	})
	return n, err
}
