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

// BenchmarkLease compares a lease that is free, acquired and released, with a session-level lock by hand on a pinned connection, and a fenced transaction with a plain one.
func BenchmarkLease(b *testing.B) {
	benchDrivers(b, func(b *testing.B, ctx context.Context, db *sql.DB) {
		db.SetMaxOpenConns(0)
		conn, err := db.Conn(ctx)
		must(b, err)
		defer conn.Close()
		locker := newLocker(b, db)
		keep := acquire(b, locker, advisory.ID(-1))
		n := int64(0)
		nothing := func(context.Context, *sql.Tx) error { return nil }
		contend(b, []contender{
			{"hand-written lock and unlock with $1", func() error {
				n++
				if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock($1)", n); err != nil {
					return err
				}
				var ok bool
				return conn.QueryRowContext(ctx, "SELECT pg_advisory_unlock($1)", n).Scan(&ok)
			}},
			{"Acquire and Release", func() error {
				n++
				lease, err := locker.Acquire(ctx, advisory.ID(n))
				if err != nil {
					return err
				}
				return lease.Release(ctx)
			}},
			{"Do, for comparison", func() error { n++; return advisory.Do(ctx, db, advisory.ID(n), nothing) }},
			{"Lease.Do", func() error { return keep.Do(ctx, db, nothing) }},
		})
		must(b, keep.Release(ctx))
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
