package advisory_test

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pgadvisory/pgadvisory/advisory"
)

// edgeKeys are keys which need care in SQL: signs, the ends of the ranges, both spaces.
var edgeKeys = []advisory.Key{
	advisory.ID(0), advisory.ID(1), advisory.ID(-1), advisory.ID(math.MaxInt64), advisory.ID(math.MinInt64), advisory.ID(1 << 40),
	advisory.Pair(0, 0), advisory.Pair(1, -1), advisory.Pair(-1, 1), advisory.Pair(math.MinInt32, math.MaxInt32),
	advisory.Pair(math.MaxInt32, math.MinInt32), advisory.Pair(math.MinInt32, math.MinInt32),
}

func TestLockTakesTheKeyItWasGiven(t *testing.T) {
	eachDriver(t, func(t *testing.T, db *sql.DB) {
		ctx := testContext(t)
		for _, key := range edgeKeys {
			for name, opts := range map[string][]advisory.Option{
				"ExclusiveLock": nil,
				"ShareLock":     {advisory.Shared()},
			} {
				for _, timeout := range []time.Duration{0, time.Minute} {
					opts := opts
					if timeout > 0 {
						opts = append(opts, advisory.Timeout(timeout))
					}
					want := []hold{{key, name, true}}
					takes := map[string]func(*sql.Tx) (bool, error){
						"Lock":       func(tx *sql.Tx) (bool, error) { return true, advisory.Lock(ctx, tx, key, opts...) },
						"TryLock":    func(tx *sql.Tx) (bool, error) { return advisory.TryLock(ctx, tx, key, opts...) },
						"LockAll":    func(tx *sql.Tx) (bool, error) { return true, advisory.LockAll(ctx, tx, []advisory.Key{key}, opts...) },
						"TryLockAll": func(tx *sql.Tx) (bool, error) { return advisory.TryLockAll(ctx, tx, []advisory.Key{key}, opts...) },
					}
					for call, take := range takes {
						tx := begin(t, db, nil)
						got, err := take(tx)
						if err != nil || !got {
							t.Fatalf("%s %v %v %v: %v, %v", call, key, name, timeout, got, err)
						}
						if diff := cmp.Diff(want, locks(t, db), cmp.AllowUnexported(hold{}, advisory.Key{})); diff != "" {
							t.Errorf("%s %v %v %v: pg_locks (-want +got):\n%s", call, key, name, timeout, diff)
						}
						must(t, tx.Rollback())
					}
				}
			}
		}
		assertClean(t, db)
	})
}

func TestLockExcludes(t *testing.T) {
	eachDriver(t, func(t *testing.T, db *sql.DB) {
		ctx := testContext(t)
		key := advisory.Name("excludes")
		holder := begin(t, db, nil)
		must(t, advisory.Lock(ctx, holder, key))
		must(t, advisory.Lock(ctx, holder, key)) // once more by the same transaction: granted at once

		other := begin(t, db, nil)
		for _, opts := range [][]advisory.Option{nil, {advisory.Shared()}, {advisory.Timeout(50 * time.Millisecond)}} {
			if got, err := advisory.TryLock(ctx, other, key, opts...); got || err != nil {
				t.Errorf("TryLock while another holds it: %v, %v", got, err)
			}
		}
		// A try that fails leaves the transaction usable, and takes nothing.
		if got, err := advisory.TryLockAll(ctx, other, []advisory.Key{advisory.ID(1), key, advisory.Pair(1, 1)}); got || err != nil {
			t.Errorf("TryLockAll with one key taken: %v, %v", got, err)
		}
		if diff := cmp.Diff([]advisory.Key{key}, keysOf(locks(t, db)), cmp.AllowUnexported(advisory.Key{})); diff != "" {
			t.Errorf("after a TryLockAll that failed (-want +got):\n%s", diff)
		}

		granted := make(chan error, 1)
		go func() { granted <- advisory.Lock(ctx, other, key) }()
		eventually(t, "the other waits", func() bool { return waiting(t, db) })
		must(t, holder.Commit())
		must(t, <-granted)
		must(t, other.Rollback())
		assertClean(t, db)
	})
}

func TestSharedHoldersShare(t *testing.T) {
	eachDriver(t, func(t *testing.T, db *sql.DB) {
		ctx := testContext(t)
		key := advisory.Pair(3, 4)
		a, b := begin(t, db, nil), begin(t, db, nil)
		must(t, advisory.Lock(ctx, a, key, advisory.Shared()))
		must(t, advisory.Lock(ctx, b, key, advisory.Shared()))
		if got, err := advisory.TryLock(ctx, begin(t, db, nil), key); got || err != nil {
			t.Errorf("exclusive TryLock beside shared holders: %v, %v", got, err)
		}
	})
}

func TestTimeout(t *testing.T) {
	eachDriver(t, func(t *testing.T, db *sql.DB) {
		ctx := testContext(t)
		key := advisory.ID(9)
		must(t, advisory.Lock(ctx, begin(t, db, nil), key))

		tx := begin(t, db, nil)
		err := advisory.Lock(ctx, tx, key, advisory.Timeout(20*time.Millisecond))
		if !errors.Is(err, advisory.ErrTimeout) {
			t.Errorf("Lock: %v, want ErrTimeout", err)
		}
		assertDriverError(t, err, "55P03")
		if _, err := tx.ExecContext(ctx, "SELECT 1"); err == nil {
			t.Error("transaction goes on after ErrTimeout, want it aborted")
		}

		// The session's own statement_timeout, too.
		tx = begin(t, db, nil)
		run(t, tx, "SET LOCAL statement_timeout = 20")
		err = advisory.Lock(ctx, tx, key)
		if !errors.Is(err, advisory.ErrTimeout) {
			t.Errorf("Lock under statement_timeout: %v, want ErrTimeout", err)
		}
		assertDriverError(t, err, "57014")

		// And its lock_timeout.
		tx = begin(t, db, nil)
		run(t, tx, "SET LOCAL lock_timeout = 20")
		if err = advisory.Lock(ctx, tx, key); !errors.Is(err, advisory.ErrTimeout) {
			t.Errorf("Lock under lock_timeout: %v, want ErrTimeout", err)
		}
	})
}

// The transaction's own lock_timeout is as before, after success, after an answer of false, and after rolling back to a savepoint.
func TestTimeoutIsPutBack(t *testing.T) {
	eachDriver(t, func(t *testing.T, db *sql.DB) {
		ctx := testContext(t)
		taken := advisory.ID(1)
		must(t, advisory.Lock(ctx, begin(t, db, nil), taken))
		soon, late := advisory.Timeout(20*time.Millisecond), advisory.Timeout(time.Minute)
		free := []advisory.Key{advisory.ID(2), advisory.Pair(2, 2)}
		for _, setting := range []string{"", "0", "90s", "12345"} {
			tx := begin(t, db, nil)
			if setting != "" {
				run(t, tx, "SET LOCAL lock_timeout = '"+setting+"'")
			}
			want := show(t, tx, "lock_timeout")
			check := func(after string) {
				t.Helper()
				if got := show(t, tx, "lock_timeout"); got != want {
					t.Errorf("lock_timeout after %s: %q, was %q", after, got, want)
				}
			}
			must(t, advisory.Lock(ctx, tx, free[0], late))
			check("Lock")
			must(t, advisory.LockAll(ctx, tx, free, late))
			check("LockAll")
			for _, keys := range [][]advisory.Key{free, {advisory.ID(3), taken}} {
				_, err := advisory.TryLockAll(ctx, tx, keys, soon)
				must(t, err)
				check("TryLockAll")
			}
			for i, fail := range []func() error{
				func() error { return advisory.Lock(ctx, tx, taken, soon) },
				func() error { return advisory.LockAll(ctx, tx, []advisory.Key{advisory.ID(3), taken}, soon) },
			} {
				run(t, tx, "SAVEPOINT before")
				if err := fail(); !errors.Is(err, advisory.ErrTimeout) {
					t.Errorf("%d: %v, want ErrTimeout", i, err)
				}
				run(t, tx, "ROLLBACK TO before")
				check("a timeout and ROLLBACK TO")
			}
			must(t, tx.Rollback())
		}
	})
}

func TestTimeoutRange(t *testing.T) {
	for _, d := range []time.Duration{0, -1, -time.Hour} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Timeout(%v) did not panic", d)
				}
			}()
			advisory.Timeout(d)
		}()
	}
	eachDriver(t, func(t *testing.T, db *sql.DB) {
		ctx := testContext(t)
		tx := begin(t, db, nil)
		for _, d := range []time.Duration{1, time.Millisecond + 1, 24 * 24 * time.Hour, 25 * 24 * time.Hour, math.MaxInt64} {
			must(t, advisory.Lock(ctx, tx, advisory.ID(int64(d)), advisory.Timeout(d)))
			must(t, advisory.LockAll(ctx, tx, edgeKeys, advisory.Timeout(d)))
			got, err := advisory.TryLockAll(ctx, tx, edgeKeys, advisory.Timeout(d))
			if err != nil || !got {
				t.Errorf("TryLockAll with Timeout(%v): %v, %v", d, got, err)
			}
		}
		must(t, tx.Rollback())
		// Less than a millisecond must not become 0, which would be for ever.
		must(t, advisory.Lock(ctx, begin(t, db, nil), advisory.ID(1)))
		err := advisory.Lock(ctx, begin(t, db, nil), advisory.ID(1), advisory.Timeout(1))
		if !errors.Is(err, advisory.ErrTimeout) {
			t.Errorf("Timeout(1ns): %v, want ErrTimeout", err)
		}
	})
}

// ctx's end is ctx's error on both drivers, before the call and during the wait.
func TestContextEnds(t *testing.T) {
	eachDriver(t, func(t *testing.T, db *sql.DB) {
		key := advisory.ID(5)
		must(t, advisory.Lock(testContext(t), begin(t, db, nil), key))
		calls := map[string]func(context.Context) error{
			"Lock":    func(ctx context.Context) error { return advisory.Lock(ctx, begin(t, db, nil), key) },
			"LockAll": func(ctx context.Context) error { return advisory.LockAll(ctx, begin(t, db, nil), []advisory.Key{key}) },
			"Lock with a longer Timeout": func(ctx context.Context) error {
				return advisory.Lock(ctx, begin(t, db, nil), key, advisory.Timeout(time.Hour))
			},
			"TryLock with a longer Timeout": func(ctx context.Context) error {
				_, err := advisory.TryLock(ctx, begin(t, db, nil), key, advisory.Timeout(time.Hour))
				return err
			},
			"Do": func(ctx context.Context) error {
				return advisory.Do(ctx, db, key, func(context.Context, *sql.Tx) error { t.Error("fn was run"); return nil })
			},
			"Do with Isolation": func(ctx context.Context) error {
				return advisory.Do(ctx, db, key, func(context.Context, *sql.Tx) error { t.Error("fn was run"); return nil },
					advisory.Isolation(sql.LevelSerializable))
			},
		}
		for name, call := range calls {
			ended, cancel := context.WithCancel(context.Background())
			cancel()
			if err := call(ended); !errors.Is(err, context.Canceled) {
				t.Errorf("%s, ctx has ended: %v, want context.Canceled", name, err)
			}
			short, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
			if err := call(short); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, advisory.ErrTimeout) {
				t.Errorf("%s, ctx ends: %v, want context.DeadlineExceeded", name, err)
			}
			cancel()
		}
	})
}

func TestSavepointFreesTheLock(t *testing.T) {
	eachDriver(t, func(t *testing.T, db *sql.DB) {
		tx := begin(t, db, nil)
		run(t, tx, "SAVEPOINT before")
		must(t, advisory.Lock(testContext(t), tx, advisory.ID(1)))
		run(t, tx, "ROLLBACK TO before")
		if held := locks(t, db); len(held) != 0 {
			t.Errorf("held after ROLLBACK TO: %v", held)
		}
	})
}

func TestNilTxPanics(t *testing.T) {
	ctx := context.Background()
	for name, call := range map[string]func(){
		"Lock":       func() { advisory.Lock(ctx, nil, advisory.ID(1)) },
		"TryLock":    func() { advisory.TryLock(ctx, nil, advisory.ID(1)) },
		"LockAll":    func() { advisory.LockAll(ctx, nil, nil) },
		"TryLockAll": func() { advisory.TryLockAll(ctx, nil, nil) },
		"Do":         func() { advisory.Do(ctx, nil, advisory.ID(1), nil) },
		"TryDo":      func() { advisory.TryDo(ctx, new(sql.DB), advisory.ID(1), nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s did not panic", name)
				}
			}()
			call()
		}()
	}
}

func run(t testing.TB, tx *sql.Tx, query string) {
	t.Helper()
	if _, err := tx.ExecContext(testContext(t), query); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

func show(t testing.TB, tx *sql.Tx, setting string) (value string) {
	t.Helper()
	must(t, tx.QueryRowContext(testContext(t), "SELECT current_setting('"+setting+"')").Scan(&value))
	return value
}
