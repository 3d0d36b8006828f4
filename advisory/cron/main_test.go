package cron_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pgadvisory/pgadvisory/advisory/cron"
	"github.com/pgadvisory/pgadvisory/advisory/pgtest"
)

// server is shared by the package's tests; each takes a database of its own.
var server *pgtest.Server

func TestMain(m *testing.M) {
	if os.Getenv("CRON_NODE") != "" {
		os.Exit(node())
	}
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	var err error
	server, err = pgtest.New(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if err := server.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return code
}

// patience bounds every wait for something that must happen.
const patience = 60 * time.Second

func testContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// eachDriver runs test once per driver, each with a database that has the tables and one called work.
func eachDriver(t *testing.T, test func(t *testing.T, database *pgtest.Database, db *sql.DB, driver string)) {
	t.Helper()
	for _, driver := range pgtest.Drivers {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			database := server.Database(t)
			db := database.Open(t, driver)
			prepare(t, db)
			test(t, database, db, driver)
		})
	}
}

func prepare(t testing.TB, db *sql.DB) {
	t.Helper()
	must(t, cron.Migrate(testContext(t), db))
	execute(t, db, "CREATE TABLE work (tick timestamptz NOT NULL, node text NOT NULL)")
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func execute(t testing.TB, db *sql.DB, query string) {
	t.Helper()
	_, err := db.ExecContext(testContext(t), query)
	must(t, err)
}

func count(t testing.TB, db *sql.DB, query string) (n int) {
	t.Helper()
	must(t, db.QueryRowContext(testContext(t), query).Scan(&n))
	return n
}

func eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !condition() {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", patience, what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// assertClean checks that neither connections nor advisory locks are left.
func assertClean(t testing.TB, db *sql.DB) {
	t.Helper()
	if n := db.Stats().InUse; n != 0 {
		t.Errorf("%d connections are still in use", n)
	}
	eventually(t, "all locks are gone", func() bool {
		return count(t, db, `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`) == 0
	})
}

// insert is a job that leaves a row in work.
func insert(tick time.Time, node string) func(context.Context, *sql.Tx) error {
	return func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO work VALUES ($1, $2)", tick, node)
		return err
	}
}

// noon is the first tick of the tests.
var noon = time.Date(2024, 5, 4, 12, 0, 0, 0, time.UTC)

type attempt struct {
	Attempt int
	State   cron.State
	Error   string
}

// history returns the runs of one tick, the first first.
func history(t testing.TB, db *sql.DB, job string, tick time.Time) (attempts []attempt) {
	t.Helper()
	runs, err := cron.Runs(testContext(t), db, job, 1000)
	must(t, err)
	for _, r := range runs {
		if r.Tick.Equal(tick) {
			attempts = append([]attempt{{r.Attempt, r.State, r.Error}}, attempts...)
		}
	}
	return attempts
}
