package cron_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pgadvisory/pgadvisory/advisory"
	"github.com/pgadvisory/pgadvisory/advisory/cron"
	"github.com/pgadvisory/pgadvisory/advisory/pgtest"
)

func TestCrash(t *testing.T) {
	for _, mode := range []string{"hang", "hang leased"} {
		t.Run(mode, func(t *testing.T) {
			eachDriver(t, func(t *testing.T, database *pgtest.Database, db *sql.DB, driver string) {
				ctx := testContext(t)
				crashing := startNode(t, mode, driver, database.DSN())
				crashing.await(t)
				result, err := cron.Once(ctx, db, "job", noon, insert(noon, "other"), cron.RetryCrashed(2), cron.RetryFailed(2))
				if err != nil || result.Outcome != cron.RunningElsewhere {
					t.Fatalf("while it runs: %+v, %v", result, err)
				}
				if got := history(t, db, "job", noon); !cmp.Equal(got, []attempt{{1, cron.Running, ""}}) {
					t.Errorf("while it runs: %v", got)
				}
				crashing.kill()
				eventually(t, "the crash is seen", func() bool {
					return cmp.Equal(history(t, db, "job", noon), []attempt{{1, cron.Gone, ""}})
				})
				for range 2 {
					result, err = cron.Once(ctx, db, "job", noon, insert(noon, "other"), cron.RetryFailed(9))
					if err != nil || result != (cron.Result{Outcome: cron.Crashed, Attempt: 1}) {
						t.Errorf("without retry: %+v, %v", result, err)
					}
				}
				result, err = cron.Once(ctx, db, "job", noon, insert(noon, "other"), cron.RetryCrashed(2))
				if err != nil || result != (cron.Result{Outcome: cron.Ran, Attempt: 2}) {
					t.Errorf("with retry: %+v, %v", result, err)
				}
				if got := history(t, db, "job", noon); !cmp.Equal(got, []attempt{{1, cron.Gone, ""}, {2, cron.Succeeded, ""}}) {
					t.Errorf("in the end: %v", got)
				}
				if n := count(t, db, "SELECT count(*) FROM work WHERE node = 'other'"); n != 1 || count(t, db, "SELECT count(*) FROM work") != 1 {
					t.Errorf("%d rows of the second run", n)
				}
				assertClean(t, db)
			})
		})
	}
}

// The work's session is terminated, another node takes the tick again while the first is still in its job, and the first finds its work undone.
func TestSuperseded(t *testing.T) {
	eachDriver(t, func(t *testing.T, _ *pgtest.Database, db *sql.DB, _ string) {
		ctx := testContext(t)
		result, err := cron.Once(ctx, db, "job", noon, func(ctx context.Context, tx *sql.Tx) error {
			var pid int
			must(t, tx.QueryRowContext(ctx, "SELECT pg_backend_pid()").Scan(&pid))
			must(t, insert(noon, "first")(ctx, tx))
			_, err := db.ExecContext(ctx, "SELECT pg_terminate_backend($1)", pid)
			must(t, err)
			eventually(t, "the second runs", func() bool {
				result, err := cron.Once(ctx, db, "job", noon, insert(noon, "second"), cron.RetryCrashed(2))
				must(t, err)
				return result.Outcome == cron.Ran
			})
			return nil
		})
		if err == nil || result != (cron.Result{Outcome: cron.Ran, Attempt: 1}) {
			t.Errorf("%+v, %v", result, err)
		}
		if got := history(t, db, "job", noon); !cmp.Equal(got, []attempt{{1, cron.Gone, ""}, {2, cron.Succeeded, ""}}) {
			t.Errorf("history: %v", got)
		}
		if n := count(t, db, "SELECT count(*) FROM work WHERE node = 'second'"); n != 1 || count(t, db, "SELECT count(*) FROM work") != 1 {
			t.Errorf("%d rows of the second run", n)
		}
		assertClean(t, db)
	})
}

func TestServerRestart(t *testing.T) {
	for _, driver := range pgtest.Drivers {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			srv := pgtest.Start(t)
			db := srv.Open(t, driver)
			prepare(t, db)
			ctx := testContext(t)
			for i, restart := range []func() error{
				func() error { return srv.Restart(ctx) },
				func() error { return errors.Join(srv.Kill(ctx), srv.Restart(ctx)) },
			} {
				job := string(rune('a' + i))
				result, err := cron.Once(ctx, db, job, noon, func(ctx context.Context, tx *sql.Tx) error {
					must(t, insert(noon, job)(ctx, tx))
					must(t, restart())
					return nil
				})
				if err == nil || result != (cron.Result{Outcome: cron.Ran, Attempt: 1}) {
					t.Errorf("restarted meanwhile: %+v, %v", result, err)
				}
				// The claim survived the restart, the work did not, and that is recorded on the new server.
				if got := history(t, db, job, noon); len(got) != 1 || got[0].State != cron.Failed {
					t.Errorf("history: %v", got)
				}
				result, err = cron.Once(ctx, db, job, noon, insert(noon, job), cron.RetryFailed(2))
				if err != nil || result != (cron.Result{Outcome: cron.Ran, Attempt: 2}) {
					t.Errorf("after the restart: %+v, %v", result, err)
				}
				must(t, restart())
				eventually(t, "the pool has new connections", func() bool { return db.PingContext(ctx) == nil })
				result, err = cron.Once(ctx, db, job, noon, insert(noon, job))
				if err != nil || result != (cron.Result{Outcome: cron.AlreadyRan, Attempt: 2}) {
					t.Errorf("after another restart: %+v, %v", result, err)
				}
			}
			if n := count(t, db, "SELECT count(*) FROM work"); n != 2 {
				t.Errorf("%d rows of work", n)
			}
		})
	}
}

func TestStandby(t *testing.T) {
	primary := pgtest.Start(t)
	prepare(t, primary.Open(t, "pgx"))
	ctx := testContext(t)
	_, err := primary.Open(t, "pgx").ExecContext(ctx, "INSERT INTO pgadvisory_cron.run (job, tick, attempt, state, lock_key) VALUES ('job', $1, 1, 'running', 1)", noon)
	must(t, err)
	standby := primary.StartStandby(t)
	for _, driver := range pgtest.Drivers {
		db := standby.Open(t, driver)
		result, err := cron.Once(ctx, db, "job", noon, func(context.Context, *sql.Tx) error { t.Error("the job ran"); return nil }, cron.RetryCrashed(9))
		if !errors.Is(err, advisory.ErrStandby) || result != (cron.Result{}) {
			t.Errorf("%s: %+v, %v", driver, result, err)
		}
		if err := cron.Migrate(ctx, db); !errors.Is(err, advisory.ErrStandby) {
			t.Errorf("%s: Migrate: %v", driver, err)
		}
		// Nobody holds the lock of that run, but a standby could not tell.
		if got := history(t, db, "job", noon); !cmp.Equal(got, []attempt{{1, cron.Running, ""}}) {
			t.Errorf("%s: history on the standby: %v", driver, got)
		}
		if got := history(t, primary.Open(t, driver), "job", noon); !cmp.Equal(got, []attempt{{1, cron.Gone, ""}}) {
			t.Errorf("%s: history on the primary: %v", driver, got)
		}
	}
}

func TestOnceLeased(t *testing.T) {
	eachDriver(t, func(t *testing.T, _ *pgtest.Database, db *sql.DB, _ string) {
		ctx := testContext(t)
		locker, other := advisory.NewLocker(db, advisory.Waiters(0)), advisory.NewLocker(db, advisory.Waiters(0))
		defer other.Close()
		defer locker.Close()
		nothing := func(context.Context, *advisory.Lease) error { return nil }
		result, err := cron.OnceLeased(ctx, locker, db, "job", noon, func(ctx context.Context, lease *advisory.Lease) error {
			// Neither kind of run starts while this one is there.
			if inner, err := cron.OnceLeased(ctx, other, db, "job", noon, nothing, cron.RetryCrashed(2)); err != nil || inner.Outcome != cron.RunningElsewhere {
				t.Errorf("leased, while it runs: %+v, %v", inner, err)
			}
			if inner, err := cron.Once(ctx, db, "job", noon, insert(noon, ""), cron.RetryCrashed(2)); err != nil || inner != (cron.Result{Outcome: cron.RunningElsewhere, Attempt: 1}) {
				t.Errorf("while it runs: %+v, %v", inner, err)
			}
			return lease.Do(ctx, db, insert(noon, "leased"))
		})
		if err != nil || result != (cron.Result{Outcome: cron.Ran, Attempt: 1}) {
			t.Errorf("%+v, %v", result, err)
		}
		if result, err = cron.OnceLeased(ctx, other, db, "job", noon, nothing); err != nil || result != (cron.Result{Outcome: cron.AlreadyRan, Attempt: 1}) {
			t.Errorf("again: %+v, %v", result, err)
		}
		// The other way round.
		result, err = cron.Once(ctx, db, "plain", noon, func(ctx context.Context, _ *sql.Tx) error {
			inner, err := cron.OnceLeased(ctx, other, db, "plain", noon, nothing, cron.RetryCrashed(2))
			if inner != (cron.Result{Outcome: cron.RunningElsewhere, Attempt: 1}) {
				t.Errorf("leased, while a plain run is there: %+v, %v", inner, err)
			}
			return err
		})
		if err != nil || result.Outcome != cron.Ran {
			t.Errorf("%+v, %v", result, err)
		}
		// A failure, and a lease that is lost.
		boom := errors.New("boom")
		result, err = cron.OnceLeased(ctx, locker, db, "fails", noon, func(context.Context, *advisory.Lease) error { return boom })
		if !errors.Is(err, boom) || result.Outcome != cron.Ran || !cmp.Equal(history(t, db, "fails", noon), []attempt{{1, cron.Failed, "boom"}}) {
			t.Errorf("%+v, %v, %v", result, err, history(t, db, "fails", noon))
		}
		result, err = cron.OnceLeased(ctx, locker, db, "lost", noon, func(ctx context.Context, lease *advisory.Lease) error {
			// Under another ctx, since this one may end before the answer is there.
			_, err := db.ExecContext(testContext(t), `SELECT pg_terminate_backend(pid) FROM pg_locks
				WHERE locktype = 'advisory' AND granted
				AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND (classid::bigint << 32 | objid::bigint) = `+advisory.LeaseKey(lease.Key()).String())
			must(t, err)
			<-ctx.Done()
			return context.Cause(ctx)
		})
		if !errors.Is(err, advisory.ErrLost) || result.Outcome != cron.Ran {
			t.Errorf("lost: %+v, %v", result, err)
		}
		// The session can be lost to its client some milliseconds before its locks are gone.
		eventually(t, "the crash is seen", func() bool { return cmp.Equal(history(t, db, "lost", noon), []attempt{{1, cron.Gone, ""}}) })
		result, err = cron.OnceLeased(ctx, other, db, "lost", noon, nothing, cron.RetryCrashed(2))
		if err != nil || result != (cron.Result{Outcome: cron.Ran, Attempt: 2}) {
			t.Errorf("retry: %+v, %v", result, err)
		}
		must(t, errors.Join(locker.Close(), other.Close()))
		assertClean(t, db)
	})
}
