/*
Advisory is for people who work with PostgreSQL's advisory locks.

# Usage

	advisory demo
	advisory help [COMMAND]
	advisory version

"advisory demo" shows in a few seconds what advisory locks do, how a lock that is taken by hand leaks into a connection pool,
the same work with package advisory, and what the linter advisorylint says about such code. Everything it prints has just
happened on a real PostgreSQL server. It starts a throwaway server from the programs on this machine, or downloads them
(package pgtest tells where they are looked for, and that ADVISORY_TEST_PG names their directory), and removes it again. With
ADVISORY_TEST_DSN it uses a running server instead: it creates one database there, works in that only, and drops it.

For its last step the demo needs the go command, version 1.26 or newer, on PATH.

# Output

Standard output is the result: plain text, less than 100 columns wide, the same on a terminal and in a pipe. Standard error is
for what went wrong.

# Exit status

	0    it is done
	1    it could not be done; standard error says why
	2    the command line is wrong
	130  a signal stopped it: SIGINT (Ctrl-C), SIGTERM or SIGHUP, or SIGPIPE when nobody reads the output any more

A signal stops a command in good order: what it started or created is gone when it ends.
*/
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

// The exit statuses; the package's documentation explains them.
const (
	statusDone    = 0
	statusFailed  = 1
	statusUsage   = 2
	statusStopped = 130
)

func main() {
	os.Exit(start())
}

// start runs the command on the process's own arguments and returns its exit status.
func start() int {
	// SIGPIPE is among them so that a write to a pipe which nobody reads ends the command in good order, too.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	defer stop()
	return run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}

// A command is what the first argument names.
type command struct {
	name  string
	short string // what it does, in a few words
	usage string // its documentation, which begins with the usage line
	run   func(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int
}

// commands are all that there are, besides help and version, in the order of the help text.
var commands = []command{demoCommand}

// run runs the command that args name and returns the exit status. When ctx ends, so does the command, after it has removed
// what it had started or created.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		overview(stderr)
		return statusUsage
	}
	name, args := args[0], args[1:]
	switch {
	case name == "help" || isHelpFlag(name):
		return help(args, stdout, stderr)
	case name == "version" || name == "-version" || name == "--version":
		return version(args, stdout, stderr)
	}
	cmd, ok := lookUp(name)
	switch {
	case !ok:
		return misuse(stderr, "there is no command %q", name)
	case len(args) > 0 && isHelpFlag(args[0]):
		return help([]string{name}, stdout, stderr)
	}
	return cmd.run(ctx, args, stdin, stdout, stderr)
}

func lookUp(name string) (command, bool) {
	at := slices.IndexFunc(commands, func(cmd command) bool { return cmd.name == name })
	if at < 0 {
		return command{}, false
	}
	return commands[at], true
}

// misuse says what is wrong with the command line, and returns the exit status for that.
func misuse(stderr io.Writer, format string, args ...any) int {
	fmt.Fprintf(stderr, "advisory: "+format+"; \"advisory help\" tells what there is\n", args...)
	return statusUsage
}

// failed says why a command did not do what it should, and returns the exit status for that. The error is ctx's cause, or
// wraps it, if a signal ended the command.
func failed(ctx context.Context, stderr io.Writer, name string, err error) int {
	if cause := context.Cause(ctx); cause != nil {
		fmt.Fprintf(stderr, "advisory: %s: stopped: %v\n", name, err)
		return statusStopped
	}
	fmt.Fprintf(stderr, "advisory: %s: %v\n", name, err)
	return statusFailed
}
