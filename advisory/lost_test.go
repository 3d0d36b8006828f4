package advisory_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/pgadvisory/pgadvisory/advisory"
	"github.com/pgadvisory/pgadvisory/advisory/pgtest"
)

// terminateHolder ends the session that holds a lease on key.
func terminateHolder(t testing.TB, db *sql.DB, key advisory.Key) {
	t.Helper()
	// A bigint key's halves are classid and objid.
	var n int
	must(t, db.QueryRowContext(testContext(t), `SELECT count(pg_terminate_backend(pid)) FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
		AND (classid::int8 << 32 | objid::int8)::text = '`+advisory.LeaseKey(key).String()+`'`).Scan(&n))
	if n != 1 {
		t.Fatalf("%d sessions terminated", n)
	}
}

func assertLost(t testing.TB, leases ...*advisory.Lease) {
	t.Helper()
	for _, lease := range leases {
		select {
		case <-lease.Context().Done():
		case <-time.After(patience):
			t.Fatal("the context of a lost lease does not end")
		}
		if !errors.Is(lease.Err(), advisory.ErrLost) || !errors.Is(context.Cause(lease.Context()), advisory.ErrLost) {
			t.Errorf("err %v, cause %v", lease.Err(), context.Cause(lease.Context()))
		}
		if err := lease.Release(testContext(t)); !errors.Is(err, advisory.ErrLost) {
			t.Errorf("Release: %v", err)
		}
	}
}

// All leases of a session that is terminated are lost, their holders are told, and the locker goes on with another session.
func TestLeaseTerminated(t *testing.T) {
	eachDriver(t, func(t *testing.T, db *sql.DB) {
		lost := make(chan error, 10)
		locker := newLocker(t, db, advisory.TTL(6*time.Second), advisory.Hooks{Lost: func(_ advisory.Key, err error) { lost <- err }})
		leases := []*advisory.Lease{acquire(t, locker, advisory.ID(1)), acquire(t, locker, advisory.ID(2)),
			acquire(t, locker, advisory.ID(3), advisory.Shared()), acquire(t, locker, advisory.ID(3), advisory.Shared())}
		waiter := make(chan *advisory.Lease)
		go func() {
			lease, err := locker.Acquire(testContext(t), advisory.ID(1))
			if err != nil {
				t.Error(err)
			}
			waiter <- lease
		}()
		eventually(t, "it waits", func() bool { return locker.Stats().Waiting == 1 })
		start := time.Now()
		terminateHolder(t, db, advisory.ID(1))
		assertLost(t, leases...)
		t.Logf("noticed after %v", time.Since(start))
		must(t, (<-waiter).Release(testContext(t)))
		for range leases {
			if err := <-lost; !errors.Is(err, advisory.ErrLost) {
				t.Errorf("hook: %v", err)
			}
		}
		if s := locker.Stats(); s.Lost != 4 || s.Opened != 2 || s.Discarded != 1 || s.Acquired != 5 || s.Released != 1 {
			t.Errorf("stats: %+v", s)
		}
		must(t, locker.Close())
		assertClean(t, db)
	})
}

// A server that restarts, or crashes and recovers, takes the leases with it. The locker works again as soon as the server does, although the pool is full of dead connections.
func TestLeaseServerEnds(t *testing.T) {
	t.Parallel()
	server.SkipIfExternal(t)
	own := pgtest.Start(t)
	for _, driver := range pgtest.Drivers {
		for name, end := range map[string]func(context.Context) error{
			"restart": own.Restart,
			"crash": func(ctx context.Context) error {
				if err := own.Kill(ctx); err != nil {
					return err
				}
				return own.Restart(ctx)
			},
		} {
			t.Run(driver+" "+name, func(t *testing.T) {
				db := own.Open(t, driver)
				db.SetMaxIdleConns(10)
				var conns []*sql.Conn
				for range 10 {
					conn, err := db.Conn(testContext(t))
					must(t, err)
					conns = append(conns, conn)
				}
				for _, conn := range conns {
					must(t, conn.Close())
				}
				locker := newLocker(t, db, advisory.TTL(2*time.Second))
				lease := acquire(t, locker, advisory.ID(1))
				must(t, end(testContext(t)))
				assertLost(t, lease)
				must(t, acquire(t, locker, advisory.ID(1)).Release(testContext(t)))
				must(t, locker.Close())
				assertClean(t, db)
			})
		}
	}
}

// Heartbeats keep a lease for longer than its TTL.
func TestLeaseOutlivesHeartbeats(t *testing.T) {
	eachDriver(t, func(t *testing.T, db *sql.DB) {
		locker := newLocker(t, db, advisory.TTL(500*time.Millisecond))
		lease := acquire(t, locker, advisory.ID(1))
		eventually(t, "it has outlived the TTL", func() bool { return locker.Stats().Heartbeats >= 6 })
		must(t, lease.Err())
		must(t, lease.Release(testContext(t)))
		if s := locker.Stats(); s.Opened != 1 || s.Lost != 0 {
			t.Errorf("stats: %+v", s)
		}
	})
}

// When the network falls silent the holder gives up before the server frees the lock, and both do within the TTL.
func TestLeaseInSilence(t *testing.T) {
	for _, driver := range pgtest.Drivers {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			database := server.Database(t)
			p := startProxy(t, database.DSN())
			db, direct := open(t, driver, p.dsn), database.Open(t, driver)
			locker := newLocker(t, db, advisory.TTL(4*time.Second))
			key := advisory.ID(1)
			lease := acquire(t, locker, key)
			p.freeze()
			start := time.Now()
			<-lease.Context().Done()
			if held := leaseKeys(t, direct, key); len(held) == 0 {
				t.Error("the server had freed the lock before the holder gave up")
			}
			gaveUp := time.Since(start)
			eventually(t, "the server frees the lock", func() bool { return len(leaseKeys(t, direct, key)) == 0 })
			t.Logf("holder gave up after %v, server freed the lock after %v", gaveUp, time.Since(start))
			if !errors.Is(lease.Err(), advisory.ErrLost) || !errors.Is(lease.Release(testContext(t)), advisory.ErrLost) {
				t.Errorf("err: %v", lease.Err())
			}
			p.thaw()
			must(t, acquire(t, locker, key).Release(testContext(t)))
			must(t, locker.Close())
		})
	}
}
