package leader_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pgadvisory/pgadvisory/advisory"
	"github.com/pgadvisory/pgadvisory/advisory/leader"
	"github.com/pgadvisory/pgadvisory/advisory/pgtest"
)

// Candidates with a pool each lead in turns, and never two at a time.
func TestElection(t *testing.T) {
	eachDriver(t, func(t *testing.T, driver string, database *pgtest.Database) {
		ctx := testContext(t)
		key := advisory.Name("leader")
		const candidates, each = 5, 3
		var leading atomic.Int64
		var group sync.WaitGroup
		for i := range candidates {
			group.Go(func() {
				db := database.Open(t, driver)
				locker := newLocker(t, db)
				elector := leader.New(locker, key, leader.Rest(10*time.Millisecond))
				run, stop := context.WithCancel(ctx)
				defer stop()
				terms := uint64(0)
				err := elector.Run(run, func(ctx context.Context, term leader.Term) error {
					if n := leading.Add(1); n != 1 {
						t.Errorf("%d lead at a time", n)
					}
					defer leading.Add(-1)
					if terms++; term.Number != terms {
						t.Errorf("term %d, want %d", term.Number, terms)
					}
					if !elector.IsLeader() || elector.State() != leader.Leading || term.Lease.Err() != nil || term.Lease.Key() != key {
						t.Errorf("leader %v, %v, lease %v on %v", elector.IsLeader(), elector.State(), term.Lease.Err(), term.Lease.Key())
					}
					runtime.Gosched()
					if terms == each {
						stop()
					}
					return nil
				})
				if !errors.Is(err, context.Canceled) {
					t.Errorf("candidate %d: Run: %v", i, err)
				}
				if terms != each || elector.IsLeader() || elector.State() != leader.Stopped {
					t.Errorf("candidate %d: %d terms, leader %v, %v", i, terms, elector.IsLeader(), elector.State())
				}
				must(t, locker.Close())
				assertClean(t, db)
			})
		}
		group.Wait()
	})
}

// Electors on one locker share its session, and exclude each other where they stand for the same.
func TestElectorsShareSession(t *testing.T) {
	eachDriver(t, func(t *testing.T, driver string, database *pgtest.Database) {
		db := database.Open(t, driver)
		locker := newLocker(t, db, advisory.Waiters(0))
		var all []*candidate
		for i := range 4 {
			c := campaign(t, locker, advisory.ID(int64(i)))
			next(t, c)
			all = append(all, c)
		}
		rival := campaign(t, locker, advisory.ID(0))
		eventually(t, "the rival waits", func() bool { return locker.Stats().Waiting == 1 })
		if s := locker.Stats(); s.Sessions != 1 || s.Opened != 1 || s.Leases != 4 || rival.IsLeader() {
			t.Errorf("stats: %+v, rival %v", s, rival.State())
		}
		if n := db.Stats().InUse; n != 1 {
			t.Errorf("%d connections in use", n)
		}
		if err := all[0].stop(); !errors.Is(err, context.Canceled) {
			t.Errorf("Run: %v", err)
		}
		next(t, rival)
	})
}

// What fn returns, and how it ends otherwise, is the end of Run or of the term only.
func TestFunctionEnds(t *testing.T) {
	eachDriver(t, func(t *testing.T, driver string, database *pgtest.Database) {
		db := database.Open(t, driver)
		locker := newLocker(t, db)
		key := advisory.ID(1)
		elector := leader.New(locker, key, leader.Rest(0))
		free := func() {
			t.Helper()
			if elector.IsLeader() || elector.State() != leader.Stopped {
				t.Errorf("leader %v, %v", elector.IsLeader(), elector.State())
			}
			lease, err := locker.TryAcquire(testContext(t), key)
			must(t, err)
			must(t, lease.Release(testContext(t)))
		}

		own := errors.New("broken")
		calls := 0
		var first context.Context
		err := elector.Run(testContext(t), func(ctx context.Context, _ leader.Term) error {
			if calls++; calls == 1 {
				first = ctx
				return nil
			}
			if first.Err() == nil {
				t.Error("the context of the term before has not ended")
			}
			return own
		})
		if err != own || calls != 2 {
			t.Errorf("Run: %v after %d calls", err, calls)
		}
		free()

		func() {
			defer func() {
				if got := recover(); got != "oops" {
					t.Errorf("panic: %v", got)
				}
			}()
			elector.Run(testContext(t), func(context.Context, leader.Term) error { panic("oops") })
		}()
		free()

		exited := make(chan struct{})
		go func() {
			defer close(exited)
			elector.Run(testContext(t), func(context.Context, leader.Term) error {
				runtime.Goexit()
				return nil
			})
		}()
		<-exited
		free()

		ctx, cancel := context.WithCancelCause(testContext(t))
		reason := errors.New("shutdown")
		err = elector.Run(ctx, func(ctx context.Context, _ leader.Term) error {
			cancel(reason)
			if cause := done(t, ctx); cause != reason {
				t.Errorf("cause: %v", cause)
			}
			return own
		})
		if !errors.Is(err, context.Canceled) || !errors.Is(err, own) {
			t.Errorf("Run: %v", err)
		}
		free()
		must(t, locker.Close())
		if s := locker.Stats(); s.Discarded != 0 || s.Lost != 0 {
			t.Errorf("stats: %+v", s)
		}
		assertClean(t, db)
	})
}

// Resign waits for the function, and only then another leads.
func TestResign(t *testing.T) {
	eachDriver(t, func(t *testing.T, driver string, database *pgtest.Database) {
		ctx := testContext(t)
		key := advisory.ID(1)
		locker := newLocker(t, database.Open(t, driver))
		elector := leader.New(locker, key, leader.Rest(time.Minute))
		must(t, elector.Resign(ctx)) // nothing to resign from

		leads, finish := make(chan context.Context), make(chan struct{})
		run, stop := context.WithCancel(ctx)
		var group sync.WaitGroup
		group.Go(func() {
			err := elector.Run(run, func(ctx context.Context, _ leader.Term) error {
				leads <- ctx
				if err := elector.Resign(ctx); !errors.Is(err, context.Canceled) {
					t.Errorf("Resign within the function: %v", err)
				}
				<-finish
				return ctx.Err()
			})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("Run: %v", err)
			}
		})
		term := <-leads
		other := campaign(t, newLocker(t, database.Open(t, driver)), key)
		if cause := done(t, term); cause != leader.ErrResigned {
			t.Errorf("cause: %v", cause)
		}
		eventually(t, "it leaves", func() bool { return elector.State() == leader.Leaving })
		short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
		if err := elector.Resign(short); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Resign while the function goes on: %v", err)
		}
		cancel()
		if elector.IsLeader() || other.IsLeader() {
			t.Errorf("leaders while the function goes on: %v, %v", elector.IsLeader(), other.IsLeader())
		}
		group.Go(func() {
			if err := elector.Resign(ctx); err != nil {
				t.Errorf("Resign: %v", err)
			}
		})
		close(finish)
		next(t, other)
		eventually(t, "it rests", func() bool { return elector.State() == leader.Waiting })
		must(t, elector.Resign(ctx))
		stop()
		group.Wait()
	})
}

// All transitions are told, in their order, with their reasons.
func TestChanges(t *testing.T) {
	eachDriver(t, func(t *testing.T, driver string, database *pgtest.Database) {
		type change struct {
			From, To leader.State
			Term     uint64
			Err      error
		}
		var got []change
		db := database.Open(t, driver)
		c := campaign(t, newLocker(t, db, advisory.TTL(2*time.Second)), advisory.ID(1), leader.Rest(0), leader.OnChange(func(c leader.Change) {
			got = append(got, change{c.From, c.To, c.Term.Number, c.Err})
		}))
		_, first := next(t, c)
		first.end(nil)
		_, second := next(t, c)
		must(t, c.Resign(testContext(t)))
		_, third := next(t, c)
		terminate(t, db, advisory.ID(1))
		if cause := done(t, third.ctx); !errors.Is(cause, advisory.ErrLost) {
			t.Errorf("cause: %v", cause)
		}
		_, fourth := next(t, c)
		if first.Number != 1 || second.Number != 2 || fourth.Number != 4 || fourth.Since.Before(third.Since) {
			t.Errorf("terms: %v, %v, %v, %v", first.Term, second.Term, third.Term, fourth.Term)
		}
		own := errors.New("broken")
		fourth.end(own)
		eventually(t, "Run ends", func() bool { return c.State() == leader.Stopped })
		if err := c.stop(); err != own {
			t.Errorf("Run: %v", err)
		}
		const campaigning, leading, leaving, waiting = leader.Campaigning, leader.Leading, leader.Leaving, leader.Waiting
		want := []change{
			{leader.Stopped, campaigning, 0, nil},
			{campaigning, leading, 1, nil}, {leading, leaving, 1, nil}, {leaving, waiting, 1, nil}, {waiting, campaigning, 0, nil},
			{campaigning, leading, 2, nil}, {leading, leaving, 2, leader.ErrResigned}, {leaving, waiting, 2, context.Canceled}, {waiting, campaigning, 0, nil},
			{campaigning, leading, 3, nil}, {leading, leaving, 3, advisory.ErrLost}, {leaving, waiting, 3, advisory.ErrLost}, {waiting, campaigning, 0, nil},
			{campaigning, leading, 4, nil}, {leading, leaving, 4, nil}, {leaving, leader.Stopped, 4, own},
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateErrors()); diff != "" {
			t.Errorf("changes (-want +got):\n%s", diff)
		}
	})
}

// Runs that end at any time leave nothing behind.
func TestCanceledAnywhere(t *testing.T) {
	eachDriver(t, func(t *testing.T, driver string, database *pgtest.Database) {
		ctx := testContext(t)
		db := database.Open(t, driver)
		lockers := []*advisory.Locker{newLocker(t, db), newLocker(t, db)}
		var group sync.WaitGroup
		for worker := range 6 {
			group.Go(func() {
				elector := leader.New(lockers[worker%2], advisory.ID(int64(worker%3)), leader.Rest(time.Millisecond))
				for range 20 {
					short, cancel := context.WithTimeout(ctx, rand.N(5*time.Millisecond))
					err := elector.Run(short, func(ctx context.Context, _ leader.Term) error { return nil })
					cancel()
					if !errors.Is(err, context.DeadlineExceeded) || elector.State() != leader.Stopped {
						t.Errorf("Run: %v, %v", err, elector.State())
					}
				}
			})
		}
		group.Wait()
		for _, locker := range lockers {
			must(t, locker.Close())
			if s := locker.Stats(); s.Lost != 0 || s.Leases != 0 || s.Sessions != 0 {
				t.Errorf("stats: %+v", s)
			}
		}
		assertClean(t, db)
	})
}

// Errors that would be the same next time end Run.
func TestLastingErrors(t *testing.T) {
	eachDriver(t, func(t *testing.T, driver string, database *pgtest.Database) {
		never := func(context.Context, leader.Term) error { panic("never runs") }
		small := database.Open(t, driver)
		small.SetMaxOpenConns(1)
		if err := leader.New(newLocker(t, small), advisory.ID(1)).Run(testContext(t), never); !errors.Is(err, advisory.ErrPoolTooSmall) {
			t.Errorf("Run with a pool of one: %v", err)
		}
		locker := newLocker(t, database.Open(t, driver))
		c := campaign(t, locker, advisory.ID(1))
		_, term := next(t, c)
		must(t, locker.Close())
		if cause := done(t, term.ctx); !errors.Is(cause, advisory.ErrClosed) {
			t.Errorf("cause: %v", cause)
		}
		eventually(t, "Run ends", func() bool { return c.State() == leader.Stopped })
		if err := c.stop(); !errors.Is(err, advisory.ErrClosed) {
			t.Errorf("Run with a locker that is closed: %v", err)
		}
	})
}

func TestMisuse(t *testing.T) {
	locker := newLocker(t, server.Database(t).Open(t, "pgx"))
	running := campaign(t, locker, advisory.ID(1))
	next(t, running)
	for want, misuse := range map[string]func(){
		"leader: New: locker is nil":                                                func() { leader.New(nil, advisory.ID(1)) },
		"leader: OnChange: f is nil":                                                func() { leader.OnChange(nil) },
		"leader: Rest(-1s): must not be negative":                                   func() { leader.Rest(-time.Second) },
		"leader: Run: fn is nil":                                                    func() { leader.New(locker, advisory.ID(1)).Run(testContext(t), nil) },
		"leader: Run: the elector is running already":                               func() { running.Run(testContext(t), func(context.Context, leader.Term) error { return nil }) },
		"leader: Leader: db is nil":                                                 func() { leader.Leader(testContext(t), nil, advisory.ID(1)) },
		"leader: Backoff(0s, 1s): want a positive time and one not smaller than it": func() { leader.Backoff(0, time.Second) },
		"leader: Backoff(2s, 1s): want a positive time and one not smaller than it": func() { leader.Backoff(2*time.Second, time.Second) },
	} {
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("panic %v, want %q", got, want)
				}
			}()
			misuse()
		}()
	}
	if !running.IsLeader() {
		t.Error("a second Run has ended the first")
	}
}

func TestStateString(t *testing.T) {
	for state, want := range map[leader.State]string{leader.Stopped: "stopped", leader.Campaigning: "campaigning", leader.Leading: "leading",
		leader.Leaving: "leaving", leader.Waiting: "waiting", 17: "State(17)"} {
		if got := state.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
