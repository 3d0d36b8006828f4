package advisory_test

import (
	"database/sql"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pgadvisory/pgadvisory/advisory"
	"github.com/pgadvisory/pgadvisory/advisory/pgtest"
)

var compareKeys = cmp.AllowUnexported(advisory.Key{})

// While a key in the middle is held by another session, LockAll holds those that come before it, and none after it.
func TestLockAllGoesInOrder(t *testing.T) {
	sorted := slices.SortedFunc(slices.Values(edgeKeys), advisory.Key.Compare)
	eachDriver(t, func(t *testing.T, db *sql.DB) {
		ctx := testContext(t)
		for i, middle := range sorted {
			holder := begin(t, db, nil)
			must(t, advisory.Lock(ctx, holder, middle))

			asked := slices.Concat(sorted, sorted) // duplicates, in no order
			rand.Shuffle(len(asked), func(i, j int) { asked[i], asked[j] = asked[j], asked[i] })
			given := slices.Clone(asked)
			var opts []advisory.Option
			if i%2 == 1 {
				opts = []advisory.Option{advisory.Timeout(time.Hour)}
			}
			tx := begin(t, db, nil)
			done := make(chan error, 1)
			go func() { done <- advisory.LockAll(ctx, tx, asked, opts...) }()
			eventually(t, "LockAll waits", func() bool { return waiting(t, db) })
			if diff := cmp.Diff(sorted[:i+1], keysOf(locks(t, db)), compareKeys); diff != "" {
				t.Errorf("held while %v is taken by another (-want +got):\n%s", middle, diff)
			}
			must(t, holder.Commit())
			must(t, <-done)
			if diff := cmp.Diff(sorted, keysOf(locks(t, db)), compareKeys); diff != "" {
				t.Errorf("held at the end (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(given, asked, compareKeys); diff != "" {
				t.Errorf("LockAll changed the caller's slice (-want +got):\n%s", diff)
			}
			must(t, tx.Rollback())
		}
		assertClean(t, db)
	})
}

func TestLockAllOfNothing(t *testing.T) {
	eachDriver(t, func(t *testing.T, db *sql.DB) {
		tx := begin(t, db, nil)
		must(t, advisory.LockAll(testContext(t), tx, nil))
		if got, err := advisory.TryLockAll(testContext(t), tx, nil); !got || err != nil {
			t.Errorf("TryLockAll of nothing: %v, %v", got, err)
		}
	})
}

// The timeout is for all keys together: three keys which each come free after 300 ms take longer than one of 500 ms.
func TestLockAllTimeoutIsTotal(t *testing.T) {
	eachDriver(t, func(t *testing.T, db *sql.DB) {
		ctx := testContext(t)
		keys := []advisory.Key{advisory.ID(1), advisory.ID(2), advisory.Pair(1, 1)}
		calls := map[string]func(*sql.Tx) (bool, error){
			"LockAll": func(tx *sql.Tx) (bool, error) {
				err := advisory.LockAll(ctx, tx, keys, advisory.Timeout(500*time.Millisecond))
				if errors.Is(err, advisory.ErrTimeout) {
					return false, nil
				}
				return true, err
			},
			"TryLockAll": func(tx *sql.Tx) (bool, error) {
				return advisory.TryLockAll(ctx, tx, keys, advisory.Timeout(500*time.Millisecond))
			},
		}
		for name, call := range calls {
			// Each key is freed when the statement is 300 ms older than at the one before: no single wait is as long as the timeout.
			freed, returned := make(chan struct{}), make(chan struct{})
			var holders []*sql.Tx
			for _, key := range keys {
				holder := begin(t, db, nil)
				must(t, advisory.Lock(ctx, holder, key))
				holders = append(holders, holder)
			}
			waiter := begin(t, db, nil)
			var pid int
			must(t, waiter.QueryRowContext(ctx, "SELECT pg_backend_pid()").Scan(&pid))
			go func() {
				defer close(freed)
				for i, holder := range holders {
					eventually(t, "the statement is old enough, or over", func() bool {
						select {
						case <-returned:
							return true
						default:
							return waitedFor(t, db, pid) >= time.Duration(i+1)*300*time.Millisecond
						}
					})
					holder.Rollback()
				}
			}()
			granted, err := call(waiter)
			close(returned)
			must(t, err)
			if granted {
				t.Errorf("%s was granted all keys, want the timeout to be over before the last", name)
			}
			<-freed
		}
	})
}

// waitedFor returns for how long a session has been running a statement that waits for a lock, and 0 if it does not.
func waitedFor(t testing.TB, db *sql.DB, pid int) time.Duration {
	var ms float64
	err := db.QueryRowContext(testContext(t), `SELECT coalesce(max(1000 * extract(epoch FROM clock_timestamp() - query_start)), 0)::float8
		FROM pg_stat_activity WHERE pid = $1 AND wait_event_type = 'Lock'`, pid).Scan(&ms)
	if err != nil {
		t.Error(err)
	}
	return time.Duration(ms * float64(time.Millisecond))
}

// At default settings the table has 64 × 100 entries for certain, so that one call may take 1,600 keys. The refused call takes none, and
// another session goes on.
func TestLockAllLimit(t *testing.T) {
	server.SkipIfExternal(t)
	eachDriver(t, func(t *testing.T, db *sql.DB) {
		ctx := testContext(t)
		keys := make([]advisory.Key, 1600)
		for i := range keys {
			keys[i] = advisory.ID(int64(i))
			if i%2 == 1 {
				keys[i] = advisory.Pair(1, int32(i))
			}
		}
		tx := begin(t, db, nil)
		must(t, advisory.LockAll(ctx, tx, keys))
		if n := len(locks(t, db)); n != len(keys) {
			t.Errorf("%d locks held, want %d", n, len(keys))
		}
		must(t, tx.Rollback())

		tooMany := append(slices.Clone(keys), advisory.ID(-1))
		for name, call := range map[string]func(*sql.Tx) error{
			"LockAll":              func(tx *sql.Tx) error { return advisory.LockAll(ctx, tx, tooMany) },
			"LockAll with Timeout": func(tx *sql.Tx) error { return advisory.LockAll(ctx, tx, tooMany, advisory.Timeout(time.Hour)) },
			"TryLockAll":           func(tx *sql.Tx) error { _, err := advisory.TryLockAll(ctx, tx, tooMany); return err },
		} {
			tx := begin(t, db, nil)
			err := call(tx)
			assertDriverError(t, err, "22P02")
			if e, ok := errors.AsType[*advisory.TooManyLocksError](err); !ok || !errors.Is(err, advisory.ErrTooManyLocks) || e.Asked != 1601 || e.Limit != 1600 {
				t.Errorf("%s of 1601 keys: %v", name, err)
			}
			must(t, tx.Rollback())
		}
	})
}

// The limit follows the server's settings, and when the table is full all the same, because of what sessions hold together, the error says so.
func TestLockTableFull(t *testing.T) {
	t.Parallel()
	small := pgtest.Start(t, pgtest.Setting("max_connections", "20"), pgtest.Setting("max_locks_per_transaction", "10"),
		pgtest.Setting("max_prepared_transactions", "4"))
	for _, driver := range pgtest.Drivers {
		db := small.Open(t, driver)
		ctx := testContext(t)
		keys := make([]advisory.Key, 60) // 10 × (20 + 4) / 4
		fill := func(from int) []advisory.Key {
			for i := range keys {
				keys[i] = advisory.ID(int64(from + i))
			}
			return keys
		}
		_, err := advisory.TryLockAll(ctx, begin(t, db, nil), append(fill(0), advisory.ID(-1)))
		if e, ok := errors.AsType[*advisory.TooManyLocksError](err); !ok || e.Limit != 60 {
			t.Errorf("61 keys: %v, want a limit of 60", err)
		}
		tx := begin(t, db, nil)
		for from := 0; err == nil || errors.As(err, new(*advisory.TooManyLocksError)) && from == 0; from += len(keys) {
			if from > 100_000 {
				t.Fatal("the lock table does not fill up")
			}
			err = advisory.LockAll(ctx, tx, fill(from))
		}
		assertDriverError(t, err, "53200")
		if e, ok := errors.AsType[*advisory.TooManyLocksError](err); !ok || !errors.Is(err, advisory.ErrTooManyLocks) || e.Asked != len(keys) || e.Limit != 0 {
			t.Errorf("LockAll with a full table: %v", err)
		}
		must(t, tx.Rollback())
	}
}
