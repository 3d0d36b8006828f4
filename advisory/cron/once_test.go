package cron_test

import (
	"context"
	"database/sql"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pgadvisory/pgadvisory/advisory"
	"github.com/pgadvisory/pgadvisory/advisory/cron"
	"github.com/pgadvisory/pgadvisory/advisory/pgtest"
)

func TestOnce(t *testing.T) {
	eachDriver(t, func(t *testing.T, _ *pgtest.Database, db *sql.DB, _ string) {
		ctx := testContext(t)
		result, err := cron.Once(ctx, db, "job", noon, func(ctx context.Context, tx *sql.Tx) error {
			// The same tick, from another place while this one runs.
			inner, err := cron.Once(ctx, db, "job", noon, insert(noon, "inner"))
			if want := (cron.Result{Outcome: cron.RunningElsewhere}); err != nil || inner != want {
				t.Errorf("while it runs: %+v, %v", inner, err)
			}
			if got := history(t, db, "job", noon); !cmp.Equal(got, []attempt{{1, cron.Running, ""}}) {
				t.Errorf("while it runs: %v", got)
			}
			return insert(noon, "outer")(ctx, tx)
		})
		if want := (cron.Result{Outcome: cron.Ran, Attempt: 1}); err != nil || result != want {
			t.Fatalf("first: %+v, %v", result, err)
		}
		for _, same := range []time.Time{noon, noon.In(time.FixedZone("", 3*3600))} {
			result, err = cron.Once(ctx, db, "job", same, insert(noon, "late"), cron.RetryCrashed(9), cron.RetryFailed(9))
			if want := (cron.Result{Outcome: cron.AlreadyRan, Attempt: 1}); err != nil || result != want {
				t.Errorf("again: %+v, %v", result, err)
			}
		}
		for job, tick := range map[string]time.Time{"job": noon.Add(time.Microsecond), "other job": noon} {
			if result, err := cron.Once(ctx, db, job, tick, insert(tick, "other")); err != nil || result.Outcome != cron.Ran {
				t.Errorf("%s at %v: %+v, %v", job, tick, result, err)
			}
		}
		if n := count(t, db, "SELECT count(*) FROM work"); n != 3 {
			t.Errorf("%d jobs did their work", n)
		}
		runs, err := cron.Runs(ctx, db, "job", 1)
		must(t, err)
		if len(runs) != 1 || !runs[0].Tick.Equal(noon.Add(time.Microsecond)) || runs[0].State != cron.Succeeded || runs[0].Ended.Before(runs[0].Started) {
			t.Errorf("runs: %+v", runs)
		}
		assertClean(t, db)
	})
}

func TestOnceFails(t *testing.T) {
	boom := errors.New("boom\x00 \xff" + strings.Repeat("x", 10_000))
	recorded := "boom\uFFFD \uFFFD" + strings.Repeat("x", 8192-7)
	tests := []struct {
		name string
		job  func(ctx context.Context, tx *sql.Tx, cancel func()) error
		is   error  // nil: any
		text string // the beginning of what is recorded
	}{
		{"error", func(context.Context, *sql.Tx, func()) error { return boom }, boom, recorded},
		{"aborted transaction", func(ctx context.Context, tx *sql.Tx, _ func()) error {
			_, err := tx.ExecContext(ctx, "SELECT 1/0")
			return err
		}, nil, ""},
		{"aborted transaction, and nil", func(ctx context.Context, tx *sql.Tx, _ func()) error {
			_, _ = tx.ExecContext(ctx, "SELECT 1/0")
			return nil
		}, nil, ""},
		{"rolled back by itself", func(_ context.Context, tx *sql.Tx, _ func()) error { return tx.Rollback() }, sql.ErrTxDone, "sql: transaction"},
		{"COMMIT refused", func(ctx context.Context, tx *sql.Tx, _ func()) error {
			_, err := tx.ExecContext(ctx, "INSERT INTO child VALUES (1)")
			return err
		}, nil, ""},
		{"session terminated", func(ctx context.Context, tx *sql.Tx, _ func()) error {
			_, err := tx.ExecContext(ctx, "SELECT pg_terminate_backend(pg_backend_pid())")
			return err
		}, nil, ""},
		{"cancelled, and nil", func(_ context.Context, _ *sql.Tx, cancel func()) error { cancel(); return nil }, context.Canceled, "context canceled"},
		{"cancelled", func(ctx context.Context, _ *sql.Tx, cancel func()) error { cancel(); return ctx.Err() }, context.Canceled, "context canceled"},
	}
	eachDriver(t, func(t *testing.T, _ *pgtest.Database, db *sql.DB, _ string) {
		execute(t, db, "CREATE TABLE parent (id int PRIMARY KEY); CREATE TABLE child (id int REFERENCES parent DEFERRABLE INITIALLY DEFERRED)")
		for _, test := range tests {
			t.Run(test.name, func(t *testing.T) {
				ctx, cancel := context.WithCancel(testContext(t))
				defer cancel()
				result, err := cron.Once(ctx, db, test.name, noon, func(ctx context.Context, tx *sql.Tx) error {
					if err := insert(noon, test.name)(ctx, tx); err != nil {
						return err
					}
					return test.job(ctx, tx, cancel)
				})
				if want := (cron.Result{Outcome: cron.Ran, Attempt: 1}); err == nil || result != want {
					t.Fatalf("%+v, %v", result, err)
				}
				if test.is != nil && !errors.Is(err, test.is) {
					t.Errorf("err is %v, not %v", err, test.is)
				}
				got := history(t, db, test.name, noon)
				if len(got) != 1 || got[0].State != cron.Failed || got[0].Error == "" || !strings.HasPrefix(got[0].Error, test.text) || len(got[0].Error) > 8<<10+8 {
					t.Fatalf("history: %.100v", got)
				}
				ctx = testContext(t)
				if result, err = cron.Once(ctx, db, test.name, noon, insert(noon, "")); err != nil || result != (cron.Result{Outcome: cron.AlreadyRan, Attempt: 1}) {
					t.Errorf("again: %+v, %v", result, err)
				}
				if n := count(t, db, "SELECT count(*) FROM work"); n != 0 {
					t.Errorf("%d rows of work that was rolled back", n)
				}
				result, err = cron.Once(ctx, db, test.name, noon, func(context.Context, *sql.Tx) error { return nil }, cron.RetryFailed(2))
				if err != nil || result != (cron.Result{Outcome: cron.Ran, Attempt: 2}) {
					t.Errorf("retry: %+v, %v", result, err)
				}
			})
		}
		assertClean(t, db)
	})
}

func TestOncePanics(t *testing.T) {
	eachDriver(t, func(t *testing.T, _ *pgtest.Database, db *sql.DB, _ string) {
		for text, end := range map[string]func(){
			"panic: boom":                 func() { panic("boom") },
			"the job ended its goroutine": runtime.Goexit,
		} {
			panicked := make(chan any)
			go func() {
				defer func() { panicked <- recover() }()
				cron.Once(testContext(t), db, text, noon, func(ctx context.Context, tx *sql.Tx) error {
					if err := insert(noon, text)(ctx, tx); err != nil {
						return err
					}
					end()
					return nil
				})
			}()
			if got := <-panicked; got != nil && got != "boom" {
				t.Errorf("panic with %v", got)
			}
			if got := history(t, db, text, noon); !cmp.Equal(got, []attempt{{1, cron.Failed, text}}) {
				t.Errorf("history: %v", got)
			}
		}
		if n := count(t, db, "SELECT count(*) FROM work"); n != 0 {
			t.Errorf("%d rows of work that was rolled back", n)
		}
		assertClean(t, db)
	})
}

func TestOnceRefuses(t *testing.T) {
	eachDriver(t, func(t *testing.T, database *pgtest.Database, db *sql.DB, driver string) {
		ctx := testContext(t)
		never := func(context.Context, *sql.Tx) error { t.Error("the job ran"); return nil }
		small := database.Open(t, driver)
		small.SetMaxOpenConns(1)
		cancelled, cancel := context.WithCancel(ctx)
		cancel()
		for _, test := range []struct {
			name, want string
			is         error
			ctx        context.Context
			db         *sql.DB
			job        string
			tick       time.Time
			opts       []cron.Option
		}{
			{name: "no job", want: "name must be", tick: noon},
			{name: "zero byte", want: "name must be", job: "a\x00", tick: noon},
			{name: "no UTF-8", want: "name must be", job: "\xff", tick: noon},
			{name: "no tick", want: "years 1 to 9999", job: "job"},
			{name: "clock", want: "nanoseconds", job: "job", tick: noon.Add(1)},
			{name: "year", want: "years 1 to 9999", job: "job", tick: time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)},
			{name: "no tables", want: `no tables in schema "nowhere", create them with Migrate`, job: "job", tick: noon, opts: []cron.Option{cron.In("nowhere")}},
			{name: "pool of one", is: advisory.ErrPoolTooSmall, db: small, job: "job", tick: noon},
			{name: "cancelled", is: context.Canceled, ctx: cancelled, job: "job", tick: noon},
		} {
			if test.ctx == nil {
				test.ctx = ctx
			}
			if test.db == nil {
				test.db = db
			}
			result, err := cron.Once(test.ctx, test.db, test.job, test.tick, never, test.opts...)
			if err == nil || result != (cron.Result{}) || !strings.Contains(err.Error(), test.want) || test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("%s: %+v, %v", test.name, result, err)
			}
		}
		if n := count(t, db, "SELECT count(*) FROM pgadvisory_cron.run"); n != 0 {
			t.Errorf("%d ticks claimed", n)
		}
		assertClean(t, db)
	})
}

// A server whose default is another isolation level makes no difference.
func TestOnceIsolation(t *testing.T) {
	eachDriver(t, func(t *testing.T, database *pgtest.Database, db *sql.DB, driver string) {
		execute(t, db, "ALTER DATABASE "+database.Name()+" SET default_transaction_isolation = 'serializable'")
		db = database.Open(t, driver)
		result, err := cron.Once(testContext(t), db, "job", noon, insert(noon, "node"))
		if err != nil || result.Outcome != cron.Ran {
			t.Errorf("%+v, %v", result, err)
		}
	})
}

func TestMisusePanics(t *testing.T) {
	db := server.Open(t, "pgx")
	ctx := context.Background()
	for name, call := range map[string]func(){
		"Once: db":         func() { cron.Once(ctx, nil, "job", noon, insert(noon, "")) },
		"Once: fn":         func() { cron.Once(ctx, db, "job", noon, nil) },
		"OnceLeased: lock": func() { cron.OnceLeased(ctx, nil, db, "job", noon, nil) },
		"Migrate":          func() { cron.Migrate(ctx, nil) },
		"Sweep: db":        func() { cron.Sweep(ctx, nil, 1) },
		"Sweep: keep":      func() { cron.Sweep(ctx, db, 0) },
		"Runs: db":         func() { cron.Runs(ctx, nil, "job", 1) },
		"Runs: limit":      func() { cron.Runs(ctx, db, "job", 0) },
		"In":               func() { cron.In("") },
		"In: long":         func() { cron.In(strings.Repeat("x", 64)) },
		"RetryCrashed":     func() { cron.RetryCrashed(0) },
		"RetryFailed":      func() { cron.RetryFailed(0) },
		"Keep":             func() { cron.Keep(0) },
	} {
		func() {
			defer func() {
				if text, ok := recover().(string); !ok || !strings.HasPrefix(text, "cron: ") {
					t.Errorf("%s: panic with %q", name, text)
				}
			}()
			call()
		}()
	}
}

// The key is a contract between versions.
func TestKey(t *testing.T) {
	want := advisory.Name("pgadvisory cron", "pgadvisory_cron", "job", "2024-05-04T12:00:00Z")
	if got := cron.Key("job", noon.In(time.FixedZone("", 3600))); got != want {
		t.Errorf("key %v, not %v", got, want)
	}
	if got := cron.Key("job", noon, cron.In("x")); got == want {
		t.Error("schemas share keys")
	}
}
