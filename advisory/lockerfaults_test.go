package advisory_test

import (
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/pgadvisory/pgadvisory/advisory"
	"github.com/pgadvisory/pgadvisory/advisory/pgtest"
)

// A server whose lock table is full refuses a lease, and the others of the session are not touched.
func TestLeaseTooManyLocks(t *testing.T) {
	t.Parallel()
	server.SkipIfExternal(t)
	own := pgtest.Start(t, pgtest.Setting("max_locks_per_transaction", "10"), pgtest.Setting("max_connections", "20"))
	for _, driver := range pgtest.Drivers {
		t.Run(driver, func(t *testing.T) {
			ctx := testContext(t)
			db := own.Open(t, driver)
			locker := newLocker(t, db, advisory.TTL(time.Second), advisory.Waiters(0))
			keep := acquire(t, locker, advisory.ID(-1))
			tx := begin(t, db, nil)
			for i := range 100000 {
				if _, err := tx.ExecContext(ctx, fmt.Sprintf("SAVEPOINT s; SELECT pg_advisory_xact_lock(7, %d)", i)); err != nil {
					if state := sqlState(err); state != "53200" {
						t.Fatal(err)
					}
					run(t, tx, "ROLLBACK TO s")
					break
				}
			}
			if _, err := locker.Acquire(ctx, advisory.ID(1)); !errors.Is(err, advisory.ErrTooManyLocks) {
				t.Errorf("%v, want ErrTooManyLocks", err)
			}
			must(t, tx.Rollback())
			must(t, acquire(t, locker, advisory.ID(1)).Release(ctx))
			must(t, keep.Err())
			must(t, keep.Release(ctx))
			if s := locker.Stats(); s.Opened != 1 || s.Lost != 0 {
				t.Errorf("stats: %+v", s)
			}
			must(t, locker.Close())
		})
	}
}

// Somebody cancels whatever the lease's session does, again and again. Nothing is lost, and nothing is locked that nobody has.
func TestLeaseSessionIsCancelled(t *testing.T) {
	twoPools(t, func(t *testing.T, db, other *sql.DB) {
		ctx := testContext(t)
		locker := newLocker(t, db)
		keep := acquire(t, locker, advisory.ID(-1))
		stop, stopped := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(stopped)
			for {
				select {
				case <-stop:
					return
				default:
					other.ExecContext(ctx, "SELECT pg_cancel_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND pid <> pg_backend_pid()"+
						" AND database = (SELECT oid FROM pg_database WHERE datname = current_database())")
				}
			}
		}()
		for i := range 300 {
			lease, err := locker.Acquire(ctx, advisory.ID(int64(i%3)))
			if err == nil {
				err = lease.Release(ctx)
			}
			if err != nil {
				t.Logf("%d: %v", i, err)
			}
		}
		close(stop)
		<-stopped
		s := locker.Stats()
		t.Logf("stats: %+v", s)
		if lost := keep.Err() != nil; lost != (s.Opened > 1) {
			t.Errorf("lease that was kept: %v, sessions: %d", keep.Err(), s.Opened)
		}
		keep.Release(ctx)
		must(t, locker.Close())
		assertClean(t, db)
	})
}

// In a network that is silent neither Acquire with a deadline, nor Release, nor Close waits for the driver.
func TestLockerInSilence(t *testing.T) {
	for _, driver := range pgtest.Drivers {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			p := startProxy(t, server.Database(t).DSN())
			db := open(t, driver, p.dsn)
			const ttl = time.Second
			locker := newLocker(t, db, advisory.TTL(ttl))
			one, two := acquire(t, locker, advisory.ID(1)), acquire(t, locker, advisory.ID(2))
			p.freeze()
			start := time.Now()
			if err := one.Release(testContext(t)); err == nil {
				t.Error("Release was confirmed by nobody")
			}
			if waited := time.Since(start); waited > patience/2 {
				t.Errorf("Release took %v", waited)
			}
			assertLost(t, two)
			if _, err := locker.Acquire(testContext(t), advisory.ID(3), advisory.Timeout(50*time.Millisecond)); !errors.Is(err, advisory.ErrTimeout) {
				t.Errorf("Acquire: %v, want ErrTimeout", err)
			}
			start = time.Now()
			t.Logf("Close: %v", locker.Close())
			if waited := time.Since(start); waited > patience/2 {
				t.Errorf("Close took %v", waited)
			}
			p.thaw()
		})
	}
}
