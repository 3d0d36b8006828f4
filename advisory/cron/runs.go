package cron

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// A State is what a run is or became.
type State string

const (
	Running   State = "running"
	Succeeded State = "succeeded"
	Failed    State = "failed"  // with an error, a panic, or a COMMIT that was refused
	Gone      State = "crashed" // its process or session ended without a record of the outcome
)

// A Run is one run of a job's tick, as the history has it.
type Run struct {
	Tick    time.Time // UTC
	Attempt int       // from 1
	State   State
	Started time.Time // by the server's clock, in UTC
	Ended   time.Time // by the server's clock, in UTC; zero while it is running, and after a crash that nobody has come upon in [Once]
	Error   string    // what the job returned or panicked with, up to 8 KiB of it
}

// Runs returns the latest runs of a job, at most limit, the newest tick and attempt first. A run that crashed is shown as [Gone] as soon as the server has
// noticed that its session is gone; on a standby, where Runs can be called, too, not before [Once] came upon it on the primary. Runs panics if db is nil or limit is not positive.
func Runs(ctx context.Context, db *sql.DB, job string, limit int, opts ...Option) ([]Run, error) {
	if db == nil {
		panic("cron: Runs: db is nil")
	}
	if limit < 1 {
		panic(fmt.Sprintf("cron: Runs: limit is %d: it must be positive", limit))
	}
	schema := settingsOf(opts).schema
	var runs []Run
	err := transact(ctx, db, true, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, statementsOf(schema).runs, job, limit)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var r Run
			var ended sql.NullTime
			if err := rows.Scan(&r.Tick, &r.Attempt, &r.State, &r.Started, &ended, &r.Error); err != nil {
				return err
			}
			r.Tick, r.Started = r.Tick.UTC(), r.Started.UTC()
			if ended.Valid {
				r.Ended = ended.Time.UTC()
			}
			runs = append(runs, r)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("cron: Runs %q: %w", job, missing(schema, err))
	}
	return runs, nil
}
