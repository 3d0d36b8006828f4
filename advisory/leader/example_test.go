package leader_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/pgadvisory/pgadvisory/advisory"
	"github.com/pgadvisory/pgadvisory/advisory/leader"
)

// One of several servers does what must be done by one only, for as long as it is there.
func ExampleElector_Run() {
	db, err := sql.Open("pgx", server.DSN())
	if err != nil {
		panic(err)
	}
	defer db.Close()
	locker := advisory.NewLocker(db)
	defer locker.Close()

	ctx, shutdown := context.WithCancel(context.Background())
	elector := leader.New(locker, advisory.Name("scheduler"))
	err = elector.Run(ctx, func(ctx context.Context, term leader.Term) error {
		fmt.Println("leads:", elector.IsLeader(), "term:", term.Number)
		shutdown() // as a signal would do
		<-ctx.Done()
		return ctx.Err()
	})
	fmt.Println("shut down:", errors.Is(err, context.Canceled), "leads:", elector.IsLeader())
	// Output:
	// leads: true term: 1
	// shut down: true leads: false
}

// A leader that was cut off, or stopped, and does not know yet that another leads, cannot write any more: its writes are fenced by the term's lease.
func ExampleTerm() {
	db, err := sql.Open("pgx", server.DSN())
	if err != nil {
		panic(err)
	}
	defer db.Close()
	ctx := context.Background()
	if _, err := db.Exec("CREATE TABLE plan (step int)"); err != nil {
		panic(err)
	}
	defer db.Exec("DROP TABLE plan")
	locker := advisory.NewLocker(db)
	defer locker.Close()

	write := func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO plan VALUES (1)")
		return err
	}
	errDone := errors.New("done")
	var ended leader.Term
	leader.New(locker, advisory.Name("planner")).Run(ctx, func(ctx context.Context, term leader.Term) error {
		fmt.Println("during the term:", term.Lease.Do(ctx, db, write))
		ended = term
		return errDone
	})
	fmt.Println("after it:", ended.Lease.Do(ctx, db, write) != nil)
	// Output:
	// during the term: <nil>
	// after it: true
}

// A server hands leadership over, for example before it is updated.
func ExampleElector_Resign() {
	db, err := sql.Open("pgx", server.DSN())
	if err != nil {
		panic(err)
	}
	defer db.Close()
	ctx, stop := context.WithCancel(context.Background())

	leads := make(chan string)
	run := func(name string) (*leader.Elector, chan struct{}) {
		locker := advisory.NewLocker(db)
		elector := leader.New(locker, advisory.Name("handover"))
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer locker.Close()
			elector.Run(ctx, func(ctx context.Context, _ leader.Term) error {
				leads <- name
				<-ctx.Done()
				return ctx.Err()
			})
		}()
		return elector, done
	}
	blue, blueDone := run("blue")
	fmt.Println("leader:", <-leads)
	_, greenDone := run("green")
	fmt.Println("blue resigns:", blue.Resign(ctx))
	fmt.Println("leader:", <-leads)
	stop()
	<-blueDone
	<-greenDone
	// Output:
	// leader: blue
	// blue resigns: <nil>
	// leader: green
}

// Any process can ask who leads.
func ExampleLeader() {
	db, err := sql.Open("pgx", server.DSN())
	if err != nil {
		panic(err)
	}
	defer db.Close()
	candidate, err := sql.Open("pgx", server.DSN()+"&application_name=web-3")
	if err != nil {
		panic(err)
	}
	defer candidate.Close()
	locker := advisory.NewLocker(candidate)
	defer locker.Close()

	key := advisory.Name("who leads")
	_, ok, err := leader.Leader(context.Background(), db, key)
	fmt.Println(ok, err)
	errDone := errors.New("done")
	leader.New(locker, key).Run(context.Background(), func(ctx context.Context, _ leader.Term) error {
		holder, ok, err := leader.Leader(ctx, db, key)
		fmt.Println(ok, err, holder.Application)
		return errDone
	})
	// Output:
	// false <nil>
	// true <nil> web-3
}
