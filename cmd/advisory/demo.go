package main

import (
	"context"
	"io"

	"github.com/pgadvisory/pgadvisory/cmd/advisory/internal/demo"
)

var demoCommand = command{
	name:  "demo",
	short: "see a lock work, leak, and be found: on a real server, in a few seconds",
	usage: `usage: advisory demo

Shows on a real PostgreSQL server, in a few seconds:
  1. two workers and one lock
  2. a lock that is taken by hand leaking into a connection pool
  3. the same work with package advisory, where nothing leaks
  4. the linter finding such mistakes in a sample program

The server is a throwaway one, started from the PostgreSQL programs on this machine. If there are
none they are downloaded, which takes longer, once. It is stopped and removed at the end, and on
Ctrl-C. The last step needs the go command, which the first time may compile a part of the
standard library for it.

environment:
  ADVISORY_TEST_PG   the directory of the programs postgres and initdb
  ADVISORY_TEST_DSN  use this running server instead. The demo creates a database there, works in
                     that only, and drops it.
`,
	run: runDemo,
}

func runDemo(ctx context.Context, args []string, _ io.Reader, stdout, stderr io.Writer) int {
	if len(args) > 0 {
		return misuse(stderr, "demo takes no arguments")
	}
	if err := demo.Run(ctx, stdout); err != nil {
		return failed(ctx, stderr, "demo", err)
	}
	return statusDone
}
