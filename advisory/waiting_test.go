package advisory_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/pgadvisory/pgadvisory/advisory"
	"github.com/pgadvisory/pgadvisory/advisory/pgtest"
)

// One who waits for long holds back neither vacuum nor CREATE INDEX CONCURRENTLY: no statement of it has its snapshot for a second.
func TestAcquireHoldsNothingBack(t *testing.T) {
	twoPools(t, func(t *testing.T, db, other *sql.DB) {
		ctx := testContext(t)
		createTable(t, db, "busy (n int)")
		holder, waiter := newLocker(t, db), newLocker(t, other)
		key := advisory.ID(1)
		lease := acquire(t, holder, key)
		done := make(chan struct{})
		var group sync.WaitGroup
		group.Go(func() {
			defer close(done)
			got, err := waiter.Acquire(ctx, key)
			if err != nil {
				t.Error(err)
				return
			}
			if err := got.Release(ctx); err != nil {
				t.Error(err)
			}
		})
		eventually(t, "a statement waits for the lock", func() bool { return waiting(t, db) })
		xmins := make(map[string]bool)
		for i := range 3 {
			if _, err := db.ExecContext(ctx, fmt.Sprintf("CREATE INDEX CONCURRENTLY busy_%d ON busy (n)", i)); err != nil {
				t.Error(err)
			}
		}
		// Each wait has a transaction of its own, none of which gets old.
		eventually(t, "there were several waits", func() bool {
			var start sql.NullString
			var old bool
			must(t, db.QueryRowContext(ctx, `SELECT max(xact_start)::text, coalesce(max(now() - xact_start) > '1 s', false) FROM pg_stat_activity
				WHERE datname = current_database() AND backend_xmin IS NOT NULL AND pid <> pg_backend_pid()`).Scan(&start, &old))
			if old {
				t.Error("a snapshot is older than a second")
			}
			if start.Valid {
				xmins[start.String] = true
			}
			return len(xmins) > 3
		})
		select {
		case <-done:
			t.Error("the waiter did not wait")
		default:
		}
		must(t, lease.Release(ctx))
		group.Wait()
		must(t, holder.Close())
		must(t, waiter.Close())
		assertClean(t, db)
		assertClean(t, other)
	})
}

// Where the pool has no connection to spare, there is only polling.
func TestAcquirePolls(t *testing.T) {
	twoPools(t, func(t *testing.T, db, other *sql.DB) {
		ctx := testContext(t)
		other.SetMaxOpenConns(2)
		holder, waiter := newLocker(t, db), newLocker(t, other, advisory.Poll(time.Millisecond, 10*time.Millisecond))
		key := advisory.ID(1)
		lease := acquire(t, holder, key)
		before := waiter.Stats()
		result := make(chan error, 1)
		go func() {
			_, err := waiter.Acquire(ctx, key)
			result <- err
		}()
		eventually(t, "it waits", func() bool { return waiter.Stats().Sessions > before.Sessions })
		for range 20 {
			if waiting(t, db) {
				t.Error("a statement waits for the lock")
			}
		}
		must(t, lease.Release(ctx))
		must(t, <-result)
	})
}

// BenchmarkHandOver measures how long it takes from Release in one locker to Acquire in another, as if in two processes, at default settings.
func BenchmarkHandOver(b *testing.B) {
	for _, driver := range pgtest.Drivers {
		for _, c := range []struct {
			name    string
			waiting int
			opts    []advisory.LockerOption
		}{
			{"default", 1, nil}, {"default, 8 wait", 8, nil}, {"polling only", 1, []advisory.LockerOption{advisory.Waiters(0)}},
		} {
			b.Run(driver+"/"+c.name, func(b *testing.B) {
				database := server.Database(b)
				ctx := testContext(b)
				key := advisory.ID(1)
				type event struct {
					locker int
					lease  *advisory.Lease
					at     time.Time
				}
				got := make(chan event)
				lockers := make([]*advisory.Locker, c.waiting+1)
				wait := make([]chan bool, len(lockers))
				var group sync.WaitGroup
				for i := range lockers {
					lockers[i] = newLocker(b, database.Open(b, driver), c.opts...)
					must(b, acquire(b, lockers[i], advisory.ID(int64(100+i))).Err()) // a session, and a lease that keeps it
					wait[i] = make(chan bool, 1)
					group.Go(func() {
						for range wait[i] {
							lease, err := lockers[i].Acquire(ctx, key)
							if err != nil {
								b.Error(err)
								return
							}
							got <- event{i, lease, time.Now()}
						}
					})
					wait[i] <- true
				}
				holder := <-got
				var times []time.Duration
				for b.Loop() {
					time.Sleep(40*time.Millisecond + rand.N(20*time.Millisecond))
					released := time.Now()
					must(b, holder.lease.Release(ctx))
					next := <-got
					times = append(times, next.at.Sub(released))
					wait[holder.locker] <- true // waits, but not in the line of the locker that has the lease
					holder = next
				}
				for range lockers[1:] {
					must(b, holder.lease.Release(ctx))
					holder = <-got
				}
				must(b, holder.lease.Release(ctx))
				for _, c := range wait {
					close(c)
				}
				group.Wait()
				slices.Sort(times)
				fmt.Printf("%s: %d hand-overs, median %.2f ms, 90 %% %.2f ms, worst %.2f ms\n", b.Name(), len(times),
					float64(times[len(times)/2])/1e6, float64(times[len(times)*9/10])/1e6, float64(times[len(times)-1])/1e6)
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// BenchmarkLoss measures what follows when the session of a lease is terminated: how soon its holder knows, and how soon the next one has the lease, at default settings.
func BenchmarkLoss(b *testing.B) {
	benchDrivers(b, func(b *testing.B, ctx context.Context, db *sql.DB) {
		db.SetMaxOpenConns(0) // two lockers, a wait, and the looks at pg_locks
		first, second := newLocker(b, db), newLocker(b, db)
		key := advisory.ID(1)
		var known, taken []time.Duration
		for b.Loop() {
			lease := acquire(b, first, key)
			got := make(chan time.Time, 1)
			go func() {
				next, err := second.Acquire(ctx, key)
				got <- time.Now()
				if err != nil {
					b.Error(err)
					return
				}
				if err := next.Release(ctx); err != nil {
					b.Error(err)
				}
			}()
			eventually(b, "it waits", func() bool { return waiting(b, db) })
			start := time.Now()
			terminateHolder(b, db, key)
			<-lease.Context().Done()
			known = append(known, time.Since(start))
			taken = append(taken, (<-got).Sub(start))
			eventually(b, "it is released", func() bool { return len(leaseKeys(b, db, key)) == 0 })
		}
		for what, times := range map[string][]time.Duration{"holder knows": known, "next holder has it": taken} {
			slices.Sort(times)
			fmt.Printf("%s: %d terminated, %s after: median %.2f ms, worst %.2f ms\n", b.Name(), len(times), what,
				float64(times[len(times)/2])/1e6, float64(times[len(times)-1])/1e6)
		}
		b.ReportMetric(0, "ns/op")
	})
}
