package cron

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/pgadvisory/pgadvisory/advisory"
)

// OnceLeased is [Once] for jobs that take long or need transactions of their own: fn runs with a lease of locker on [Key], and without a transaction.
// What fn writes should be in transactions that the lease fences, with [advisory.Lease.Do] or [advisory.Lease.Fence]: then nothing is written after a
// lease was lost and another has started the tick again.
//
// fn's ctx ends when ctx does, and when the lease is lost, with the lease's error as its cause. fn must return soon then.
//
// The outcome is recorded, in a transaction fenced by the lease, when fn has returned, so a job whose work is committed can still look as if it crashed, if
// the process ends in between. When the lease was lost nothing can be recorded: the error wraps [advisory.ErrLost], and the run looks crashed to others.
//
// db must be a pool on the database of locker, and locker must not have been made with [advisory.PlainKeys]. Errors before fn are those of
// [advisory.Locker.TryAcquire] and of Once. OnceLeased panics if locker, db or fn is nil.
func OnceLeased(ctx context.Context, locker *advisory.Locker, db *sql.DB, job string, tick time.Time,
	fn func(ctx context.Context, lease *advisory.Lease) error, opts ...Option) (Result, error) {
	if locker == nil || db == nil {
		panic("cron: OnceLeased: locker or db is nil")
	}
	if fn == nil {
		panic("cron: OnceLeased: fn is nil")
	}
	r, err := newRun("OnceLeased", db, job, tick, opts)
	if err != nil {
		return Result{}, err
	}
	r.lock = number(advisory.LeaseKey(r.key))
	lease, err := locker.TryAcquire(ctx, r.key)
	if errors.Is(err, advisory.ErrNotAcquired) {
		return Result{Outcome: RunningElsewhere}, nil
	} else if err != nil {
		return Result{}, r.failed(err)
	}
	// The outcome does not depend on the release: what had to be recorded is, or the lease was lost, which fencing has found out.
	defer lease.Release(context.WithoutCancel(ctx))
	r.lease = lease

	result, err := r.claim(ctx)
	if err != nil {
		return Result{}, r.failed(err)
	}
	if result.Outcome != Ran {
		return result, nil
	}
	w := work{run: r}
	_ = w.do(ctx, func() error { // kept in w
		under, cancel := under(ctx, lease)
		defer cancel()
		if err := fn(under, lease); err != nil {
			return err
		}
		if err := context.Cause(under); err != nil {
			return err
		}
		return r.transact(ctx, func(tx *sql.Tx) error { return r.succeed(ctx, tx) })
	})
	err = w.result()
	r.keep(ctx, &result)
	return result, err
}

// under returns a context that ends with ctx and with the lease.
func under(ctx context.Context, lease *advisory.Lease) (context.Context, func()) {
	under, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(lease.Context(), func() { cancel(lease.Err()) })
	return under, func() {
		stop()
		cancel(nil)
	}
}
