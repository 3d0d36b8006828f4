/*
Advisorylint finds wrong uses of PostgreSQL's advisory locks in Go code: locks taken through a connection pool, locks which
are not released on some way out, transaction-level locks outside a transaction, try-locks whose answer is thrown away.
"advisorylint help" lists the rules, and "advisorylint help RULE" explains one, with wrong and right code.

# Usage

	advisorylint [flags] [packages]
	advisorylint help [RULE...]
	advisorylint version
	go vet -vettool=$(which advisorylint) [flags] [packages]

Packages are named as for any go command ("go help packages"); without one it is the package in the current directory. The
flags come before the packages.

The first form runs the last one: it starts "go vet -json -vettool=ITSELF" and prints what that finds. So packages are loaded
just as the go command loads them, results are kept in the go command's cache, and what is known of a lock helper in one
package is known where another package calls it. What the first form adds: an exit status which tells findings from code that
could not be checked (go vet exits with 1 for both), the rule's name on every line, a fixed order, and one JSON document.
It needs a go command of Go 1.26 or newer on PATH.

# Output

Findings go to standard output, one on a line, in the order of file, line, column, and rule:

	store/job.go:41:12: message (rule)

A place that belongs to a finding follows it on a line of its own which starts with a tab. Paths are relative to the current
directory where that is shorter, as the go command prints them; with -C they are still relative to the directory where
advisorylint was started. A finding that several builds of one file share (the package, and the package with its tests) is
printed once. Standard error is for people: what the go command says, and what could not be checked.

# Exit status

	0  every package was checked, and there is no finding
	1  every package was checked, and there are findings; with -diff: the diff is not empty
	2  something could not be checked: a package does not compile or does not load, no package matched, a flag is
	   wrong, there is no go command, or the run was interrupted

With status 2 standard error says what was not checked, in the go command's own words. The findings of the packages that
could be checked are printed all the same.

# Flags

Every rule is a flag of its own, and they work as in go vet: -poollock=false runs all rules but this one, -poollock runs this
one alone. A rule's own options carry its name: -lostunlock.panic=false.

	-json   print one JSON document instead of lines of text
	-fix    apply the fixes that findings carry, then check again and report what is left
	-diff   with -fix: change no file, print the changes as a unified diff
	-test=false
	        leave findings in _test.go files out

Build flags are handed to the go command unchanged: -C, -a, -asan, -buildvcs, -compiler, -gcflags, -mod, -modcacherw,
-modfile, -msan, -overlay, -p, -race, -tags, -toolexec, -trimpath, -v, -x ("go help build"). GOFLAGS works as always.

# JSON

With -json standard output is one document, whatever the exit status, unless the command line itself was wrong:

	{
		"complete": true,
		"findings": [
			{
				"rule": "poollock",
				"package": "example.com/app/store",
				"file": "store/job.go",
				"line": 41, "column": 12,
				"end_line": 41, "end_column": 58,
				"message": "…",
				"related": [{"file": "…", "line": 12, "column": 2, "message": "…"}],
				"fixes": [{"message": "…", "edits": [{"file": "…", "start": 901, "end": 917, "new": "…"}]}]
			}
		]
	}

"complete" tells whether every package asked for was checked: false goes with exit status 2. Lines and columns count from 1,
columns in bytes; start and end of an edit are byte offsets in the file, the end not included. "message" comes without the
rule's name at its end. "findings" is never null; "end_line", "end_column", "related" and "fixes" are left out where there is
nothing to say. Fields may be added in later versions, none is renamed or removed.

# Fixes

No rule carries a fix yet: today -fix changes nothing and reports what a run without it does, and -fix -diff prints nothing.
An empty diff says that there is nothing to apply, not that there are no findings.

-fix goes through "go vet -fix", which never changes the files of other modules, vendored ones included. It formats the files
that it changes. A fix which contradicts another one is left out; run it again. -json with -fix reports what is left; with
-diff there is nothing for it to report, so the two exclude each other. A fix cannot be kept away from test files either: -fix
and -test=false exclude each other.

# In CI

	go install github.com/pgadvisory/pgadvisory/cmd/advisorylint@latest
	advisorylint ./...

Any status but 0 fails the step, and the log tells 1 from 2. Where go vet runs anyway, go vet -vettool=$(which advisorylint)
does the same work and shares the cache. The tool must have been built with a Go at least as new as the go line of the module
that it checks: build it again when Go is updated.

As a vet tool it speaks the go command's protocol (-V=full, -flags, and a *.cfg file); -V=full gives the hash of the
executable, so that results kept by an older build of advisorylint are never used for a newer one.
*/
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/tools/go/analysis"

	"github.com/pgadvisory/pgadvisory/analyzer"
)

// The exit statuses; the package's documentation explains them.
const (
	statusClean    = 0
	statusFindings = 1
	statusNotRun   = 2
)

func main() {
	os.Exit(start(analyzer.Suite))
}

// start runs the command on the process's own arguments and returns its exit status. It does not return when the go command
// is the caller: package unitchecker then ends the process.
func start(rules []*analysis.Analyzer) int {
	args := os.Args[1:]
	if calledByGo(args) {
		// No signal is caught here: an interrupt has to end the tool at once.
		return serveGo(rules, args, os.Stdout, os.Stderr)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return run(ctx, rules, args, os.Stdin, os.Stdout, os.Stderr)
}

// run is advisorylint as people call it: with packages, or with a word such as help. It returns the exit status. When ctx
// ends, the go command that it started is interrupted, and run returns once that has ended.
func run(ctx context.Context, rules []*analysis.Analyzer, args []string, _ io.Reader, stdout, stderr io.Writer) int {
	if len(args) > 0 {
		switch args[0] {
		case "help":
			return help(rules, args[1:], stdout, stderr)
		case "version", "-version", "--version":
			return version(stdout)
		}
	}
	opts, err := parseFlags(rules, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return help(rules, nil, stdout, stderr)
	case err != nil:
		complain(stderr, err)
		return statusNotRun
	}
	job, err := newJob(opts, stdout, stderr)
	if err != nil {
		complain(stderr, err)
		return statusNotRun
	}
	if opts.fix {
		return job.fix(ctx)
	}
	return job.check(ctx)
}

// complain tells people, on standard error, why something could not be done.
func complain(stderr io.Writer, err error) {
	fmt.Fprintf(stderr, "advisorylint: %v\n", err)
}
