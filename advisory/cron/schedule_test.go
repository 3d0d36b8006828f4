package cron_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pgadvisory/pgadvisory/advisory"
	"github.com/pgadvisory/pgadvisory/advisory/cron"
	"github.com/pgadvisory/pgadvisory/advisory/pgtest"
)

// assertOnce checks that each tick ran exactly once.
func assertOnce(t testing.TB, db *sql.DB, ticks int) {
	t.Helper()
	rows := count(t, db, "SELECT count(*) FROM work")
	if n := count(t, db, "SELECT count(DISTINCT tick) FROM work"); n != ticks || rows != ticks {
		t.Errorf("%d ticks ran %d times, want %d once", n, rows, ticks)
	}
	if n := count(t, db, "SELECT count(*) FROM pgadvisory_cron.run WHERE state = 'succeeded' AND attempt = 1"); n != ticks {
		t.Errorf("%d first runs in the history, want %d", n, ticks)
	}
	if n := count(t, db, "SELECT count(*) FROM pgadvisory_cron.run"); n != ticks {
		t.Errorf("%d runs in the history, want %d", n, ticks)
	}
	assertClean(t, db)
}

// Many nodes in one process, on a pool that is smaller than what they want together.
func TestOneRunPerTick(t *testing.T) {
	eachDriver(t, func(t *testing.T, _ *pgtest.Database, db *sql.DB, _ string) {
		const nodes, ticks = 12, 10
		db.SetMaxOpenConns(3)
		ctx := testContext(t)
		var ran atomic.Int32
		var group sync.WaitGroup
		for node := range nodes {
			group.Go(func() {
				for i := range ticks {
					tick := noon.Add(time.Duration(i) * time.Minute)
					result, err := cron.Once(ctx, db, "job", tick, insert(tick, fmt.Sprint(node)), cron.RetryCrashed(3), cron.RetryFailed(3))
					if err != nil {
						t.Errorf("node %d, tick %d: %v", node, i, err)
					}
					if result.Outcome == cron.Ran {
						ran.Add(1)
					}
				}
			})
		}
		group.Wait()
		if ran.Load() != ticks {
			t.Errorf("%d runs", ran.Load())
		}
		assertOnce(t, db, ticks)
	})
}

// Nodes of both kinds exclude each other.
func TestOneRunPerTickMixed(t *testing.T) {
	eachDriver(t, func(t *testing.T, _ *pgtest.Database, db *sql.DB, _ string) {
		const nodes, ticks = 6, 6
		ctx := testContext(t)
		var group sync.WaitGroup
		for node := range nodes {
			group.Go(func() {
				locker := advisory.NewLocker(db)
				defer locker.Close()
				for i := range ticks {
					tick := noon.Add(time.Duration(i) * time.Minute)
					var err error
					if node%2 == 0 {
						_, err = cron.Once(ctx, db, "job", tick, insert(tick, fmt.Sprint(node)), cron.RetryCrashed(3))
					} else {
						_, err = cron.OnceLeased(ctx, locker, db, "job", tick, func(ctx context.Context, lease *advisory.Lease) error {
							return lease.Do(ctx, db, insert(tick, fmt.Sprint(node)))
						}, cron.RetryCrashed(3))
					}
					if err != nil {
						t.Errorf("node %d, tick %d: %v", node, i, err)
					}
				}
			})
		}
		group.Wait()
		assertOnce(t, db, ticks)
	})
}

// Processes of their own, which also create the tables all at the same time.
func TestProcesses(t *testing.T) {
	for _, driver := range pgtest.Drivers {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			database := server.Database(t)
			db := database.Open(t, driver)
			execute(t, db, "CREATE TABLE work (tick timestamptz NOT NULL, node text NOT NULL)")
			const nodes, ticks = 3, 15
			started := make([]*process, nodes)
			for i := range started {
				started[i] = startNode(t, fmt.Sprint(ticks), driver, database.DSN())
			}
			for _, node := range started {
				node.await(t)
			}
			for _, node := range started {
				_, err := node.stdin.Write([]byte("go\n"))
				must(t, err)
			}
			for _, node := range started {
				must(t, node.cmd.Wait())
			}
			assertOnce(t, db, ticks)
		})
	}
}

// Nodes whose clocks differ by up to ten periods, and one that comes when all is over, name the same ticks.
func TestClockSkew(t *testing.T) {
	eachDriver(t, func(t *testing.T, _ *pgtest.Database, db *sql.DB, _ string) {
		const ticks = 10
		ctx := testContext(t)
		var clock atomic.Int64 // seconds of true time since noon
		node := func(name string, skew time.Duration) error {
			for last := -1; last < ticks-1; {
				// The scheduler of a node: it fires when the node's own clock has come to the next minute, and can be seconds late.
				now := noon.Add(time.Duration(clock.Add(1)) * time.Second)
				if tick := now.Add(skew).Truncate(time.Minute); tick.After(noon.Add(time.Duration(last) * time.Minute)) {
					last++
					tick = noon.Add(time.Duration(last) * time.Minute)
					if _, err := cron.Once(ctx, db, "job", tick, insert(tick, name)); err != nil {
						return err
					}
				}
			}
			return nil
		}
		var group sync.WaitGroup
		for _, skew := range []time.Duration{-10 * time.Minute, -time.Second, 0, 30 * time.Second, 10 * time.Minute} {
			group.Go(func() {
				if err := node(skew.String(), skew+time.Duration(rand.IntN(1000))*time.Millisecond); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		must(t, node("late", 0))
		if n := count(t, db, "SELECT count(*) FROM work WHERE node = 'late'"); n != 0 {
			t.Errorf("the late node ran %d ticks", n)
		}
		assertOnce(t, db, ticks)
	})
}
