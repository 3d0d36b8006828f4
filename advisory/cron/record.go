package cron

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"
)

// recordWait bounds how long a run that has ended tries to record how, although its ctx may have ended.
const recordWait = 5 * time.Second

// errSuperseded means that others counted this run as crashed, and the work must not be committed.
var errSuperseded = errors.New("cron: the run's row says that it is over, others have counted it as crashed")

// insist calls fn until it succeeds or cannot any more, because the lease is lost. The end of ctx does not count. After a restart of the server the pool may have several dead connections.
func (r *run) insist(ctx context.Context, fn func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordWait)
	defer cancel()
	for pause := 5 * time.Millisecond; ; pause *= 2 {
		err := fn(ctx)
		if err == nil || r.lease != nil && r.lease.Err() != nil {
			return err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
	}
}

// succeed records the success, in the transaction of the work where there is one.
func (r *run) succeed(ctx context.Context, tx *sql.Tx) error {
	recorded, err := changes(tx.ExecContext(ctx, r.sql.succeed, r.job, r.tick, r.attempt))
	if err == nil && !recorded {
		err = errSuperseded
	}
	return err
}

// fail records a failure, and returns the state that the run then has. It is "succeeded" if the work's COMMIT took effect although it
// returned an error: the update waits for a COMMIT that is still under way.
func (r *run) fail(ctx context.Context, text string) (state string, err error) {
	err = r.insist(ctx, func(ctx context.Context) error {
		return r.transact(ctx, func(tx *sql.Tx) error {
			if _, err := tx.ExecContext(ctx, r.sql.fail, r.job, r.tick, r.attempt, storable(text)); err != nil {
				return err
			}
			err := tx.QueryRowContext(ctx, r.sql.state, r.job, r.tick, r.attempt).Scan(&state)
			if err == sql.ErrNoRows {
				return nil
			}
			return err
		})
	})
	return state, err
}

// textLimit is how much of an error's text is kept.
const textLimit = 8 << 10

// storable returns a text that PostgreSQL takes: errors may say anything.
func storable(text string) string {
	if len(text) > textLimit {
		text = text[:textLimit]
	}
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}
