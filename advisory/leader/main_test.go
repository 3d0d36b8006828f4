package leader_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pgadvisory/pgadvisory/advisory"
	"github.com/pgadvisory/pgadvisory/advisory/leader"
	"github.com/pgadvisory/pgadvisory/advisory/pgtest"
)

// server is shared by the package's tests; each takes a database of its own.
var server *pgtest.Server

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

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

// terminate ends the session that holds a lease on key.
func terminate(t testing.TB, db *sql.DB, key advisory.Key) {
	t.Helper()
	var n int
	must(t, db.QueryRowContext(testContext(t), `SELECT count(pg_terminate_backend(pid)) FROM pg_locks WHERE locktype = 'advisory' AND granted
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
		AND (classid::int8 << 32 | objid::int8)::text = '`+advisory.LeaseKey(key).String()+`'`).Scan(&n))
	if n != 1 {
		t.Fatalf("%d sessions terminated", n)
	}
}

// A candidate is an elector that runs in a goroutine of its own, as in a process of its own.
type candidate struct {
	*leader.Elector
	terms chan lead    // gets each term when it begins
	stop  func() error // ends Run, and returns what it returned
}

// A lead is a term that goes on until the test ends it, or its context ends.
type lead struct {
	leader.Term
	ctx context.Context
	end func(error) // makes the function return
}

// campaign runs an elector until t ends. Its terms last until their contexts end, or the test ends them.
func campaign(t testing.TB, locker *advisory.Locker, key advisory.Key, opts ...leader.Option) *candidate {
	c := &candidate{Elector: leader.New(locker, key, opts...), terms: make(chan lead, 100)}
	ctx, cancel := context.WithCancel(testContext(t))
	returned := make(chan error, 1)
	go func() {
		returned <- c.Run(ctx, func(ctx context.Context, term leader.Term) error {
			result := make(chan error, 1)
			c.terms <- lead{term, ctx, func(err error) { result <- err }}
			select {
			case err := <-result:
				return err
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	c.stop = sync.OnceValue(func() error {
		cancel()
		return <-returned
	})
	t.Cleanup(func() { c.stop() })
	return c
}

// next waits for the next term of one of the candidates, and returns which one's it is.
func next(t testing.TB, candidates ...*candidate) (int, lead) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(100 * time.Microsecond) {
		for i, c := range candidates {
			select {
			case l := <-c.terms:
				return i, l
			default:
			}
		}
	}
	t.Fatalf("nobody leads within %v", patience)
	panic("unreachable")
}

// done waits for the end of a context, and returns its cause.
func done(t testing.TB, ctx context.Context) error {
	t.Helper()
	select {
	case <-ctx.Done():
	case <-time.After(patience):
		t.Fatalf("the context does not end within %v", patience)
	}
	return context.Cause(ctx)
}
