package advisory

import (
	"context"
	"database/sql"
)

// Lock waits until tx holds the transaction-level lock on key, which it then keeps until COMMIT or ROLLBACK. A key that tx holds already is granted at once.
//
// Lock is one round trip. It blocks as long as others hold the lock, but no longer than [Timeout], the session's own timeouts and ctx
// allow. Waiters get an exclusive lock in the order in which they came.
//
// An error of the server's aborts tx, as every error in SQL does: roll back, or roll back to a savepoint set before the call. The error is
// [ErrTimeout], [*DeadlockError], [ErrStandby], [ErrSnapshot], [ErrTooManyLocks], [ErrUnsupported], ctx's error, or the driver's. Rolling back to a
// savepoint that was set before Lock frees the lock.
//
// Lock panics if tx is nil.
func Lock(ctx context.Context, tx *sql.Tx, key Key, opts ...Option) error {
	mustTx("Lock", tx)
	set := lockSettings(opts)
	var s statement
	s.lock(set.guard(), key, &set)
	if _, err := s.run(ctx, tx); err != nil {
		return failed(ctx, "Lock", []Key{key}, err)
	}
	return nil
}

// TryLock reports whether tx holds the transaction-level lock on key, without waiting for other holders; with [Timeout] it waits for that
// long. If it answers true, tx keeps the lock until COMMIT or ROLLBACK. That the lock is not free is no error, and leaves tx usable.
//
// At its end a transaction frees its locks one after the other. So a key can be taken for a moment although another key of the same holder is free already.
//
// TryLock is one round trip. Errors and panics are those of [Lock], except for ErrTimeout because of a Timeout. With a Timeout the server needs the
// language PL/pgSQL, which databases have unless somebody dropped it.
func TryLock(ctx context.Context, tx *sql.Tx, key Key, opts ...Option) (bool, error) {
	mustTx("TryLock", tx)
	set := lockSettings(opts)
	keys := []Key{key}
	var s statement
	if set.timeout > 0 {
		s.tryLockAll(keys, key.bigints(), &set)
	} else {
		s.tryLock(set.guard(), key, &set)
	}
	rows, err := s.run(ctx, tx)
	if err != nil {
		return false, failed(ctx, "TryLock", keys, err)
	}
	return rows == 1, nil
}

// LockAll waits until tx holds the transaction-level locks on all keys. It takes them in the order of [Key.Compare] and each once, however
// they are given. Transactions which take all their locks in one LockAll never deadlock over them; a second call, or one that wants exclusive what
// the transaction has shared, can. Without keys it does nothing.
//
// LockAll is one round trip, and one statement: when it fails, tx is aborted, and none of the keys stays locked.
// [Timeout] bounds the wait for all keys together.
//
// The number of locks on a server is limited, and when the limit is reached other sessions fail, too. A call for more than a quarter of
// the lock table (1,600 keys at default settings) is refused with [*TooManyLocksError] before it locks anything. Other errors and panics
// are those of [Lock].
func LockAll(ctx context.Context, tx *sql.Tx, keys []Key, opts ...Option) error {
	mustTx("LockAll", tx)
	if len(keys) == 0 {
		return nil
	}
	set := lockSettings(opts)
	sorted, bigints := sortKeys(keys)
	var s statement
	s.lockAll(sorted, bigints, &set)
	if _, err := s.run(ctx, tx); err != nil {
		return failed(ctx, "LockAll", sorted, err)
	}
	return nil
}

// TryLockAll reports whether tx holds the transaction-level locks on all keys, without waiting for other holders; with [Timeout] it waits
// that long for all of them together. If it answers false, it has taken none. Without keys it answers true.
//
// TryLockAll is one round trip. It needs the language PL/pgSQL on the server, which databases have unless somebody dropped it. The limit
// and the order of keys are those of [LockAll], errors and panics those of [TryLock].
func TryLockAll(ctx context.Context, tx *sql.Tx, keys []Key, opts ...Option) (bool, error) {
	mustTx("TryLockAll", tx)
	if len(keys) == 0 {
		return true, nil
	}
	set := lockSettings(opts)
	sorted, bigints := sortKeys(keys)
	var s statement
	s.tryLockAll(sorted, bigints, &set)
	rows, err := s.run(ctx, tx)
	if err != nil {
		return false, failed(ctx, "TryLockAll", sorted, err)
	}
	return rows == 1, nil
}

func mustTx(call string, tx *sql.Tx) {
	if tx == nil {
		panic("advisory: " + call + ": tx is nil")
	}
}

// An execer is a *sql.Tx or a *sql.Conn.
type execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// run executes the statement and returns its number of rows.
func (s *statement) run(ctx context.Context, on execer) (int64, error) {
	result, err := on.ExecContext(ctx, s.text.String(), s.args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}
