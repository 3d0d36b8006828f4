// Package demo is what "advisory demo" shows: locks at work, a lock that leaks
// into a connection pool, and the linter finding it. Everything it prints has
// just happened.
package demo

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/pgadvisory/pgadvisory/advisory/pgtest"
)

// Run runs the demo on a server from package pgtest and writes it to stdout. It
// takes a few seconds.
//
// It returns nil if all steps did what they show. When ctx ends it stops, and the
// error wraps [context.Cause] of ctx. However it ends, the server, the database
// and the files that it made are gone when it returns, or the error says which of
// them are not.
func Run(ctx context.Context, stdout io.Writer) error {
	begun := time.Now()
	p := &page{w: stdout}
	p.text(`An advisory lock is a number that one client of a PostgreSQL database holds at a time, while the others wait.
		What the number stands for is up to the programs: an account, a nightly job. This demo takes such locks,
		leaks one, and finds the leak in the code. All that it prints has just happened.`)
	if err := play(ctx, p); err != nil {
		return err
	}
	p.space()
	if external() {
		p.text("Done in %s. The database that the demo had created on your server is dropped.", since(begun))
	} else {
		p.text("Done in %s. The server is stopped, and its files are gone.", since(begun))
	}
	return p.err
}

// steps are what is played, in this order.
var steps = []func(context.Context, *page, *stage) error{
	showAccount,
	showSkip,
	showLeak,
	showDo,
	showLinter,
}

// play plays all steps on a stage, and closes it.
func play(ctx context.Context, p *page) (err error) {
	begun := time.Now()
	p.space()
	if external() {
		p.text("Creating a database on the server that ADVISORY_TEST_DSN names.")
	} else {
		p.text("Starting a throwaway PostgreSQL server.")
	}
	if p.err != nil {
		return endedBy(ctx, p.err)
	}
	server, err := pgtest.New(ctx)
	if err != nil {
		return endedBy(ctx, err)
	}
	stage := &stage{server: server}
	defer func() { err = errors.Join(err, stage.close(ctx)) }()
	if err := stage.prepare(ctx); err != nil {
		return endedBy(ctx, err)
	}
	p.text("PostgreSQL %s is ready after %s.", stage.version, since(begun))
	for _, step := range steps {
		if err := step(ctx, p, stage); err != nil {
			return endedBy(ctx, err)
		}
		if p.err != nil {
			return endedBy(ctx, p.err)
		}
	}
	return nil
}

// endedBy returns the reason why ctx ended in place of an error that only
// followed from it.
func endedBy(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}
