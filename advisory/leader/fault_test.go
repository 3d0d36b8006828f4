package leader_test

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/pgadvisory/pgadvisory/advisory"
	"github.com/pgadvisory/pgadvisory/advisory/leader"
	"github.com/pgadvisory/pgadvisory/advisory/pgtest"
)

// When the leader's session is terminated somebody leads again, the old leader is told, and it stands again.
func TestTerminated(t *testing.T) {
	eachDriver(t, func(t *testing.T, driver string, database *pgtest.Database) {
		db := database.Open(t, driver)
		key := advisory.ID(1)
		var all []*candidate
		for range 3 {
			all = append(all, campaign(t, newLocker(t, database.Open(t, driver), advisory.TTL(2*time.Second)), key))
		}
		var took []time.Duration
		_, term := next(t, all...)
		for range 5 {
			start := time.Now()
			terminate(t, db, key)
			_, following := next(t, all...)
			took = append(took, time.Since(start).Round(100*time.Microsecond))
			if cause := done(t, term.ctx); !errors.Is(cause, advisory.ErrLost) {
				t.Errorf("cause: %v", cause)
			}
			term = following
		}
		slices.Sort(took)
		t.Logf("from pg_terminate_backend to the next leader: %v", took)
		for _, c := range all {
			if err := c.stop(); !errors.Is(err, context.Canceled) {
				t.Errorf("Run: %v", err)
			}
		}
	})
}

// An error of the function that comes from the end of its session does not end Run, even if the function returns before the loss of the lease is noticed.
func TestFunctionFailsFirst(t *testing.T) {
	eachDriver(t, func(t *testing.T, driver string, database *pgtest.Database) {
		db := database.Open(t, driver)
		c := campaign(t, newLocker(t, database.Open(t, driver), advisory.TTL(time.Minute)), advisory.ID(1))
		_, term := next(t, c)
		terminate(t, db, advisory.ID(1))
		term.end(errors.New("connection reset"))
		if _, again := next(t, c); again.Number != 2 {
			t.Errorf("term %d", again.Number)
		}
	})
}

// Electors outlive a restart of the server, and a crash.
func TestServerEnds(t *testing.T) {
	t.Parallel()
	server.SkipIfExternal(t)
	own := pgtest.Start(t)
	for _, driver := range pgtest.Drivers {
		for name, end := range map[string]func(context.Context) error{"restart": func(context.Context) error { return nil }, "crash": own.Kill} {
			t.Run(driver+" "+name, func(t *testing.T) {
				key := advisory.ID(1)
				all := []*candidate{
					campaign(t, newLocker(t, own.Open(t, driver), advisory.TTL(2*time.Second)), key),
					campaign(t, newLocker(t, own.Open(t, driver), advisory.TTL(2*time.Second)), key),
				}
				_, term := next(t, all...)
				must(t, end(testContext(t)))
				must(t, own.Restart(testContext(t)))
				start := time.Now()
				next(t, all...)
				t.Logf("from the server's start to the next leader: %v", time.Since(start))
				if cause := done(t, term.ctx); !errors.Is(cause, advisory.ErrLost) {
					t.Errorf("cause: %v", cause)
				}
				for _, c := range all {
					if err := c.stop(); !errors.Is(err, context.Canceled) {
						t.Errorf("Run: %v", err)
					}
				}
			})
		}
	}
}

// On a standby there is no leader until it is promoted.
func TestFailover(t *testing.T) {
	t.Parallel()
	server.SkipIfExternal(t)
	for _, driver := range pgtest.Drivers {
		t.Run(driver, func(t *testing.T) {
			primary := pgtest.Start(t, pgtest.Setting("max_connections", "20"))
			standby := primary.StartStandby(t)
			db := standby.Open(t, driver)
			refused := make(chan error, 100)
			c := campaign(t, newLocker(t, db), advisory.ID(1), leader.OnChange(func(c leader.Change) {
				if c.To == leader.Waiting {
					select {
					case refused <- c.Err:
					default:
					}
				}
			}))
			if err := <-refused; !errors.Is(err, advisory.ErrStandby) {
				t.Errorf("on a standby: %v", err)
			}
			if _, _, err := leader.Leader(testContext(t), db, advisory.ID(1)); !errors.Is(err, advisory.ErrStandby) {
				t.Errorf("Leader on a standby: %v", err)
			}
			must(t, primary.Kill(testContext(t)))
			must(t, standby.Promote(testContext(t)))
			start := time.Now()
			next(t, c)
			t.Logf("from the promotion to the leader: %v", time.Since(start))
		})
	}
}

// An observer sees who leads, as far as its role may.
func TestLeader(t *testing.T) {
	eachDriver(t, func(t *testing.T, driver string, database *pgtest.Database) {
		ctx := testContext(t)
		key := advisory.Name("leader")
		db, observer := database.Open(t, driver), database.Open(t, driver)
		if holder, ok, err := leader.Leader(ctx, observer, key); ok || err != nil || holder != (leader.Holder{}) {
			t.Errorf("nobody leads: %+v, %v, %v", holder, ok, err)
		}
		db.SetMaxIdleConns(1)
		var role string
		if _, err := db.ExecContext(ctx, "SET application_name = 'candidate 17'"); err != nil {
			t.Fatal(err)
		}
		must(t, db.QueryRowContext(ctx, "SELECT current_user").Scan(&role))
		c := campaign(t, newLocker(t, db, advisory.Waiters(0)), key)
		_, term := next(t, c)
		holder, ok, err := leader.Leader(ctx, observer, key)
		must(t, err)
		var pid int
		var begun sql.NullTime
		must(t, observer.QueryRowContext(ctx, "SELECT pid, backend_start FROM pg_stat_activity WHERE application_name = 'candidate 17' AND datname = current_database()").Scan(&pid, &begun))
		if !ok || holder.PID != pid || holder.Application != "candidate 17" || holder.Role != role || !holder.Client.IsValid() || holder.Restricted {
			t.Errorf("holder: %+v, want pid %d of %s", holder, pid, role)
		}
		if !holder.Connected.Equal(begun.Time) || holder.Connected.After(term.Since) || holder.Heard.Before(holder.Connected) {
			t.Errorf("holder: %+v, connected at %v, leads since %v", holder, begun.Time, term.Since)
		}
		// Another key and another database are other leaderships.
		if _, ok, err := leader.Leader(ctx, observer, advisory.Name("another")); ok || err != nil {
			t.Errorf("another key: %v, %v", ok, err)
		}
		if _, ok, err := leader.Leader(ctx, server.Database(t).Open(t, driver), key); ok || err != nil {
			t.Errorf("another database: %v, %v", ok, err)
		}

		// A role without rights.
		ordinary := "ordinary_" + database.Name()
		observer.SetMaxOpenConns(1)
		for _, statement := range []string{"CREATE ROLE " + ordinary, "SET ROLE " + ordinary} {
			if _, err := observer.ExecContext(ctx, statement); err != nil {
				t.Fatal(err)
			}
		}
		want := leader.Holder{PID: pid, Application: "candidate 17", Role: role, Restricted: true}
		if holder, ok, err := leader.Leader(ctx, observer, key); err != nil || !ok || holder != want {
			t.Errorf("seen by an ordinary role: %+v, %v, %v, want %+v", holder, ok, err, want)
		}
		for _, statement := range []string{"RESET ROLE", "DROP ROLE " + ordinary} {
			if _, err := observer.ExecContext(ctx, statement); err != nil {
				t.Error(err)
			}
		}
		canceled, cancel := context.WithCancel(ctx)
		cancel()
		if _, _, err := leader.Leader(canceled, observer, key); !errors.Is(err, context.Canceled) {
			t.Errorf("Leader with a ctx that has ended: %v", err)
		}
		c.stop()
		eventually(t, "nobody leads", func() bool {
			_, ok, err := leader.Leader(ctx, observer, key)
			must(t, err)
			return !ok
		})
	})
}
