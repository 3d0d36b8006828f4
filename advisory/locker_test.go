package advisory_test

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pgadvisory/pgadvisory/advisory"
	"github.com/pgadvisory/pgadvisory/advisory/pgtest"
)

// newLocker returns a locker that is closed when t ends.
func newLocker(t testing.TB, db *sql.DB, opts ...advisory.LockerOption) *advisory.Locker {
	locker := advisory.NewLocker(db, opts...)
	t.Cleanup(func() {
		if err := locker.Close(); err != nil && !t.Failed() {
			t.Logf("Close: %v", err) // staged faults end like that, too
		}
	})
	return locker
}

func acquire(t testing.TB, locker *advisory.Locker, key advisory.Key, opts ...advisory.Option) *advisory.Lease {
	t.Helper()
	lease, err := locker.Acquire(testContext(t), key, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

// leaseKeys returns which of the keys are held on the server by lockers.
func leaseKeys(t testing.TB, db *sql.DB, keys ...advisory.Key) (held []advisory.Key) {
	t.Helper()
	on := make(map[advisory.Key]bool)
	for _, key := range keysOf(locks(t, db)) {
		on[key] = true
	}
	for _, key := range keys {
		if on[advisory.LeaseKey(key)] {
			held = append(held, key)
		}
	}
	return held
}

// twoPools returns two pools on one database, as two processes have.
func twoPools(t *testing.T, test func(t *testing.T, a, b *sql.DB)) {
	t.Helper()
	for _, driver := range pgtest.Drivers {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			database := server.Database(t)
			test(t, database.Open(t, driver), database.Open(t, driver))
		})
	}
}

func TestLease(t *testing.T) {
	twoPools(t, func(t *testing.T, db, other *sql.DB) {
		ctx := testContext(t)
		// Without waits on the server, which may have the lock for a moment after their caller has left.
		a, b := newLocker(t, db, advisory.Waiters(0)), newLocker(t, other, advisory.Waiters(0))
		key := advisory.Pair(-3, 7)
		lease := acquire(t, a, key)
		if got := leaseKeys(t, other, key, advisory.ID(0)); !cmp.Equal(got, []advisory.Key{key}, compareKeys) {
			t.Errorf("held on the server: %v", got)
		}
		if lease.Key() != key || lease.Err() != nil || lease.Context().Err() != nil || lease.Shared() {
			t.Errorf("key %v, shared %v, err %v, ctx %v", lease.Key(), lease.Shared(), lease.Err(), lease.Context().Err())
		}
		for name, locker := range map[string]*advisory.Locker{"same locker": a, "other locker": b} {
			for _, opts := range [][]advisory.Option{nil, {advisory.Shared()}, {advisory.Timeout(20 * time.Millisecond)}} {
				if _, err := locker.TryAcquire(ctx, key, opts...); !errors.Is(err, advisory.ErrNotAcquired) {
					t.Errorf("TryAcquire of the %s: %v", name, err)
				}
			}
			if _, err := locker.Acquire(ctx, key, advisory.Timeout(20*time.Millisecond)); !errors.Is(err, advisory.ErrTimeout) {
				t.Errorf("Acquire with Timeout of the %s: %v", name, err)
			}
		}
		must(t, lease.Release(ctx))
		must(t, lease.Release(ctx))
		if !errors.Is(lease.Err(), advisory.ErrReleased) || !errors.Is(context.Cause(lease.Context()), advisory.ErrReleased) || lease.Context().Err() == nil {
			t.Errorf("after Release: err %v, cause %v", lease.Err(), context.Cause(lease.Context()))
		}
		if got := leaseKeys(t, other, key); got != nil {
			t.Errorf("held after Release: %v", got)
		}
		lease, err := b.TryAcquire(ctx, key)
		must(t, err)
		must(t, lease.Release(ctx))
		for _, locker := range []*advisory.Locker{a, b} {
			must(t, locker.Close())
			must(t, locker.Close())
			if _, err := locker.Acquire(ctx, key); !errors.Is(err, advisory.ErrClosed) {
				t.Errorf("Acquire after Close: %v", err)
			}
			if s := locker.Stats(); s.Discarded != 0 || s.Sessions != 0 || s.Leases != 0 || s.Opened != 1 {
				t.Errorf("stats: %+v", s)
			}
		}
		assertClean(t, db)
		assertClean(t, other)
	})
}

func TestLeaseShared(t *testing.T) {
	twoPools(t, func(t *testing.T, db, other *sql.DB) {
		ctx := testContext(t)
		a, b := newLocker(t, db), newLocker(t, other)
		key := advisory.ID(1)
		leases := []*advisory.Lease{
			acquire(t, a, key, advisory.Shared()), acquire(t, a, key, advisory.Shared()), acquire(t, b, key, advisory.Shared()),
		}
		for i, lease := range leases {
			for _, locker := range []*advisory.Locker{a, b} {
				if _, err := locker.TryAcquire(ctx, key); !errors.Is(err, advisory.ErrNotAcquired) {
					t.Errorf("exclusive beside %d shared: %v", len(leases)-i, err)
				}
			}
			must(t, lease.Release(ctx))
		}
		lease, err := b.TryAcquire(ctx, key)
		must(t, err)
		if _, err := a.TryAcquire(ctx, key, advisory.Shared()); !errors.Is(err, advisory.ErrNotAcquired) {
			t.Errorf("shared beside exclusive: %v", err)
		}
		must(t, lease.Release(ctx))
	})
}

// In one locker callers get a key in the order in which they came, and a shared one does not overtake an exclusive one.
func TestLeaseOrder(t *testing.T) {
	eachDriver(t, func(t *testing.T, db *sql.DB) {
		ctx := testContext(t)
		locker := newLocker(t, db)
		key := advisory.ID(1)
		first := acquire(t, locker, key, advisory.Shared())
		var order []int
		var mu sync.Mutex
		var group sync.WaitGroup
		for i := range 6 {
			group.Go(func() {
				var opts []advisory.Option
				if i == 2 || i == 3 {
					opts = append(opts, advisory.Shared())
				}
				lease, err := locker.Acquire(ctx, key, opts...)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				order = append(order, i/2)
				mu.Unlock()
				if err := lease.Release(ctx); err != nil {
					t.Error(err)
				}
			})
			eventually(t, "it waits", func() bool { return locker.Stats().Waiting == i+1 })
			runtime.Gosched()
		}
		must(t, first.Release(ctx))
		group.Wait()
		if len(order) != 6 || order[2] != 1 || order[3] != 1 {
			t.Errorf("order of pairs: %v, want the second pair in the middle", order)
		}
	})
}

// 64 goroutines and 3 lockers on 5 keys never see two holders, and the server never has a lock twice.
func TestLeasesExclude(t *testing.T) {
	for _, driver := range pgtest.Drivers {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			ctx := testContext(t)
			database := server.Database(t)
			var lockers []*advisory.Locker
			for range 3 {
				lockers = append(lockers, newLocker(t, database.Open(t, driver)))
			}
			var inside [5]atomic.Int64 // 1000 for an exclusive holder, 1 for a shared one
			var group sync.WaitGroup
			for worker := range 64 {
				group.Go(func() {
					for i := range 5 {
						n := rand.N(len(inside))
						weight := int64(1000)
						var opts []advisory.Option
						if (worker+i)%4 == 0 {
							weight, opts = 1, append(opts, advisory.Shared())
						}
						lease, err := lockers[worker%3].Acquire(ctx, advisory.ID(int64(n)), opts...)
						if err != nil {
							t.Error(err)
							return
						}
						if now := inside[n].Add(weight); now > 1000 || weight == 1000 && now != 1000 {
							t.Errorf("key %d: holders %d", n, now)
						}
						runtime.Gosched()
						inside[n].Add(-weight)
						if err := lease.Release(ctx); err != nil {
							t.Error(err)
						}
					}
				})
			}
			group.Wait()
			for _, locker := range lockers {
				must(t, locker.Close())
				if s := locker.Stats(); s.Discarded != 0 || s.Lost != 0 || s.Acquired != s.Released {
					t.Errorf("stats: %+v", s)
				}
			}
			assertClean(t, database.Open(t, driver))
		})
	}
}

// A caller whose ctx ends takes nothing with it: neither the session nor what others hold on it.
func TestLeaseCancelledAnywhere(t *testing.T) {
	runs := 2000
	if testing.Short() {
		runs = 200
	}
	twoPools(t, func(t *testing.T, db, other *sql.DB) {
		locker := newLocker(t, db)
		rival := newLocker(t, other)
		keep := acquire(t, locker, advisory.ID(-1))
		var group sync.WaitGroup
		var left atomic.Int64
		for worker := range 4 {
			group.Go(func() {
				for i := worker; i < runs; i += 4 {
					ctx, cancel := context.WithTimeout(context.Background(), rand.N(20*time.Microsecond<<rand.N(9)))
					key := advisory.ID(int64(i % 3))
					l := locker
					if i%16 == 0 {
						l = rival
					}
					lease, err := l.Acquire(ctx, key)
					switch {
					case err == nil:
						if err := lease.Release(ctx); err != nil {
							t.Error(err)
						}
					case errors.Is(err, context.DeadlineExceeded):
						left.Add(1)
					default:
						t.Errorf("run %d: %v, want the error of ctx", i, err)
					}
					cancel()
				}
			})
		}
		group.Wait()
		if left.Load() == 0 {
			t.Error("none was cancelled")
		}
		must(t, keep.Err())
		eventually(t, "only what is kept is held", func() bool {
			return len(leaseKeys(t, other, advisory.ID(0), advisory.ID(1), advisory.ID(2))) == 0
		})
		must(t, keep.Release(testContext(t)))
		if s := locker.Stats(); s.Discarded != 0 || s.Lost != 0 || s.Opened != 1 {
			t.Errorf("stats: %+v", s)
		}
		must(t, locker.Close())
		must(t, rival.Close())
		assertClean(t, db)
		assertClean(t, other)
	})
}

// Release works on a ctx that has ended, and Close releases what is left.
func TestLeaseReleaseAfterEnd(t *testing.T) {
	eachDriver(t, func(t *testing.T, db *sql.DB) {
		locker := newLocker(t, db)
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		key := advisory.ID(1)
		must(t, acquire(t, locker, key).Release(ended))
		if got := leaseKeys(t, db, key); got != nil {
			t.Errorf("held after Release: %v", got)
		}
		if _, err := locker.Acquire(ended, key); !errors.Is(err, context.Canceled) {
			t.Errorf("Acquire: %v", err)
		}
		lease := acquire(t, locker, key)
		result := make(chan error, 1)
		go func() {
			_, err := locker.Acquire(testContext(t), key)
			result <- err
		}()
		eventually(t, "it waits", func() bool { return locker.Stats().Waiting == 1 })
		must(t, locker.Close())
		if err := <-result; !errors.Is(err, advisory.ErrClosed) {
			t.Errorf("Acquire during Close: %v", err)
		}
		if !errors.Is(lease.Err(), advisory.ErrClosed) || !errors.Is(context.Cause(lease.Context()), advisory.ErrClosed) {
			t.Errorf("after Close: %v", lease.Err())
		}
		must(t, lease.Release(testContext(t)))
		assertClean(t, db)
	})
}

// What derives from a lease's context ends with it, and finds the values of Acquire's.
func TestLeaseContext(t *testing.T) {
	eachDriver(t, func(t *testing.T, db *sql.DB) {
		type name struct{}
		locker := newLocker(t, db)
		ctx, cancel := context.WithCancel(context.WithValue(testContext(t), name{}, "value"))
		lease, err := locker.Acquire(ctx, advisory.ID(1))
		must(t, err)
		cancel()
		derived, stop := context.WithTimeout(lease.Context(), time.Hour)
		defer stop()
		if derived.Err() != nil || derived.Value(name{}) != "value" {
			t.Errorf("err %v, value %v", derived.Err(), derived.Value(name{}))
		}
		must(t, lease.Release(testContext(t)))
		<-derived.Done()
		if !errors.Is(context.Cause(derived), advisory.ErrReleased) {
			t.Errorf("cause: %v", context.Cause(derived))
		}
	})
}
