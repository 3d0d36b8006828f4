package schedulers_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/google/uuid"

	"github.com/pgadvisory/pgadvisory/advisory"
	"github.com/pgadvisory/pgadvisory/advisory/cron"
	"github.com/pgadvisory/pgadvisory/testdata/schedulers"
)

// startScheduler starts a scheduler with one job, called job, and returns what stops it.
func startScheduler(t testing.TB, definition gocron.JobDefinition, task gocron.Task, opts ...gocron.SchedulerOption) (stop func()) {
	t.Helper()
	scheduler, err := gocron.NewScheduler(opts...)
	must(t, err)
	_, err = scheduler.NewJob(definition, task, gocron.WithName("job"))
	must(t, err)
	scheduler.Start()
	stopped := false
	stop = func() {
		if !stopped {
			stopped = true
			if err := scheduler.Shutdown(); err != nil {
				t.Error(err)
			}
		}
	}
	t.Cleanup(stop)
	return stop
}

func newLocker(t testing.TB, db *sql.DB) *advisory.Locker {
	locker := advisory.NewLocker(db)
	t.Cleanup(func() {
		if err := locker.Close(); err != nil {
			t.Logf("Close: %v", err) // where a session was terminated
		}
	})
	return locker
}

// Jobs of three schedulers never overlap.
func TestGocronLocker(t *testing.T) {
	eachDriver(t, func(t *testing.T, open func() *sql.DB) {
		var inside, runs, skipped atomic.Int32
		var stops []func()
		for range 3 {
			locker := schedulers.Locker{Leases: newLocker(t, open())}
			scheduler, err := gocron.NewScheduler(gocron.WithDistributedLocker(locker))
			must(t, err)
			_, err = scheduler.NewJob(gocron.DurationJob(10*time.Millisecond), gocron.NewTask(func() {
				if n := inside.Add(1); n != 1 {
					t.Errorf("%d jobs at a time", n)
				}
				time.Sleep(5 * time.Millisecond) // so that others come meanwhile
				inside.Add(-1)
				runs.Add(1)
			}), gocron.WithName("job"), gocron.WithEventListeners(gocron.AfterLockError(func(_ uuid.UUID, _ string, err error) {
				if !errors.Is(err, advisory.ErrNotAcquired) && !errors.Is(err, context.Canceled) {
					t.Errorf("Lock: %v", err)
				}
				skipped.Add(1)
			})))
			must(t, err)
			scheduler.Start()
			stops = append(stops, func() { must(t, scheduler.Shutdown()) })
		}
		eventually(t, "runs and skips", func() bool { return runs.Load() >= 20 && skipped.Load() >= 20 })
		for _, stop := range stops {
			stop()
		}
	})
}

func TestGocronElector(t *testing.T) {
	eachDriver(t, func(t *testing.T, open func() *sql.DB) {
		ctx := testContext(t)
		db := open()
		var electors []*schedulers.Elector
		var leases []*advisory.Locker
		runs := make([]atomic.Int32, 3)
		for i := range runs {
			leases = append(leases, newLocker(t, open()))
			electors = append(electors, schedulers.NewElector(leases[i], "schedulers"))
			startScheduler(t, gocron.DurationJob(10*time.Millisecond), gocron.NewTask(func() { runs[i].Add(1) }), gocron.WithDistributedElector(electors[i]))
		}
		leader := func() (which int) {
			which = -1
			for i, locker := range leases {
				if locker.Stats().Leases == 1 {
					if which >= 0 {
						t.Errorf("%d and %d are leaders", which, i)
					}
					which = i
				}
			}
			return which
		}
		eventually(t, "a leader runs jobs", func() bool { i := leader(); return i >= 0 && runs[i].Load() >= 5 })
		first := leader()
		for i := range runs {
			if i != first && runs[i].Load() != 0 {
				t.Errorf("%d ran %d jobs beside the leader, %d", i, runs[i].Load(), first)
			}
			if err := electors[i].IsLeader(ctx); (i == first) != (err == nil) || i != first && !errors.Is(err, schedulers.ErrNotLeader) {
				t.Errorf("IsLeader of %d, while %d is the leader: %v", i, first, err)
			}
		}
		// The leader resigns.
		must(t, electors[first].Close(ctx))
		eventually(t, "another leader", func() bool { i := leader(); return i >= 0 && i != first && runs[i].Load() >= 5 })
		if err := electors[first].IsLeader(ctx); !errors.Is(err, schedulers.ErrNotLeader) {
			t.Errorf("IsLeader after Close: %v", err)
		}
		// Sessions are terminated, and somebody leads again, perhaps the same.
		second := leader()
		lost := leases[second].Stats().Lost
		terminate(t, db, advisory.Name("gocron leader", "schedulers"))
		eventually(t, "the loss is noticed", func() bool { return leases[second].Stats().Lost > lost })
		total := func() int32 { return runs[0].Load() + runs[1].Load() + runs[2].Load() }
		before := total()
		eventually(t, "jobs run again", func() bool { return leader() >= 0 && total() >= before+5 })
	})
}

// Two schedulers of gocron with the same job. The tick is the second for which it was scheduled; cron.Once sees to it that each runs once, also when one of the
// schedulers is late.
func ExampleLocker_once() {
	ctx := context.Background()
	db, err := sql.Open("pgx", server.DSN())
	if err != nil {
		panic(err)
	}
	defer db.Close()
	if err := cron.Migrate(ctx, db); err != nil {
		panic(err)
	}

	results := make(chan cron.Result, 100)
	task := func(ctx context.Context) error {
		tick := time.Now().Truncate(time.Second)
		result, err := cron.Once(ctx, db, "invoices", tick, func(ctx context.Context, tx *sql.Tx) error {
			return nil // send the invoices
		})
		results <- result
		return err
	}
	var nodes []gocron.Scheduler
	for range 2 {
		node, err := gocron.NewScheduler()
		if err != nil {
			panic(err)
		}
		if _, err := node.NewJob(gocron.CronJob("* * * * * *", true), gocron.NewTask(task)); err != nil {
			panic(err)
		}
		node.Start()
		nodes = append(nodes, node)
	}

	ran, skipped := 0, 0
	for ran == 0 || skipped == 0 {
		if result := <-results; result.Outcome == cron.Ran {
			ran++
		} else {
			skipped++
		}
	}
	for _, node := range nodes {
		if err := node.Shutdown(); err != nil {
			panic(err)
		}
	}
	fmt.Println("some ran, some were skipped:", ran > 0 && skipped > 0)

	var twice int
	err = db.QueryRow("SELECT count(*) - count(DISTINCT tick) FROM pgadvisory_cron.run WHERE job = 'invoices'").Scan(&twice)
	fmt.Println("ticks that ran twice:", twice, err)
	// Output:
	// some ran, some were skipped: true
	// ticks that ran twice: 0 <nil>
}

// Three schedulers, of which one leads and runs all jobs.
func ExampleElector() {
	db, err := sql.Open("pgx", server.DSN())
	if err != nil {
		panic(err)
	}
	defer db.Close()

	runs := make(chan int, 100)
	for i := range 3 {
		leases := advisory.NewLocker(db)
		defer leases.Close()
		elector := schedulers.NewElector(leases, "example")
		node, err := gocron.NewScheduler(gocron.WithDistributedElector(elector))
		if err != nil {
			panic(err)
		}
		defer node.Shutdown()
		job := gocron.NewTask(func() {
			select {
			case runs <- i:
			default:
			}
		})
		if _, err := node.NewJob(gocron.DurationJob(5*time.Millisecond), job); err != nil {
			panic(err)
		}
		node.Start()
	}

	leader, same := <-runs, true
	for range 20 {
		same = same && <-runs == leader
	}
	fmt.Println("one node runs all jobs:", same)
	// Output: one node runs all jobs: true
}
