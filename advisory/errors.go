package advisory

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

var (
	// ErrTimeout means that the lock was not granted within [Timeout], or within the lock_timeout or statement_timeout that the session has
	// set. The server reports a statement_timeout (57014) and a pg_cancel_backend alike but for a localised text, so the latter
	// gives ErrTimeout, too; the wrapped error's text tells.
	ErrTimeout = errors.New("advisory: lock was not granted in time")

	// ErrStandby means that the server is a standby. Advisory locks succeed there but exclude nobody on the primary or on other
	// standbys, so nothing was locked. Connect to the primary, for example with target_session_attrs=read-write.
	ErrStandby = errors.New("advisory: server is a standby, whose advisory locks exclude nobody elsewhere")

	// ErrSnapshot means that the transaction is at REPEATABLE READ or above, where what it reads can be older than the lock; see
	// [AllowOldSnapshot]. Nothing was locked.
	ErrSnapshot = errors.New("advisory: transaction's snapshot may be older than the lock")

	// ErrTooManyLocks means that so many locks do not fit into the server's lock table. The error is then a [*TooManyLocksError], too.
	ErrTooManyLocks = errors.New("advisory: too many locks for the server's lock table")

	// ErrUnsupported means that the server has no advisory locks, or functions of that name which lock nothing, as CockroachDB's.
	ErrUnsupported = errors.New("advisory: server does not support advisory locks")

	// ErrPooler means that a pooler in transaction mode stands between this program and the server, and that what was asked for needs one
	// and the same session throughout.
	ErrPooler = errors.New("advisory: connection goes through a pooler in transaction mode")

	// ErrNotAcquired means that [Locker.TryAcquire] did not get the lease, because another has it or was there first.
	ErrNotAcquired = errors.New("advisory: lease is not free")

	// ErrLost means that a [Lease] ended although nobody released it: its session is gone, or may be gone for all that its holder can know. Others
	// may hold the lock by now.
	ErrLost = errors.New("advisory: lease is lost")

	// ErrReleased means that a [Lease] was released before.
	ErrReleased = errors.New("advisory: lease was released")

	// ErrClosed means that the [Locker] was closed, before the call or while it waited.
	ErrClosed = errors.New("advisory: locker is closed")

	// ErrPoolTooSmall means that the session of a [Locker] would leave no connection of the pool for the work: its MaxOpenConns is too low for
	// the lockers on it. Nothing was locked.
	ErrPoolTooSmall = errors.New("advisory: pool has no connection to spare for a session that holds locks")
)

// A DeadlockError means that the server broke a deadlock (40P01) by refusing this transaction its locks; the others go on. Roll back and run the transaction
// again, which [Retry] does. To avoid deadlocks take all locks in one [LockAll], or one after the other in the order of [Key.Compare].
type DeadlockError struct {
	Keys []Key // what was asked for in the call that failed, in the order of [Key.Compare]
	Err  error // the driver's error
}

func (e *DeadlockError) Error() string {
	return "advisory: deadlock over " + keyText(e.Keys) + ": " + e.Err.Error()
}

// Unwrap returns the driver's error.
func (e *DeadlockError) Unwrap() error { return e.Err }

// A TooManyLocksError says how many locks were asked for and how many there may be. errors.Is(e, [ErrTooManyLocks]) is true.
type TooManyLocksError struct {
	Asked int // the number of different keys in the call

	// Limit is the largest number of keys that one call may lock on this server: a quarter of max_locks_per_transaction × (max_connections +
	// max_prepared_transactions). Then the call was refused before it locked anything. It is 0 if the server itself ran out of
	// memory for locks (53200), because of what all sessions together hold.
	Limit int

	Err error // the driver's error
}

func (e *TooManyLocksError) Error() string {
	if e.Limit == 0 {
		return fmt.Sprintf("%v: %d asked for while the table is full; raise max_locks_per_transaction: %v", ErrTooManyLocks, e.Asked, e.Err)
	}
	return fmt.Sprintf("%v: %d asked for, the limit is %d (1/%d of max_locks_per_transaction × (max_connections + max_prepared_transactions)); "+
		"lock fewer keys per transaction or raise max_locks_per_transaction: %v", ErrTooManyLocks, e.Asked, e.Limit, limitFraction, e.Err)
}

// Unwrap returns [ErrTooManyLocks] and the driver's error.
func (e *TooManyLocksError) Unwrap() []error { return []error{ErrTooManyLocks, e.Err} }

// marker begins what guards fail with; see [guard].
const marker = "advisory:"

// failed makes the error of a call from what the driver returned for its statement. It looks at ctx first: a statement that ctx has ended fails
// with other errors on each driver, and with the same code (57014) as one that the server has timed out.
func failed(ctx context.Context, call string, keys []Key, err error) error {
	what := call + " " + keyText(keys)
	if reason := endOf(ctx); reason != nil {
		return fmt.Errorf("advisory: %s: %w", what, because(reason, err))
	}
	switch sqlState(err) {
	case "55P03":
		return fmt.Errorf("%w: %s: find its holder in pg_locks, or allow more time: %w", ErrTimeout, what, err)
	case "57014":
		return fmt.Errorf("%w: %s: statement_timeout or pg_cancel_backend: %w", ErrTimeout, what, err)
	case "40P01":
		return &DeadlockError{Keys: keys, Err: err}
	case "53200":
		return &TooManyLocksError{Asked: len(keys), Err: err}
	case "42704":
		if strings.Contains(err.Error(), "plpgsql") {
			return fmt.Errorf("advisory: %s: needs PL/pgSQL, which CREATE EXTENSION plpgsql brings back: %w", what, err)
		}
		return fmt.Errorf("%w: %s: %w", ErrUnsupported, what, err)
	case "0A000", "42883":
		return fmt.Errorf("%w: %s: %w", ErrUnsupported, what, err)
	case "22P02":
		if refused := refusal(what, keys, err); refused != nil {
			return refused
		}
	}
	return fmt.Errorf("advisory: %s: %w", what, err)
}

// endOf returns ctx's error if ctx has ended. A deadline that has passed counts even while the context's own timer has not fired yet: a driver that sets the deadline
// on its socket can be told first.
func endOf(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if deadline, ok := ctx.Deadline(); ok && !time.Now().Before(deadline) {
		return context.DeadlineExceeded
	}
	return nil
}

// because joins ctx's error with the driver's. If the driver's is that of a context it does not count, as it may be the error of a context that
// was derived from ctx, and then be another one.
func because(reason, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w (%v)", reason, err)
	}
	return fmt.Errorf("%w (%w)", reason, err)
}

// refusal makes the error for what a guard refused, and nil if the driver's error is not a guard's.
func refusal(what string, keys []Key, err error) error {
	// The server's own error, not what may be wrapped around it: that can quote the statement, which has the marker in it as well.
	_, found, _ := strings.Cut(serverError(err).Error(), marker)
	found, _, ok := strings.Cut(found, ";")
	if !ok {
		return nil
	}
	if digits, ok := strings.CutPrefix(found, "limit:"); ok {
		limit, _ := strconv.Atoi(digits)
		return &TooManyLocksError{Asked: len(keys), Limit: limit, Err: err}
	}
	const tail = len("tread")
	if len(found) < tail {
		return nil
	}
	version, recovery := found[:len(found)-tail], found[len(found)-tail]
	switch {
	case version != "":
		return fmt.Errorf("%w: %s: it is %q: %w", ErrUnsupported, what, version, err)
	case recovery == 't':
		return fmt.Errorf("%w: %s: connect to the primary: %w", ErrStandby, what, err)
	}
	return fmt.Errorf("%w: %s: use READ COMMITTED, Do with Isolation, or AllowOldSnapshot: %w", ErrSnapshot, what, err)
}

// A stateError is an error of the server. Both drivers' have the method, so that no driver needs to be imported.
type stateError interface {
	error
	SQLState() string
}

// serverError returns the server's error in err, or err itself if there is none.
func serverError(err error) error {
	if e, ok := errors.AsType[stateError](err); ok {
		return e
	}
	return err
}

// sqlState returns the SQLSTATE of the server's error in err, or "".
func sqlState(err error) string {
	if e, ok := errors.AsType[stateError](err); ok {
		return e.SQLState()
	}
	return ""
}

// keyText lists the first keys of a call for a person to read.
func keyText(keys []Key) string {
	const most = 5
	var b []byte
	for i, key := range keys {
		if i == most {
			return fmt.Sprintf("%s and %d more", b, len(keys)-most)
		}
		if i > 0 {
			b = append(b, ", "...)
		}
		b = key.appendText(b)
	}
	return string(b)
}
