package advisory

import (
	"database/sql"
	"fmt"
	"time"
)

// An Option changes how a lock is taken. Every Option is a [DoOption] as well.
type Option interface {
	DoOption
	setLock(*settings)
}

// A DoOption changes how [Do] and [TryDo] take the lock and run their transaction.
type DoOption interface {
	setDo(*settings)
}

// settings is what a call's options come to.
type settings struct {
	shared      bool
	oldSnapshot bool
	readOnly    bool
	timeout     time.Duration // 0: none
	isolation   sql.IsolationLevel
	attempts    int // 0: one
}

type lockOption func(*settings)

func (o lockOption) setLock(s *settings) { o(s) }
func (o lockOption) setDo(s *settings)   { o(s) }

type doOption func(*settings)

func (o doOption) setDo(s *settings) { o(s) }

func lockSettings(opts []Option) settings {
	var s settings
	for _, o := range opts {
		o.setLock(&s)
	}
	return s
}

func doSettings(opts []DoOption) settings {
	var s settings
	for _, o := range opts {
		o.setDo(&s)
	}
	return s
}

// Shared takes the lock in shared mode: any number of shared holders exclude an exclusive one, and do not exclude each other. Without it the
// lock is exclusive.
func Shared() Option { return shared }

var shared = lockOption(func(s *settings) { s.shared = true })

// Timeout bounds the wait for the lock, or with several keys the wait for all of them together. The server does the counting, in
// milliseconds; d is rounded up, and above 24 days counts as 24 days, the most that the server knows. When it is over, [Lock],
// [LockAll] and [Do] return [ErrTimeout], which like every error in SQL aborts the caller's transaction; [TryLock], [TryLockAll] and [TryDo]
// answer false, and the transaction goes on.
//
// The transaction's own lock_timeout does not count while the lock is waited for, and is the same as before afterwards.
//
// Timeout panics if d is not positive, because to PostgreSQL 0 means to wait for ever. To not wait at all, use [TryLock].
//
// A deadline of ctx counts, too: if it comes first the error is ctx's.
func Timeout(d time.Duration) Option {
	if d <= 0 {
		panic(fmt.Sprintf("advisory: Timeout(%v): must be positive; to not wait at all use TryLock", d))
	}
	return lockOption(func(s *settings) { s.timeout = d })
}

// maxTimeout is the largest lock_timeout: a signed integer of 32 bits, in milliseconds.
const maxTimeout = 1<<31 - 1

// milliseconds returns the timeout as the server counts it, and 0 for none.
func (s *settings) milliseconds() int64 {
	ms := int64(s.timeout / time.Millisecond)
	if s.timeout%time.Millisecond != 0 {
		ms++
	}
	return min(ms, maxTimeout)
}

// AllowOldSnapshot lets a transaction at REPEATABLE READ or SERIALIZABLE take the lock, which is otherwise refused with
// [ErrSnapshot]. What the transaction reads may then be older than the lock: the statement that waits for the lock takes the
// transaction's snapshot before it waits, so that the previous holder's writes can be invisible. That is right where the lock only
// limits who works at a time, or where the database itself refuses to write over what was not seen (40001).
//
// To read what the previous holder wrote at these levels, use [Do] with [Isolation].
func AllowOldSnapshot() Option { return oldSnapshot }

var oldSnapshot = lockOption(func(s *settings) { s.oldSnapshot = true })

// Isolation runs the transaction at the given level instead of READ COMMITTED. At [sql.LevelRepeatableRead], [sql.LevelSnapshot] (which is the
// same to PostgreSQL) and [sql.LevelSerializable] the transaction's snapshot is younger than the lock, so that it sees all that earlier
// holders have committed. This costs one more round trip: the lock is first taken at session level on a connection of its
// own, and handed over to the transaction by its first statement.
//
// That hand-over needs one and the same session. Behind a pooler in transaction mode it is refused with [ErrPooler].
//
// Isolation panics on a level that PostgreSQL does not have, and on [sql.LevelDefault].
func Isolation(level sql.IsolationLevel) DoOption {
	switch level {
	case sql.LevelReadUncommitted, sql.LevelReadCommitted, sql.LevelRepeatableRead, sql.LevelSerializable:
	case sql.LevelSnapshot:
		level = sql.LevelRepeatableRead // lib/pq does not know Snapshot, and PostgreSQL's REPEATABLE READ is that
	default:
		panic(fmt.Sprintf("advisory: Isolation(%v): must be one of PostgreSQL's levels; for READ COMMITTED leave Isolation out", level))
	}
	return doOption(func(s *settings) { s.isolation = level })
}

// ReadOnly runs the transaction in read-only mode. Advisory locks can be taken in it.
func ReadOnly() DoOption { return readOnly }

var readOnly = doOption(func(s *settings) { s.readOnly = true })

// Retry runs the whole transaction anew when it fails with a serialization failure (40001) or a deadlock (40P01), up to the given number of
// attempts in all. In between it waits for a random time of up to 20 milliseconds, then 40, and so on up to 1 second. The function must be
// repeatable: whatever it does outside of the transaction it does once per attempt. It must return, or wrap, the driver's error.
//
// Retry panics if attempts is less than 1.
func Retry(attempts int) DoOption {
	if attempts < 1 {
		panic(fmt.Sprintf("advisory: Retry(%d): needs at least 1 attempt", attempts))
	}
	return doOption(func(s *settings) { s.attempts = attempts })
}
