//go:build unix

package pgtest_test

import (
	"database/sql"
	"fmt"
	"testing"

	"github.com/pgadvisory/pgadvisory/advisory/pgtest"
)

func TestDatabasesAreApart(t *testing.T) {
	const key = 42
	for i := range 4 {
		for _, driver := range pgtest.Drivers {
			t.Run(fmt.Sprint(driver, i), func(t *testing.T) {
				t.Parallel()
				db := shared.Database(t).Open(t, driver)
				db.SetMaxOpenConns(1) // the lock stays on this connection
				run(t, db, "CREATE TABLE mine ()")
				// All take the same key and none waits for another.
				if !ask[bool](t, db, "SELECT pg_try_advisory_lock($1)", key) {
					t.Error("the lock of another database is in the way")
				}
			})
		}
	}
}

func TestDatabaseIsDropped(t *testing.T) {
	db := shared.Open(t, "pgx")
	var name string
	var leaked *sql.Conn
	r := runTest(func(tb testing.TB) {
		d := shared.Database(tb)
		name = d.Name()
		// A session that the test forgets must not keep the database alive.
		pool, err := sql.Open("pgx", d.DSN())
		if err != nil {
			tb.Fatal(err)
		}
		t.Cleanup(func() { pool.Close() })
		if leaked, err = pool.Conn(t.Context()); err != nil {
			tb.Fatal(err)
		}
		if !ask[bool](t, db, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", name) {
			tb.Errorf("there is no database %q", name)
		}
	})
	if r.failed {
		t.Fatal(r.text)
	}
	defer leaked.Close()
	if ask[bool](t, db, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", name) {
		t.Errorf("the database %q is still there", name)
	}
	if err := leaked.PingContext(t.Context()); err == nil {
		t.Error("the forgotten session still works")
	}
}
