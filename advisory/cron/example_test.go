package cron_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/pgadvisory/pgadvisory/advisory"
	"github.com/pgadvisory/pgadvisory/advisory/cron"
)

// exampleDB opens a pool on the test server and creates the tables in a schema, which the returned function drops.
func exampleDB(schema string) (*sql.DB, func()) {
	db, err := sql.Open("pgx", server.DSN())
	if err != nil {
		panic(err)
	}
	if err := cron.Migrate(context.Background(), db, cron.In(schema)); err != nil {
		panic(err)
	}
	return db, func() {
		if _, err := db.Exec("DROP SCHEMA " + schema + " CASCADE"); err != nil {
			panic(err)
		}
		db.Close()
	}
}

// Three nodes have the same schedule, and the clock of the last is two minutes late. The report is sent once.
func ExampleOnce() {
	db, drop := exampleDB("reports")
	defer drop()
	ctx := context.Background()

	midnight := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	for _, node := range []string{"a", "b", "late"} {
		result, err := cron.Once(ctx, db, "report", midnight, func(ctx context.Context, tx *sql.Tx) error {
			fmt.Println("node", node, "sends the report")
			return nil
		}, cron.In("reports"))
		fmt.Println(node, result.Outcome, err)
	}
	// Output:
	// node a sends the report
	// a ran <nil>
	// b already ran <nil>
	// late already ran <nil>
}

// A failure is recorded although the work is rolled back, and the next node may try again.
func ExampleRetryFailed() {
	db, drop := exampleDB("imports")
	defer drop()
	ctx := context.Background()

	tick := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	reachable := false
	load := func(ctx context.Context, tx *sql.Tx) error {
		if !reachable {
			return errors.New("the other side is down")
		}
		return nil
	}
	for range 3 {
		result, err := cron.Once(ctx, db, "import", tick, load, cron.In("imports"), cron.RetryFailed(3))
		fmt.Println(result.Outcome, result.Attempt, err)
		reachable = true
	}
	runs, err := cron.Runs(ctx, db, "import", 10, cron.In("imports"))
	for _, run := range runs {
		fmt.Printf("%s attempt %d: %s %q\n", run.Tick.Format(time.RFC3339), run.Attempt, run.State, run.Error)
	}
	fmt.Println(err)
	// Output:
	// ran 1 the other side is down
	// ran 2 <nil>
	// already ran 2 <nil>
	// 2026-07-01T12:00:00Z attempt 2: succeeded ""
	// 2026-07-01T12:00:00Z attempt 1: failed "the other side is down"
	// <nil>
}

// A job that takes hours, in many small transactions. Each is fenced by the lease: it commits before another node can start the tick again, or not at all.
func ExampleOnceLeased() {
	db, drop := exampleDB("archive")
	defer drop()
	ctx := context.Background()
	locker := advisory.NewLocker(db)
	defer locker.Close()

	if _, err := db.Exec("CREATE TABLE archive.item (id int)"); err != nil {
		panic(err)
	}
	night := time.Date(2026, 7, 1, 2, 0, 0, 0, time.UTC)
	result, err := cron.OnceLeased(ctx, locker, db, "archive", night, func(ctx context.Context, lease *advisory.Lease) error {
		for id := range 3 {
			err := lease.Do(ctx, db, func(ctx context.Context, tx *sql.Tx) error {
				_, err := tx.ExecContext(ctx, "INSERT INTO archive.item VALUES ($1)", id)
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	}, cron.In("archive"), cron.RetryCrashed(3), cron.Keep(90*24*time.Hour))
	fmt.Println(result.Outcome, err)

	var items int
	err = db.QueryRow("SELECT count(*) FROM archive.item").Scan(&items)
	fmt.Println(items, "items", err)
	// Output:
	// ran <nil>
	// 3 items <nil>
}
