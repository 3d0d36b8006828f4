package advisory_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/pgadvisory/pgadvisory/advisory"
)

// An import that runs for hours, on one server at a time. It works under the lease's context, and so stops when the lease is lost.
func ExampleLocker_Acquire() {
	db, err := sql.Open("pgx", server.DSN())
	if err != nil {
		panic(err)
	}
	defer db.Close()
	locker := advisory.NewLocker(db, advisory.TTL(5*time.Second))
	defer locker.Close()

	run := func(ctx context.Context, work func(context.Context) error) error {
		lease, err := locker.Acquire(ctx, advisory.Name("import"))
		if err != nil {
			return err
		}
		defer lease.Release(ctx) // also if ctx has ended
		return work(lease.Context())
	}

	fmt.Println(run(context.Background(), func(ctx context.Context) error {
		_, err := locker.TryAcquire(ctx, advisory.Name("import"))
		fmt.Println("another at the same time:", errors.Is(err, advisory.ErrNotAcquired))
		return ctx.Err()
	}))
	// Output:
	// another at the same time: true
	// <nil>
}

// What a holder writes is committed before the next one starts, or not at all, even if it does not know yet that it has lost the lease.
func ExampleLease_Do() {
	db, drop := exampleDB("CREATE TABLE progress (line bigint); INSERT INTO progress VALUES (0)", "progress")
	defer drop()
	locker := advisory.NewLocker(db)
	defer locker.Close()
	ctx := context.Background()

	lease, err := locker.Acquire(ctx, advisory.Name("import", "progress"))
	if err != nil {
		panic(err)
	}
	step := func() error {
		return lease.Do(ctx, db, func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, "UPDATE progress SET line = line + 1")
			return err
		})
	}
	fmt.Println("while it is held:", step())
	lease.Release(ctx)
	fmt.Println("afterwards:", errors.Is(step(), advisory.ErrReleased))

	var line int
	if err := db.QueryRow("SELECT line FROM progress").Scan(&line); err != nil {
		panic(err)
	}
	fmt.Println("line:", line)
	// Output:
	// while it is held: <nil>
	// afterwards: true
	// line: 1
}
