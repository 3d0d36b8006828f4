package advisory

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// Do runs fn in a transaction on db which holds the transaction-level lock on key, so that among all processes that lock the key only one
// is in its fn at a time. It waits for the lock as [Lock] does.
//
// If fn returns nil, Do commits and returns what COMMIT returned. An error then means that the transaction did not commit, or, if the
// connection was lost or ctx ended while COMMIT ran, that nobody can say. If fn returns an error, panics, or ends its goroutine
// ([runtime.Goexit]), Do rolls back; the error is returned as it is, the panic goes on. fn must not end the transaction, neither by its methods nor by
// SQL, and must not use it after it has returned.
//
// The transaction is at READ COMMITTED. If the server has another default_transaction_isolation, Do returns [ErrSnapshot] rather than run at a level that
// nobody asked for: say [Isolation]. (With lib/pq that default is looked at once per db, and READ COMMITTED is asked for from then on.)
//
// If ctx ends while Do waits, Do returns ctx's error. If it ends while fn runs, fn sees that in its own ctx, which is the same. Do waits for fn to
// return, and keeps transaction and lock for as long, then rolls back and returns fn's error or, if that is nil, ctx's. But a statement of fn's that is cut off
// because its ctx ends costs the drivers the connection, and then the lock is free before fn has returned: fn should return at once. An fn that must go on alone gives its
// statements context.WithoutCancel(ctx).
//
// Do takes one connection of db for itself. Waiting for a free one is bounded by ctx, not by [Timeout]. A Do within fn takes a second one: with the same key it waits for
// itself until ctx ends, and with enough of them at a time any pool is used up. Lock further keys in fn by [Lock] and its tx.
//
// Do is three round trips beside those of fn: BEGIN, the lock, COMMIT (on pgx one or two more the first times on a connection, to prepare statements). After it
// returned nothing is left, neither transaction nor lock nor connection. Errors before fn are those of [Lock]. Do panics if db or fn is nil.
func Do(ctx context.Context, db *sql.DB, key Key, fn func(ctx context.Context, tx *sql.Tx) error, opts ...DoOption) error {
	_, err := newDo("Do", db, key, fn, opts).run(ctx)
	return err
}

// TryDo is [Do] if the lock is free, and otherwise returns false and runs nothing; with [Timeout] it waits that long first.
//
// ran reports whether fn was run: false and nil mean that another holds the lock, true and nil that fn was run and committed. With [Retry], if another has taken the lock
// between two attempts, the error is that of the attempt before.
func TryDo(ctx context.Context, db *sql.DB, key Key, fn func(ctx context.Context, tx *sql.Tx) error, opts ...DoOption) (ran bool, err error) {
	d := newDo("TryDo", db, key, fn, opts)
	d.try = true
	return d.run(ctx)
}

// A do is one call of Do or TryDo.
type do struct {
	call string
	db   *sql.DB
	key  Key
	fn   func(context.Context, *sql.Tx) error
	set  settings
	try  bool
}

func newDo(call string, db *sql.DB, key Key, fn func(context.Context, *sql.Tx) error, opts []DoOption) *do {
	if db == nil {
		panic("advisory: " + call + ": db is nil")
	}
	if fn == nil {
		panic("advisory: " + call + ": fn is nil")
	}
	return &do{call: call, db: db, key: key, fn: fn, set: doSettings(opts)}
}

func (d *do) failed(ctx context.Context, err error) error {
	return failed(ctx, d.call, []Key{d.key}, err)
}

// run makes as many attempts as [Retry] allows.
func (d *do) run(ctx context.Context) (ran bool, err error) {
	for attempt := 1; ; attempt++ {
		once, onceErr := d.attempt(ctx)
		if attempt > 1 && !once && onceErr == nil {
			return ran, err // another has the lock now; what was run before did not commit
		}
		ran, err = ran || once, onceErr
		if err == nil || attempt >= d.set.attempts || !repeatable(err) {
			return ran, err
		}
		if reason := pause(ctx, attempt); reason != nil {
			return ran, fmt.Errorf("advisory: %s %v: %w before attempt %d, after: %w", d.call, d.key, reason, attempt+1, err)
		}
	}
}

func repeatable(err error) bool {
	state := sqlState(err)
	return state == "40001" || state == "40P01"
}

// pause waits between two attempts: at random up to 20 ms, 40 ms, …, 1 s, so that those who met do not meet again.
func pause(ctx context.Context, attempt int) error {
	most := min(10*time.Millisecond<<min(attempt, 7), time.Second)
	timer := time.NewTimer(rand.N(most))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (d *do) attempt(ctx context.Context) (ran bool, err error) {
	held := hold(ctx)
	defer held.end()
	if d.set.isolation >= sql.LevelRepeatableRead && !d.set.oldSnapshot {
		return d.handOver(ctx, held)
	}
	srv := serverOf(d.db)
	options, g, placeholders := srv.plan(&d.set)
	tx, err := d.db.BeginTx(held, &options)
	if err != nil {
		return false, d.beginFailed(ctx, err)
	}
	granted, err := d.lock(ctx, tx, g, placeholders)
	if err == nil {
		err = ctx.Err() // some drivers answer nil for a statement that was cancelled halfway
	}
	switch {
	case err != nil:
		tx.Rollback() // frees the connection; what went wrong is in err
		if placeholders && preparedElsewhere(err) && ctx.Err() == nil {
			srv.unprepared.Store(true)
			return d.attempt(ctx)
		}
		return false, d.failed(ctx, err)
	case g == fullGuard:
		srv.checked.Store(true)
	}
	if !granted {
		tx.Rollback()
		return false, nil
	}
	return d.work(ctx, held, tx)
}

// preparedElsewhere reports whether a statement that the driver had prepared is not known to the session, or known already: behind a
// pooler each transaction may have another one.
func preparedElsewhere(err error) bool {
	state := sqlState(err)
	return state == "26000" || state == "42P05"
}

// beginFailed makes the error of a BEGIN. On a standby lib/pq's READ WRITE is refused.
func (d *do) beginFailed(ctx context.Context, err error) error {
	if reason := endOf(ctx); reason != nil {
		err = because(reason, err)
	} else if sqlState(err) == "0A000" {
		return fmt.Errorf("%w: %s %v: connect to the primary: %w", ErrStandby, d.call, d.key, err)
	}
	return fmt.Errorf("advisory: %s %v: begin: %w", d.call, d.key, err)
}

// lock runs the lock statement in tx, and reports whether the lock was granted.
func (d *do) lock(ctx context.Context, tx *sql.Tx, g guard, placeholders bool) (bool, error) {
	s := statement{placeholders: placeholders}
	switch {
	case !d.try:
		s.lock(g, d.key, &d.set)
	case d.set.timeout > 0:
		s.placeholders = false // several statements in one message cannot have arguments
		s.tryLockAll([]Key{d.key}, d.key.bigints(), &d.set)
	default:
		s.tryLock(g, d.key, &d.set)
	}
	rows, err := s.run(ctx, tx)
	return rows == 1, err
}

// work runs fn in tx, and ends tx on every way out. It runs nothing if ctx has ended so early that the transaction has, too.
func (d *do) work(ctx context.Context, held *held, tx *sql.Tx) (ran bool, err error) {
	committed := false
	defer func() {
		if !committed {
			held.limit(rollbackLimit)
			// A rollback that fails means that the connection is lost, and with it the transaction and the lock.
			tx.Rollback()
		}
	}()
	if !held.detach() {
		return false, d.failed(ctx, ctx.Err())
	}
	if err := d.fn(ctx, tx); err != nil {
		return true, err
	}
	if err := ctx.Err(); err != nil {
		return true, fmt.Errorf("advisory: %s %v: rolled back: %w", d.call, d.key, err)
	}
	committed = true
	held.attach()
	if err := tx.Commit(); err != nil {
		if reason := endOf(ctx); reason != nil {
			err = because(reason, err)
		} else if errors.Is(err, sql.ErrTxDone) {
			err = fmt.Errorf("fn must not end the transaction: %w", err)
		}
		return true, fmt.Errorf("advisory: %s %v: commit: %w", d.call, d.key, err)
	}
	return true, nil
}
