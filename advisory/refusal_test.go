package advisory_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pgadvisory/pgadvisory/advisory"
	"github.com/pgadvisory/pgadvisory/advisory/pgtest"
)

func notRun(t *testing.T) func(context.Context, *sql.Tx) error {
	return func(context.Context, *sql.Tx) error {
		t.Error("fn was run")
		return nil
	}
}

// lockCalls are all ways to take a lock in a transaction.
var lockCalls = map[string]func(context.Context, *sql.Tx, ...advisory.Option) error{
	"Lock": func(ctx context.Context, tx *sql.Tx, opts ...advisory.Option) error {
		return advisory.Lock(ctx, tx, advisory.ID(1), opts...)
	},
	"Lock with Timeout": func(ctx context.Context, tx *sql.Tx, opts ...advisory.Option) error {
		return advisory.Lock(ctx, tx, advisory.Pair(1, 1), append(opts, advisory.Timeout(time.Hour))...)
	},
	"TryLock": func(ctx context.Context, tx *sql.Tx, opts ...advisory.Option) error {
		_, err := advisory.TryLock(ctx, tx, advisory.ID(1), opts...)
		return err
	},
	"TryLock with Timeout": func(ctx context.Context, tx *sql.Tx, opts ...advisory.Option) error {
		_, err := advisory.TryLock(ctx, tx, advisory.ID(1), append(opts, advisory.Timeout(time.Hour))...)
		return err
	},
	"LockAll": func(ctx context.Context, tx *sql.Tx, opts ...advisory.Option) error {
		return advisory.LockAll(ctx, tx, edgeKeys, opts...)
	},
	"LockAll with Timeout": func(ctx context.Context, tx *sql.Tx, opts ...advisory.Option) error {
		return advisory.LockAll(ctx, tx, edgeKeys, append(opts, advisory.Timeout(time.Hour))...)
	},
	"TryLockAll": func(ctx context.Context, tx *sql.Tx, opts ...advisory.Option) error {
		_, err := advisory.TryLockAll(ctx, tx, edgeKeys, opts...)
		return err
	},
}

func TestStandby(t *testing.T) {
	t.Parallel()
	server.SkipIfExternal(t)
	standby := server.StartStandby(t)
	for _, driver := range pgtest.Drivers {
		t.Run(driver, func(t *testing.T) {
			db := standby.Open(t, driver)
			ctx := testContext(t)
			for name, lock := range lockCalls {
				for _, opts := range [][]advisory.Option{nil, {advisory.Shared(), advisory.AllowOldSnapshot()}} {
					// lib/pq's BEGIN is refused by a standby unless it is read-only.
					tx := begin(t, db, &sql.TxOptions{ReadOnly: true})
					err := lock(ctx, tx, opts...)
					if !errors.Is(err, advisory.ErrStandby) {
						t.Errorf("%s: %v, want ErrStandby", name, err)
					}
					assertDriverError(t, err, "22P02")
					must(t, tx.Rollback())
				}
			}
			for name, opts := range doVariants {
				for _, opts := range [][]advisory.DoOption{opts, append([]advisory.DoOption{advisory.ReadOnly()}, opts...)} {
					if err := advisory.Do(ctx, db, advisory.ID(1), notRun(t), opts...); !errors.Is(err, advisory.ErrStandby) {
						t.Errorf("Do, %s: %v, want ErrStandby", name, err)
					}
					if _, err := advisory.TryDo(ctx, db, advisory.ID(1), notRun(t), opts...); !errors.Is(err, advisory.ErrStandby) {
						t.Errorf("TryDo, %s: %v, want ErrStandby", name, err)
					}
				}
			}
			assertClean(t, db)
		})
	}
}

// A pool whose server becomes a standby after the first Do (here: whose connections go to another server) is refused just the same,
// although the later statements check less.
func TestStandbyAfterFailover(t *testing.T) {
	t.Parallel()
	server.SkipIfExternal(t)
	standby := server.StartStandby(t)
	for _, driver := range pgtest.Drivers {
		t.Run(driver, func(t *testing.T) {
			proxy := startProxy(t, server.DSN())
			db := open(t, driver, proxy.dsn)
			nothing := func(context.Context, *sql.Tx) error { return nil }
			for range 2 {
				must(t, advisory.Do(testContext(t), db, advisory.ID(1), nothing))
			}
			proxy.redirect(standby.DSN())
			for _, opts := range [][]advisory.DoOption{nil, {advisory.ReadOnly()}, {advisory.Timeout(time.Hour)}} {
				eventually(t, "the pool has noticed", func() bool {
					err := advisory.Do(testContext(t), db, advisory.ID(1), nothing, opts...)
					if err == nil {
						t.Fatal("Do went through on a standby")
					}
					return errors.Is(err, advisory.ErrStandby)
				})
				if _, err := advisory.TryDo(testContext(t), db, advisory.ID(1), nothing, opts...); !errors.Is(err, advisory.ErrStandby) {
					t.Errorf("TryDo: %v, want ErrStandby", err)
				}
			}
		})
	}
}

func TestSnapshot(t *testing.T) {
	eachDriver(t, func(t *testing.T, db *sql.DB) {
		ctx := testContext(t)
		for _, level := range []sql.IsolationLevel{sql.LevelRepeatableRead, sql.LevelSerializable} {
			for name, lock := range lockCalls {
				tx := begin(t, db, &sql.TxOptions{Isolation: level})
				err := lock(ctx, tx)
				if !errors.Is(err, advisory.ErrSnapshot) {
					t.Errorf("%s at %v: %v, want ErrSnapshot", name, level, err)
				}
				assertDriverError(t, err, "22P02")
				must(t, tx.Rollback())

				tx = begin(t, db, &sql.TxOptions{Isolation: level})
				must(t, lock(ctx, tx, advisory.AllowOldSnapshot()))
				if len(locks(t, db)) == 0 {
					t.Errorf("%s at %v with AllowOldSnapshot took nothing", name, level)
				}
				must(t, tx.Rollback())
			}
		}
		for _, level := range []sql.IsolationLevel{sql.LevelReadCommitted, sql.LevelReadUncommitted} {
			for _, lock := range lockCalls {
				tx := begin(t, db, &sql.TxOptions{Isolation: level})
				must(t, lock(ctx, tx))
				must(t, tx.Rollback())
			}
		}
		assertClean(t, db)
	})
}

// Do runs at READ COMMITTED. Where the server's default is another level it asks, the first time already.
func TestDoAsksForTheLevel(t *testing.T) {
	eachDriver(t, func(t *testing.T, db *sql.DB) {
		ctx := testContext(t)
		if _, err := db.ExecContext(ctx, `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = serializable', current_database()); END $$`); err != nil {
			t.Fatal(err)
		}
		db.SetMaxIdleConns(0) // new sessions only
		for range 2 {
			if err := advisory.Do(ctx, db, advisory.ID(1), notRun(t)); !errors.Is(err, advisory.ErrSnapshot) {
				t.Errorf("Do: %v, want ErrSnapshot", err)
			}
		}
		for want, opt := range map[string]advisory.DoOption{
			"serializable":    advisory.AllowOldSnapshot(),
			"read committed":  advisory.Isolation(sql.LevelReadCommitted),
			"repeatable read": advisory.Isolation(sql.LevelRepeatableRead),
		} {
			for range 2 {
				err := advisory.Do(ctx, db, advisory.ID(1), func(ctx context.Context, tx *sql.Tx) error {
					if got := show(t, tx, "transaction_isolation"); got != want {
						t.Errorf("runs at %q, want %q", got, want)
					}
					return nil
				}, opt)
				must(t, err)
			}
		}
	})
}

// Two sessions take two keys in opposite order: the server breaks the deadlock, and the victim is told what it asked for.
func TestDeadlock(t *testing.T) {
	eachDriver(t, func(t *testing.T, db *sql.DB) {
		ctx := testContext(t)
		first, second := advisory.ID(1), []advisory.Key{advisory.Pair(2, 2), advisory.ID(2)}
		a, b := begin(t, db, nil), begin(t, db, nil)
		run(t, a, "SET LOCAL deadlock_timeout = '1h'") // so that b is the victim
		run(t, b, "SET LOCAL deadlock_timeout = '10ms'")
		must(t, advisory.Lock(ctx, a, first))
		must(t, advisory.LockAll(ctx, b, second))
		done := make(chan error, 1)
		go func() { done <- advisory.LockAll(ctx, a, second) }()
		eventually(t, "a waits", func() bool { return waiting(t, db) })
		err := advisory.Lock(ctx, b, first)
		e, ok := errors.AsType[*advisory.DeadlockError](err)
		if !ok {
			t.Fatalf("b: %v, want a DeadlockError", err)
		}
		if diff := cmp.Diff([]advisory.Key{first}, e.Keys, compareKeys); diff != "" {
			t.Errorf("keys (-want +got):\n%s", diff)
		}
		assertDriverError(t, err, "40P01")
		must(t, b.Rollback())
		must(t, <-done)
	})
}

func TestErrorsNameTheKeys(t *testing.T) {
	eachDriver(t, func(t *testing.T, db *sql.DB) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		tx := begin(t, db, nil)
		for want, err := range map[string]error{
			"advisory: Lock 7:-3: ":                         advisory.Lock(ctx, tx, advisory.Pair(7, -3)),
			"advisory: LockAll 1, 2, 3: ":                   advisory.LockAll(ctx, tx, []advisory.Key{advisory.ID(3), advisory.ID(1), advisory.ID(2), advisory.ID(1)}),
			"advisory: LockAll 0, 1, 2, 3, 4 and 15 more: ": advisory.LockAll(ctx, tx, numbers(20)),
			"advisory: Do 42: ":                             advisory.Do(ctx, db, advisory.ID(42), notRun(t)),
			"advisory: Do 43: ":                             advisory.Do(ctx, db, advisory.ID(43), notRun(t), advisory.Isolation(sql.LevelSerializable)),
		} {
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%v, want it to begin with %q", err, want)
			}
		}
	})
}

func numbers(n int) []advisory.Key {
	keys := make([]advisory.Key, n)
	for i := range keys {
		keys[i] = advisory.ID(int64(i))
	}
	return keys
}
