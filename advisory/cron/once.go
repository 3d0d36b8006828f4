package cron

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/pgadvisory/pgadvisory/advisory"
)

// Once runs fn, in a transaction, unless the job's tick is running elsewhere or ran before. The result says which, and err is nil for a tick
// that is skipped. Once does not wait for others.
//
// fn's transaction is at READ COMMITTED and holds the lock on [Key]. If fn returns nil, the success is recorded in it and it is committed. If fn returns an error, panics, or
// ends its goroutine, the failure and its text are recorded in a transaction of their own and fn's is rolled back; the error is returned as it is, and the
// panic goes on. fn must neither end the transaction nor use it after it returned.
//
// If ctx ends while fn runs, fn sees that in its own ctx. Once waits for fn to return, rolls back, records ctx's error or fn's, and returns it.
// Recording goes on for 5 seconds at most, whatever ctx says, except that lib/pq may block longer in a network that is silent. If it fails, its error is joined to that of the job, and the run looks to others like one that
// crashed.
//
// Other errors come with [Undecided]: for bad names of job or tick, for tables that are not there, those of [advisory.TryDo], and the driver's.
// Once panics if db or fn is nil.
func Once(ctx context.Context, db *sql.DB, job string, tick time.Time, fn func(ctx context.Context, tx *sql.Tx) error, opts ...Option) (Result, error) {
	if db == nil {
		panic("cron: Once: db is nil")
	}
	if fn == nil {
		panic("cron: Once: fn is nil")
	}
	r, err := newRun("Once", db, job, tick, opts)
	if err != nil {
		return Result{}, err
	}
	leave, err := enter(ctx, db)
	if err != nil {
		return Result{}, r.failed(err)
	}
	defer leave()

	result := Result{Outcome: RunningElsewhere}
	w := work{run: r}
	_, err = advisory.TryDo(ctx, db, r.key, func(ctx context.Context, tx *sql.Tx) (err error) {
		result, err = r.claim(ctx)
		if err != nil || result.Outcome != Ran {
			return err
		}
		return w.do(ctx, func() error {
			if err := fn(ctx, tx); err != nil {
				return err
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			return r.succeed(ctx, tx)
		})
	}, advisory.Isolation(sql.LevelReadCommitted))
	switch {
	case result.Outcome == Ran && w.failure == nil && err != nil:
		// COMMIT failed, or ctx ended before it.
		state, reason := r.fail(ctx, err.Error())
		if reason != nil {
			err = errors.Join(err, r.failed(fmt.Errorf("recording the failure: %w", reason)))
		} else if state == "succeeded" {
			err = nil
		}
	case result.Outcome == Ran:
		err = w.result()
	case err != nil:
		return Result{}, r.failed(err)
	}
	r.keep(ctx, &result)
	return result, err
}

// work runs a job's function and records its failure.
type work struct {
	run      *run
	failure  error // of the function
	recorder error // of recording that
}

// do records how fn failed before it returns, or goes on with its panic, so that the lock is still held. A failure is not recorded if
// the lock is lost; then others see a crash.
func (w *work) do(ctx context.Context, fn func() error) error {
	returned := false
	defer func() {
		if returned {
			return
		}
		text := "the job ended its goroutine"
		reason := recover()
		if reason != nil {
			text = fmt.Sprintf("panic: %v", reason)
		}
		_, _ = w.run.fail(ctx, text) // the panic matters more
		if reason != nil {
			panic(reason)
		}
	}()
	w.failure = fn()
	returned = true
	if w.failure != nil {
		_, w.recorder = w.run.fail(ctx, w.failure.Error())
	}
	return w.failure
}

func (w *work) result() error {
	if w.recorder == nil {
		return w.failure
	}
	return errors.Join(w.failure, w.run.failed(fmt.Errorf("recording the failure: %w", w.recorder)))
}
