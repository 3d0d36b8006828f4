package advisory_test

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"testing"
	"time"

	"github.com/pgadvisory/pgadvisory/advisory"
	"github.com/pgadvisory/pgadvisory/advisory/pgtest"
)

// lose ends a lease by ending its session, and waits until the server has freed the lock.
func lose(t testing.TB, db *sql.DB, lease *advisory.Lease) {
	t.Helper()
	terminateHolder(t, db, lease.Key())
	eventually(t, "the lock is free", func() bool { return len(leaseKeys(t, db, lease.Key())) == 0 })
}

func TestFenceCommits(t *testing.T) {
	twoPools(t, func(t *testing.T, db, other *sql.DB) {
		ctx := testContext(t)
		createTable(t, db, "done (n int)")
		locker := newLocker(t, db)
		key := advisory.Pair(4, -5)
		lease := acquire(t, locker, key)
		for _, pool := range []*sql.DB{db, other} {
			must(t, lease.Do(ctx, pool, insert))
		}
		for _, level := range []sql.IsolationLevel{sql.LevelReadCommitted, sql.LevelRepeatableRead, sql.LevelSerializable} {
			tx := begin(t, db, &sql.TxOptions{Isolation: level})
			must(t, lease.Fence(ctx, tx))
			must(t, lease.Fence(ctx, tx))
			must(t, insert(ctx, tx))
			must(t, tx.Commit())
		}
		if err := lease.Do(ctx, db, func(ctx context.Context, tx *sql.Tx) error {
			must(t, insert(ctx, tx))
			return errNoLuck
		}); err != errNoLuck {
			t.Errorf("Do: %v, want fn's error", err)
		}
		if n := count(t, db, "done"); n != 5 {
			t.Errorf("%d rows, want 5", n)
		}
		must(t, lease.Release(ctx))
		tx := begin(t, db, nil)
		if err := lease.Fence(ctx, tx); !errors.Is(err, advisory.ErrReleased) {
			t.Errorf("Fence after Release: %v", err)
		}
		if err := insert(ctx, tx); err == nil {
			t.Error("the transaction goes on after Fence has failed")
		}
		if err := lease.Do(ctx, db, insert); !errors.Is(err, advisory.ErrReleased) {
			t.Errorf("Do after Release: %v", err)
		}
		must(t, tx.Rollback())
		must(t, locker.Close())
		assertClean(t, db)
	})
}

// A fenced transaction bounds its own idle time, and leaves a smaller bound alone.
func TestFenceIdleTimeout(t *testing.T) {
	eachDriver(t, func(t *testing.T, db *sql.DB) {
		lease := acquire(t, newLocker(t, db, advisory.TTL(90*time.Second)), advisory.ID(1))
		for set, want := range map[string]string{"0": "90s", "89s": "89s", "2h": "90s", "1500": "1500ms", "30d": "90s"} {
			if set == "30d" {
				set = "20d"
			}
			tx := begin(t, db, nil)
			run(t, tx, "SET LOCAL idle_in_transaction_session_timeout = '"+set+"'")
			must(t, lease.Fence(testContext(t), tx))
			if got := show(t, tx, "idle_in_transaction_session_timeout"); got != want {
				t.Errorf("%s became %s, want %s", set, got, want)
			}
			must(t, tx.Rollback())
		}
		must(t, lease.Release(testContext(t)))
	})
}

// A lease that was lost, although its holder does not know yet, fences nothing: the server refuses, and what was written does not commit.
func TestFenceRefusesTheLost(t *testing.T) {
	twoPools(t, func(t *testing.T, db, other *sql.DB) {
		ctx := testContext(t)
		createTable(t, db, "done (n int)")
		for name, take := range map[string]func(lease *advisory.Lease){
			"nobody has it": func(*advisory.Lease) {},
			"another has it": func(lease *advisory.Lease) {
				locker := newLocker(t, other)
				acquire(t, locker, lease.Key())
			},
			"another locker of this session's role has it, shared": func(lease *advisory.Lease) {
				locker := newLocker(t, other)
				acquire(t, locker, lease.Key(), advisory.Shared())
			},
		} {
			// A heartbeat would tell; there is none so soon.
			locker := newLocker(t, db, advisory.TTL(time.Hour))
			lease := acquire(t, locker, advisory.Name(name))
			var told error
			err := lease.Do(ctx, db, func(ctx context.Context, tx *sql.Tx) error {
				must(t, insert(ctx, tx))
				told = lease.Err()
				return nil
			})
			if err != nil || told != nil {
				t.Fatalf("%s: %v, %v", name, err, told)
			}
			lose(t, other, lease)
			take(lease)
			tx := begin(t, db, nil)
			must(t, insert(ctx, tx))
			if err := lease.Fence(ctx, tx); !errors.Is(err, advisory.ErrLost) {
				t.Errorf("%s: Fence: %v, want ErrLost", name, err)
			}
			if err := tx.Commit(); err == nil && count(t, db, "done") != 1 {
				t.Errorf("%s: committed after Fence has failed", name)
			}
			if err := lease.Do(ctx, db, insert); !errors.Is(err, advisory.ErrLost) {
				t.Errorf("%s: Do: %v, want ErrLost", name, err)
			}
			if n := count(t, db, "done"); n != 1 {
				t.Errorf("%s: %d rows, want 1", name, n)
			}
			if _, err := db.ExecContext(ctx, "TRUNCATE done"); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// The check comes after the wait: a Fence that waits while the lease is lost is refused.
func TestFenceChecksAfterItsWait(t *testing.T) {
	twoPools(t, func(t *testing.T, db, other *sql.DB) {
		ctx := testContext(t)
		locker := newLocker(t, db, advisory.TTL(time.Hour))
		for i := range 5 {
			lease := acquire(t, locker, advisory.ID(int64(i)))
			gate := begin(t, other, nil)
			must(t, advisory.Lock(ctx, gate, advisory.FenceKey(lease.Key())))
			tx := begin(t, db, nil)
			result := make(chan error, 1)
			go func() { result <- lease.Fence(ctx, tx) }()
			eventually(t, "Fence waits", func() bool { return waiting(t, other) })
			lose(t, other, lease)
			must(t, gate.Rollback())
			if err := <-result; !errors.Is(err, advisory.ErrLost) {
				t.Errorf("Fence: %v, want ErrLost", err)
			}
			must(t, tx.Rollback())
			lease.Release(ctx) // so that the locker notices
		}
	})
}

// A rollback to a savepoint of before the fence frees it. Do fences again before it commits.
func TestFenceSavepoint(t *testing.T) {
	twoPools(t, func(t *testing.T, db, other *sql.DB) {
		ctx := testContext(t)
		createTable(t, db, "done (n int)")
		locker := newLocker(t, db, advisory.TTL(time.Hour))
		lease := acquire(t, locker, advisory.ID(1))
		err := lease.Do(ctx, db, func(ctx context.Context, tx *sql.Tx) error {
			if err := insert(ctx, tx); err != nil {
				return err
			}
			// As if the savepoint had been set before: the fence is gone, and then the lease.
			run(t, tx, "ROLLBACK")
			run(t, tx, "BEGIN")
			must(t, insert(ctx, tx))
			lose(t, other, lease)
			return nil
		})
		if !errors.Is(err, advisory.ErrLost) {
			t.Errorf("Do: %v, want ErrLost", err)
		}
		if n := count(t, db, "done"); n != 0 {
			t.Errorf("%d rows, want none", n)
		}
	})
}

// A role that may see little of others is fenced as well; a standby and another database are refused.
func TestFenceElsewhere(t *testing.T) {
	server.SkipIfExternal(t)
	t.Parallel()
	standby := server.StartStandby(t)
	for _, driver := range pgtest.Drivers {
		t.Run(driver, func(t *testing.T) {
			ctx := testContext(t)
			database := server.Database(t)
			db := database.Open(t, driver)
			lease := acquire(t, newLocker(t, db, advisory.TTL(time.Hour)), advisory.ID(1))

			role := "fenced_" + driver
			if _, err := db.ExecContext(ctx, "CREATE ROLE "+role+" LOGIN"); err != nil {
				t.Fatal(err)
			}
			u, err := url.Parse(database.DSN())
			must(t, err)
			u.User = url.User(role)
			ordinary := open(t, driver, u.String())
			must(t, lease.Do(ctx, ordinary, func(context.Context, *sql.Tx) error { return nil }))

			elsewhere := server.Database(t).Open(t, driver)
			if err := lease.Do(ctx, elsewhere, notRun(t)); !errors.Is(err, advisory.ErrLost) {
				t.Errorf("another database: %v, want ErrLost", err)
			}
			u, err = url.Parse(standby.DSN())
			must(t, err)
			u.Path = "/" + database.Name()
			replica := open(t, driver, u.String())
			eventually(t, "the standby has the database", func() bool { return replica.PingContext(ctx) == nil })
			tx := begin(t, replica, &sql.TxOptions{ReadOnly: true})
			if err := lease.Fence(ctx, tx); !errors.Is(err, advisory.ErrStandby) {
				t.Errorf("standby: %v, want ErrStandby", err)
			}
			must(t, tx.Rollback())

			lose(t, db, lease)
			if err := lease.Do(ctx, ordinary, notRun(t)); !errors.Is(err, advisory.ErrLost) {
				t.Errorf("lost, another role: %v, want ErrLost", err)
			}
			must(t, ordinary.Close())
			must(t, replica.Close())
			if _, err := db.ExecContext(ctx, "DROP ROLE "+role); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// Tokens grow from holder to holder, also over a crash, and stay the same for one lease.
func TestLeaseToken(t *testing.T) {
	t.Parallel()
	server.SkipIfExternal(t)
	own := pgtest.Start(t)
	for _, driver := range pgtest.Drivers {
		t.Run(driver, func(t *testing.T) {
			db := own.Open(t, driver)
			last := int64(0)
			for i := range 6 {
				locker := newLocker(t, db, advisory.TTL(time.Second))
				lease := acquire(t, locker, advisory.ID(int64(i%2)))
				for repeat := range 3 {
					token, err := lease.Token(testContext(t))
					must(t, err)
					if repeat == 0 && token <= last || repeat > 0 && token != last {
						t.Errorf("token %d after %d", token, last)
					}
					last = token
				}
				if i%2 == 0 {
					must(t, lease.Release(testContext(t)))
					if _, err := lease.Token(testContext(t)); !errors.Is(err, advisory.ErrReleased) {
						t.Errorf("Token after Release: %v", err)
					}
				} else {
					must(t, own.Kill(testContext(t)))
					must(t, own.Restart(testContext(t)))
					<-lease.Context().Done()
				}
				locker.Close()
			}
		})
	}
}

// A lease that ends while Do runs ends fn's ctx, and rolls back.
func TestFenceDoIsCutShort(t *testing.T) {
	twoPools(t, func(t *testing.T, db, other *sql.DB) {
		ctx := testContext(t)
		createTable(t, db, "done (n int)")
		for name, end := range map[string]func(*advisory.Lease) error{
			"lost": func(lease *advisory.Lease) error {
				lose(t, other, lease)
				return advisory.ErrLost
			},
			"released": func(lease *advisory.Lease) error {
				must(t, lease.Release(ctx))
				return advisory.ErrReleased
			},
		} {
			for _, result := range []error{nil, errNoLuck} {
				lease := acquire(t, newLocker(t, db, advisory.TTL(time.Second)), advisory.Name(name))
				var want error
				err := lease.Do(ctx, db, func(ctx context.Context, tx *sql.Tx) error {
					must(t, insert(ctx, tx))
					want = end(lease)
					<-ctx.Done()
					if !errors.Is(context.Cause(ctx), want) {
						t.Errorf("%s: cause %v", name, context.Cause(ctx))
					}
					return result
				})
				if !errors.Is(err, want) || result != nil && !errors.Is(err, result) {
					t.Errorf("%s: Do: %v, want %v and %v", name, err, want, result)
				}
			}
		}
		if n := count(t, db, "done"); n != 0 {
			t.Errorf("%d rows, want none", n)
		}
	})
}
