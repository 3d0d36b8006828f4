package cron_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pgadvisory/pgadvisory/advisory/cron"
	"github.com/pgadvisory/pgadvisory/advisory/pgtest"
)

func TestMigrate(t *testing.T) {
	for _, driver := range pgtest.Drivers {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			database := server.Database(t)
			db := database.Open(t, driver)
			ctx := testContext(t)
			// Without the lock CREATE … IF NOT EXISTS of several at a time fails with a unique violation.
			for _, schema := range []string{cron.DefaultSchema, `it's "quoted" \ ü; DROP`} {
				var group sync.WaitGroup
				for range 4 {
					group.Go(func() {
						if err := cron.Migrate(ctx, db, cron.In(schema)); err != nil {
							t.Error(err)
						}
					})
				}
				group.Wait()
				result, err := cron.Once(ctx, db, "job", noon, insertNothing, cron.In(schema))
				if err != nil || result.Outcome != cron.Ran {
					t.Errorf("schema %q: %+v, %v", schema, result, err)
				}
				runs, err := cron.Runs(ctx, db, "job", 10, cron.In(schema))
				if err != nil || len(runs) != 1 {
					t.Errorf("schema %q: %+v, %v", schema, runs, err)
				}
			}
			// What a later version has made is left alone, and again there is no need for rights to create anything.
			execute(t, db, "UPDATE pgadvisory_cron.version SET number = 7")
			role := database.Name() + "_" + driver
			execute(t, db, fmt.Sprintf(`CREATE ROLE %[1]s LOGIN; GRANT USAGE ON SCHEMA pgadvisory_cron TO %[1]s;
				GRANT SELECT ON pgadvisory_cron.version TO %[1]s;
				GRANT SELECT, INSERT, UPDATE, DELETE ON pgadvisory_cron.run TO %[1]s; GRANT SELECT, UPDATE ON pgadvisory_cron.swept TO %[1]s`, role))
			t.Cleanup(func() { execute(t, db, "DROP OWNED BY "+role+"; DROP ROLE "+role) })
			limited, err := sql.Open(driver, strings.Replace(database.DSN(), "//"+user(t, db)+"@", "//"+role+"@", 1))
			must(t, err)
			defer limited.Close()
			if n := count(t, limited, "SELECT count(*) FROM pg_roles WHERE rolname = current_user AND NOT rolsuper"); n != 1 {
				t.Fatal("not the limited role")
			}
			must(t, cron.Migrate(ctx, limited))
			if n := count(t, db, "SELECT number FROM pgadvisory_cron.version"); n != 7 {
				t.Errorf("version is %d", n)
			}
			result, err := cron.Once(ctx, limited, "job", noon.Add(time.Minute), insertNothing, cron.Keep(time.Hour))
			if err != nil || result.Sweep != nil || result.Outcome != cron.Ran && result.Outcome != cron.TooOld {
				t.Errorf("limited role: %+v, %v", result, err)
			}
		})
	}
}

func user(t testing.TB, db *sql.DB) (name string) {
	must(t, db.QueryRowContext(testContext(t), "SELECT current_user").Scan(&name))
	return name
}

func TestSchema(t *testing.T) {
	eachDriver(t, func(t *testing.T, _ *pgtest.Database, db *sql.DB, _ string) {
		execute(t, db, cron.Schema(cron.In("by hand")))
		execute(t, db, cron.Schema(cron.In("by hand")))
		must(t, cron.Migrate(testContext(t), db, cron.In("by hand")))
		result, err := cron.Once(testContext(t), db, "job", noon, insertNothing, cron.In("by hand"))
		if err != nil || result.Outcome != cron.Ran {
			t.Errorf("%+v, %v", result, err)
		}
	})
}

func TestSweep(t *testing.T) {
	eachDriver(t, func(t *testing.T, _ *pgtest.Database, db *sql.DB, _ string) {
		ctx := testContext(t)
		now := time.Now().UTC().Truncate(time.Minute)
		old := now.Add(-48 * time.Hour)
		// More rows than one batch, all of them before the tick called old, and a crash among them.
		execute(t, db, fmt.Sprintf(`INSERT INTO pgadvisory_cron.run (job, tick, attempt, state, lock_key)
			SELECT 'job', now() - interval '3 days' - i * interval '1 minute', 1, CASE i WHEN 7 THEN 'running' ELSE 'succeeded' END, i
			FROM generate_series(1, %d) AS i`, cron.SweepBatch+500))
		result, err := cron.Once(ctx, db, "job", old, insertNothing)
		if err != nil || result.Outcome != cron.Ran {
			t.Fatalf("%+v, %v", result, err)
		}
		result, err = cron.Once(ctx, db, "job", now, insertNothing, cron.Keep(24*time.Hour))
		if err != nil || result != (cron.Result{Outcome: cron.Ran, Attempt: 1}) {
			t.Fatalf("%+v, %v", result, err)
		}
		if n := count(t, db, "SELECT count(*) FROM pgadvisory_cron.run"); n != 502 {
			t.Errorf("%d rows after one batch", n)
		}
		n, err := cron.Sweep(ctx, db, 24*time.Hour)
		if err != nil || n != 501 {
			t.Errorf("swept %d rows, %v", n, err)
		}
		if got := history(t, db, "job", now); !cmp.Equal(got, []attempt{{1, cron.Succeeded, ""}}) {
			t.Errorf("history of the newest: %v", got)
		}
		// A late node comes with a tick whose row is gone.
		result, err = cron.Once(ctx, db, "job", old, insertNothing, cron.RetryCrashed(9))
		if err != nil || result != (cron.Result{Outcome: cron.TooOld}) {
			t.Errorf("%+v, %v", result, err)
		}
		if n := count(t, db, "SELECT count(*) FROM pgadvisory_cron.run"); n != 1 {
			t.Errorf("%d rows in the end", n)
		}
		assertClean(t, db)
	})
}

// A run that is still running is not swept.
func TestSweepRunning(t *testing.T) {
	eachDriver(t, func(t *testing.T, _ *pgtest.Database, db *sql.DB, _ string) {
		result, err := cron.Once(testContext(t), db, "job", noon, sweepAll(t, db))
		if err != nil || result.Outcome != cron.Ran {
			t.Errorf("%+v, %v", result, err)
		}
		if got := history(t, db, "job", noon); !cmp.Equal(got, []attempt{{1, cron.Succeeded, ""}}) {
			t.Errorf("history: %v", got)
		}
	})
}

// Old rows are deleted while late nodes still come with ticks of that age: none runs twice.
func TestSweepRace(t *testing.T) {
	eachDriver(t, func(t *testing.T, _ *pgtest.Database, db *sql.DB, _ string) {
		const nodes, ticks = 4, 12
		ctx := testContext(t)
		// The clock of the test's server goes on while keep shrinks, so that tick after tick becomes too old.
		age := time.Since(noon)
		var group sync.WaitGroup
		for range nodes {
			group.Go(func() {
				for i := range ticks {
					tick := noon.Add(time.Duration(i) * time.Hour)
					if _, err := cron.Once(ctx, db, "job", tick, insert(tick, "node")); err != nil {
						t.Error(err)
					}
				}
			})
		}
		group.Go(func() {
			for i := range 2 * ticks {
				if _, err := cron.Sweep(ctx, db, age-time.Duration(i)*30*time.Minute); err != nil {
					t.Error(err)
				}
			}
		})
		group.Wait()
		if n := count(t, db, "SELECT count(*) - count(DISTINCT tick) FROM work"); n != 0 {
			t.Errorf("%d ticks ran again", n)
		}
		assertClean(t, db)
	})
}

func insertNothing(context.Context, *sql.Tx) error { return nil }

func sweepAll(t testing.TB, db *sql.DB) func(context.Context, *sql.Tx) error {
	return func(ctx context.Context, _ *sql.Tx) error {
		n, err := cron.Sweep(ctx, db, time.Nanosecond)
		if n != 0 {
			t.Errorf("swept %d rows", n)
		}
		return err
	}
}
