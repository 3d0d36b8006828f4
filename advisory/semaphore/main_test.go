package semaphore_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pgadvisory/pgadvisory/advisory"
	"github.com/pgadvisory/pgadvisory/advisory/pgtest"
)

// server is shared by the package's tests; each takes a database of its own.
var server *pgtest.Server

func TestMain(m *testing.M) {
	if os.Getenv(contenderEnv) != "" {
		os.Exit(contend())
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

// eachDriver runs test once per driver, each with an empty database.
func eachDriver(t *testing.T, test func(t *testing.T, driver string, database *pgtest.Database)) {
	t.Helper()
	for _, driver := range pgtest.Drivers {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			test(t, driver, server.Database(t))
		})
	}
}

// patience bounds every wait for something that must happen.
const patience = 30 * time.Second

func testContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	t.Cleanup(cancel)
	return ctx
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// eventually waits until condition is true.
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

// newLocker returns a locker that is closed when t ends.
func newLocker(t testing.TB, db *sql.DB, opts ...advisory.LockerOption) *advisory.Locker {
	locker := advisory.NewLocker(db, opts...)
	t.Cleanup(func() {
		if err := locker.Close(); err != nil && !t.Failed() {
			t.Logf("Close: %v", err) // staged faults end like that, too
		}
	})
	return locker
}

// assertClean checks that nothing is left: no lock, no connection in use.
func assertClean(t testing.TB, db *sql.DB) {
	t.Helper()
	if n := db.Stats().InUse; n != 0 {
		t.Errorf("%d connections are still in use", n)
	}
	// A connection that was closed takes the server some milliseconds to notice.
	eventually(t, "all locks are gone", func() bool {
		var n int
		must(t, db.QueryRowContext(testContext(t), `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`).Scan(&n))
		return n == 0
	})
}
