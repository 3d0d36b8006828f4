//go:build unix

package pgtest_test

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"testing"

	"github.com/pgadvisory/pgadvisory/advisory/pgtest"
)

// A program, or the TestMain of a package whose tests share one server, starts it with
// New and closes it at the end. If the program ends without Close, by
// os.Exit for instance, the server is stopped and removed all the same.
func ExampleNew() {
	ctx := context.Background()
	srv, err := pgtest.New(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()

	db, err := sql.Open("pgx", srv.DSN())
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	var got bool
	if err := db.QueryRowContext(ctx, "SELECT pg_try_advisory_lock(42)").Scan(&got); err != nil {
		log.Fatal(err)
	}
	fmt.Println("locked:", got)
	// Output: locked: true
}

// A test that needs a server for itself starts it with Start.
func ExampleStart() {
	test := func(t testing.TB) { // func TestLock(t *testing.T)
		srv := pgtest.Start(t)
		for _, driver := range pgtest.Drivers {
			db := srv.Open(t, driver)
			var got bool
			if err := db.QueryRow("SELECT pg_try_advisory_xact_lock(42)").Scan(&got); err != nil {
				t.Fatal(err)
			}
			fmt.Println("locked:", got)
		}
	}
	runTest(test)
	// Output:
	// locked: true
	// locked: true
}

// Tests that share a server take a database each, and can then run in parallel: an advisory
// lock is only seen in its own database.
func ExampleServer_Database() {
	test := func(t testing.TB) { // func TestLock(t *testing.T)
		db := shared.Database(t).Open(t, "pgx")
		db.SetMaxOpenConns(1) // one session, which keeps the lock
		var got bool
		if err := db.QueryRow("SELECT pg_try_advisory_lock(42)").Scan(&got); err != nil {
			t.Fatal(err)
		}
		fmt.Println("locked:", got)
	}
	runTest(test)
	runTest(test)
	// Output:
	// locked: true
	// locked: true
}

// A test on a failover.
func ExampleServer_StartStandby() {
	test := func(t testing.TB) { // func TestFailover(t *testing.T)
		ctx := t.Context()
		primary := pgtest.Start(t)
		standby := primary.StartStandby(t)
		if err := primary.Kill(ctx); err != nil {
			t.Fatal(err)
		}
		if err := standby.Promote(ctx); err != nil {
			t.Fatal(err)
		}
		var recovering bool
		if err := standby.Open(t, "pgx").QueryRow("SELECT pg_is_in_recovery()").Scan(&recovering); err != nil {
			t.Fatal(err)
		}
		fmt.Println("a standby:", recovering)
	}
	runTest(test)
	// Output: a standby: false
}
