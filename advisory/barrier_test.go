package advisory_test

import (
	"database/sql"
	"errors"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/pgadvisory/pgadvisory/advisory"
	"github.com/pgadvisory/pgadvisory/advisory/pgtest"
)

// acquiring calls Acquire in a goroutine, and returns when it has got the lock on the server, which is before the barrier.
func acquiring(t testing.TB, db *sql.DB, locker *advisory.Locker, key advisory.Key, opts ...advisory.Option) chan *advisory.Lease {
	t.Helper()
	got := make(chan *advisory.Lease, 1)
	go func() {
		lease, err := locker.Acquire(testContext(t), key, opts...)
		if err != nil {
			t.Error(err)
		}
		got <- lease
	}()
	eventually(t, "the next holder has the lock", func() bool { return len(leaseKeys(t, db, key)) == 1 })
	return got
}

// assertWaits checks that Acquire does not return while the server answers many other statements.
func assertWaits(t testing.TB, db *sql.DB, next chan *advisory.Lease) {
	t.Helper()
	for range 50 {
		locks(t, db)
		select {
		case <-next:
			t.Fatal("the next holder has started before the fenced transaction has ended")
		default:
		}
	}
}

// A new holder starts after the fenced transactions of the one before have committed, and sees what they wrote.
func TestFenceHoldsUpTheNext(t *testing.T) {
	twoPools(t, func(t *testing.T, db, other *sql.DB) {
		ctx := testContext(t)
		createTable(t, db, "done (n int)")
		first, second := newLocker(t, db, advisory.TTL(time.Hour)), newLocker(t, other, advisory.TTL(time.Hour))
		key := advisory.ID(1)
		for _, level := range []sql.IsolationLevel{sql.LevelReadCommitted, sql.LevelSerializable} {
			lease := acquire(t, first, key)
			tx := begin(t, db, &sql.TxOptions{Isolation: level})
			must(t, lease.Fence(ctx, tx))
			run(t, tx, "SAVEPOINT later")
			must(t, insert(ctx, tx))
			run(t, tx, "ROLLBACK TO later") // frees nothing that was locked before it
			must(t, insert(ctx, tx))
			lose(t, other, lease)

			if _, err := second.TryAcquire(ctx, key); !errors.Is(err, advisory.ErrNotAcquired) {
				t.Errorf("TryAcquire: %v", err)
			}
			if _, err := second.Acquire(ctx, key, advisory.Timeout(50*time.Millisecond)); !errors.Is(err, advisory.ErrTimeout) {
				t.Errorf("Acquire with Timeout: %v", err)
			}
			eventually(t, "the lock is free again", func() bool { return len(leaseKeys(t, db, key)) == 0 })
			next := acquiring(t, db, second, key)
			assertWaits(t, other, next)
			must(t, tx.Commit())
			holder := <-next
			if n := count(t, other, "done"); n != 1 {
				t.Errorf("the next holder sees %d rows, want 1", n)
			}
			must(t, holder.Release(ctx))
			if _, err := db.ExecContext(ctx, "TRUNCATE done"); err != nil {
				t.Fatal(err)
			}
			lease.Release(ctx)
			first.Close() // an error or not: Release has found out that the session is gone
			first = newLocker(t, db, advisory.TTL(time.Hour))
		}
		must(t, second.Close())
		assertClean(t, other)
	})
}

// Fenced transactions that hang are ended: one that idles by its own timeout, one that works or waits by the next holder.
func TestFenceEscalates(t *testing.T) {
	twoPools(t, func(t *testing.T, db, other *sql.DB) {
		ctx := testContext(t)
		const ttl = time.Second
		for name, c := range map[string]struct {
			opts       []advisory.LockerOption
			hang       func(tx *sql.Tx, key advisory.Key) error
			terminated bool
		}{
			"idle": {nil, func(tx *sql.Tx, _ advisory.Key) error { return nil }, false},
			"idle without its timeout": {nil, func(tx *sql.Tx, _ advisory.Key) error {
				_, err := tx.ExecContext(ctx, "SET LOCAL idle_in_transaction_session_timeout = 0")
				return err
			}, true},
			"sleeps": {nil, func(tx *sql.Tx, _ advisory.Key) error {
				_, err := tx.ExecContext(ctx, "SELECT pg_sleep(3600)")
				return err
			}, false},
			"waits for the lease's own key": {[]advisory.LockerOption{advisory.PlainKeys()}, func(tx *sql.Tx, key advisory.Key) error {
				return advisory.Lock(ctx, tx, key)
			}, false},
		} {
			t.Run(name, func(t *testing.T) {
				var mu sync.Mutex
				var escalated, terminated int
				opts := append(c.opts, advisory.TTL(ttl), advisory.Hooks{Escalated: func(_ advisory.Key, _ int, t bool) {
					mu.Lock()
					defer mu.Unlock()
					escalated++
					if t {
						terminated++
					}
				}})
				first, second := newLocker(t, db, opts...), newLocker(t, other, opts...)
				key := advisory.Name(name)
				lease := acquire(t, first, key)
				tx := begin(t, db, nil)
				must(t, lease.Fence(ctx, tx))
				hung := make(chan error, 1)
				go func() { hung <- c.hang(tx, key) }()
				if name == "sleeps" || c.opts != nil {
					eventually(t, "it hangs", func() bool {
						return count(t, other, "pg_stat_activity WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid()") > 0
					})
				} else {
					must(t, <-hung)
					hung <- nil
				}
				start := time.Now()
				if c.opts == nil {
					lose(t, other, lease)
				} else {
					must(t, lease.Release(ctx)) // the transaction gets the lock at once, and has it until it ends
					must(t, <-hung)
					hung <- nil
				}
				next := acquire(t, second, key)
				t.Logf("next holder after %v", time.Since(start))
				<-hung
				if err := tx.Commit(); err == nil {
					t.Error("the transaction has committed after the next holder started")
				}
				mu.Lock()
				if c.opts == nil && (escalated == 0 || c.terminated && terminated == 0) {
					t.Errorf("escalated %d times, terminated %d times", escalated, terminated)
				}
				mu.Unlock()
				must(t, next.Release(ctx))
			})
		}
	})
}

// Shared holders have nothing to wait for in each other's fenced transactions; an exclusive one has.
func TestFenceShared(t *testing.T) {
	twoPools(t, func(t *testing.T, db, other *sql.DB) {
		ctx := testContext(t)
		first, second := newLocker(t, db), newLocker(t, other)
		key := advisory.ID(1)
		lease := acquire(t, first, key, advisory.Shared())
		tx := begin(t, db, nil)
		must(t, lease.Fence(ctx, tx))
		must(t, acquire(t, second, key, advisory.Shared()).Release(ctx))
		must(t, lease.Release(ctx))
		next := acquiring(t, db, second, key)
		assertWaits(t, other, next)
		must(t, tx.Commit())
		must(t, (<-next).Release(ctx))
	})
}

// The next holder of the same locker, in the same session, waits for what the one before has fenced as any other does.
func TestFenceSameLocker(t *testing.T) {
	eachDriver(t, func(t *testing.T, db *sql.DB) {
		ctx := testContext(t)
		locker := newLocker(t, db)
		key := advisory.ID(1)
		lease := acquire(t, locker, key)
		tx := begin(t, db, nil)
		must(t, lease.Fence(ctx, tx))
		must(t, lease.Release(ctx))
		if _, err := locker.TryAcquire(ctx, key); !errors.Is(err, advisory.ErrNotAcquired) {
			t.Errorf("TryAcquire: %v", err)
		}
		if _, err := locker.Acquire(ctx, key, advisory.Timeout(30*time.Millisecond)); !errors.Is(err, advisory.ErrTimeout) {
			t.Errorf("Acquire: %v", err)
		}
		must(t, tx.Commit())
		next := acquire(t, locker, key)
		// The one before is over, although the same session has the lock.
		if err := lease.Do(ctx, db, notRun(t)); !errors.Is(err, advisory.ErrReleased) {
			t.Errorf("Do of the lease before: %v", err)
		}
		must(t, next.Release(ctx))
		if s := locker.Stats(); s.Opened != 1 || s.Discarded != 0 {
			t.Errorf("stats: %+v", s)
		}
	})
}

// A locker whose role may not end the fenced transaction says so.
func TestFenceEscalationWithoutPrivilege(t *testing.T) {
	for _, driver := range pgtest.Drivers {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			ctx := testContext(t)
			database := server.Database(t)
			db := database.Open(t, driver)
			role := "powerless_" + driver
			if _, err := db.ExecContext(ctx, "CREATE ROLE "+role+" LOGIN"); err != nil {
				t.Fatal(err)
			}
			u, err := url.Parse(database.DSN())
			must(t, err)
			u.User = url.User(role)
			ordinary := open(t, driver, u.String())
			lease := acquire(t, newLocker(t, db), advisory.ID(1))
			tx := begin(t, db, nil)
			must(t, lease.Fence(ctx, tx))
			must(t, lease.Release(ctx))
			locker := newLocker(t, ordinary, advisory.TTL(time.Second))
			_, err = locker.Acquire(ctx, advisory.ID(1), advisory.Timeout(2*time.Second))
			if !errors.Is(err, advisory.ErrTimeout) || sqlState(err) != "42501" {
				t.Errorf("%v, want ErrTimeout and 42501", err)
			}
			if s := locker.Stats(); s.Opened != 1 || s.Lost != 0 {
				t.Errorf("stats: %+v", s)
			}
			must(t, tx.Commit())
			must(t, acquire(t, locker, advisory.ID(1)).Release(ctx))
			must(t, locker.Close())
			must(t, ordinary.Close())
			if _, err := db.ExecContext(ctx, "DROP ROLE "+role); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// When the network falls silent with a fenced transaction under way, the server ends both in time, and the transaction does not commit.
func TestFenceInSilence(t *testing.T) {
	for _, driver := range pgtest.Drivers {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			ctx := testContext(t)
			database := server.Database(t)
			direct := database.Open(t, driver)
			createTable(t, direct, "done (n int)")
			p := startProxy(t, database.DSN())
			cut := open(t, driver, p.dsn)
			const ttl = time.Second
			lease := acquire(t, newLocker(t, cut, advisory.TTL(ttl)), advisory.ID(1))
			tx := begin(t, cut, nil)
			must(t, lease.Fence(ctx, tx))
			must(t, insert(ctx, tx))
			p.freeze()
			start := time.Now()
			next := acquire(t, newLocker(t, direct, advisory.TTL(ttl)), advisory.ID(1))
			t.Logf("next holder after %v, TTL %v", time.Since(start), ttl)
			if lease.Err() == nil {
				t.Error("the holder that was cut off does not know it")
			}
			p.thaw()
			if err := tx.Commit(); err == nil {
				t.Error("the fenced transaction has committed")
			}
			if n := count(t, direct, "done"); n != 0 {
				t.Errorf("%d rows, want none", n)
			}
			must(t, next.Release(ctx))
		})
	}
}
