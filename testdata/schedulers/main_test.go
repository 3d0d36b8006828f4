package schedulers_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pgadvisory/pgadvisory/advisory"
	"github.com/pgadvisory/pgadvisory/advisory/cron"
	"github.com/pgadvisory/pgadvisory/advisory/pgtest"
)

var server *pgtest.Server

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	var err error
	if server, err = pgtest.New(context.Background()); err != nil {
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

const patience = 60 * time.Second

func testContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !condition() {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", patience, what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func count(t testing.TB, db *sql.DB, query string) (n int) {
	t.Helper()
	must(t, db.QueryRowContext(testContext(t), query).Scan(&n))
	return n
}

// eachDriver runs test once per driver, with a database that has cron's tables, and the table work for what jobs do.
func eachDriver(t *testing.T, test func(t *testing.T, open func() *sql.DB)) {
	for _, driver := range pgtest.Drivers {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			database := server.Database(t)
			open := func() *sql.DB { return database.Open(t, driver) }
			db := open()
			must(t, cron.Migrate(testContext(t), db))
			_, err := db.Exec("CREATE TABLE work (at timestamptz NOT NULL DEFAULT clock_timestamp(), node text NOT NULL)")
			must(t, err)
			test(t, open)
		})
	}
}

// work is a job that leaves a row behind.
func work(node string) func(context.Context, *sql.Tx) error {
	return func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO work (node) VALUES ($1)", node)
		return err
	}
}

// terminate ends the session that holds the lease on a key, and returns when it is gone.
func terminate(t testing.TB, db *sql.DB, key advisory.Key) {
	t.Helper()
	_, err := db.ExecContext(testContext(t), `SELECT pg_terminate_backend(pid, 60000) FROM pg_locks WHERE locktype = 'advisory' AND granted
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND (classid::bigint << 32 | objid::bigint) = `+advisory.LeaseKey(key).String())
	must(t, err)
}
