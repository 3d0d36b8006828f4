package advisory_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pgadvisory/pgadvisory/advisory"
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
func eachDriver(t *testing.T, test func(t *testing.T, db *sql.DB)) {
	t.Helper()
	for _, driver := range pgtest.Drivers {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			test(t, server.Database(t).Open(t, driver))
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

func begin(t testing.TB, db *sql.DB, opts *sql.TxOptions) *sql.Tx {
	t.Helper()
	tx, err := db.BeginTx(testContext(t), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tx.Rollback() })
	return tx
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

// A hold is one row of pg_locks.
type hold struct {
	key     advisory.Key
	mode    string
	granted bool
}

// locks returns the advisory locks of db's database, sorted by key.
func locks(t testing.TB, db *sql.DB) []hold {
	t.Helper()
	rows, err := db.QueryContext(testContext(t), `
		SELECT classid::int8, objid::int8, objsubid, mode, granted FROM pg_locks
		WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var held []hold
	for rows.Next() {
		var class, object, sub int64
		var h hold
		must(t, rows.Scan(&class, &object, &sub, &h.mode, &h.granted))
		if sub == 1 {
			h.key = advisory.ID(class<<32 | object)
		} else {
			h.key = advisory.Pair(int32(class), int32(object))
		}
		held = append(held, h)
	}
	must(t, rows.Err())
	slices.SortFunc(held, func(a, b hold) int { return a.key.Compare(b.key) })
	return held
}

func keysOf(held []hold) []advisory.Key {
	var keys []advisory.Key
	for _, h := range held {
		if h.granted {
			keys = append(keys, h.key)
		}
	}
	return keys
}

// waiting reports whether some session waits for an advisory lock.
func waiting(t testing.TB, db *sql.DB) bool {
	return slices.ContainsFunc(locks(t, db), func(h hold) bool { return !h.granted })
}

// assertClean checks that nothing is left: no lock, no connection in use, no open transaction.
func assertClean(t testing.TB, db *sql.DB) {
	t.Helper()
	// When ctx ends, database/sql rolls back in a goroutine of its own.
	eventually(t, "all connections are back", func() bool { return db.Stats().InUse == 0 })
	// A connection that was closed takes the server some milliseconds to notice.
	eventually(t, "all locks are gone", func() bool { return len(locks(t, db)) == 0 })
}
