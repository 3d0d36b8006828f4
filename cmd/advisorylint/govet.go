package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// A goCommand starts the go command with the flags of one command line.
type goCommand struct {
	path   string // the go command
	self   string // this program, which go vet runs on every package
	opts   options
	stderr *noveltyWriter
}

// interruptGrace is how long an interrupted go command may take to end. It lets the compilers and tools that it started
// finish, so it is not quick, but these are steps of seconds.
const interruptGrace = 15 * time.Second

func newGoCommand(opts options, stderr io.Writer) (goCommand, error) {
	path, err := exec.LookPath("go")
	if err != nil {
		return goCommand{}, fmt.Errorf("cannot run the go command, which loads the packages: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return goCommand{}, fmt.Errorf("cannot find this program's own file, which go vet runs: %w", err)
	}
	return goCommand{path, self, opts, newNoveltyWriter(stderr)}, nil
}

// run runs a go subcommand with the user's build flags in front of args, and returns what it printed on standard output.
// failed tells that it ended with a status other than 0. The error is ctx's when ctx ended it, or says why it did not run.
func (g goCommand) run(ctx context.Context, subcommand string, args ...string) (output []byte, failed bool, err error) {
	line := []string{subcommand}
	if g.opts.dir != "" {
		line = append(line, "-C="+g.opts.dir) // must come first
	}
	line = append(line, g.opts.build...)
	line = append(line, args...)

	cmd := exec.CommandContext(ctx, g.path, line...)
	var stdout bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, g.stderr
	cmd.Cancel = func() error {
		// The go command then starts nothing more and removes its temporary files. Windows can only kill.
		if cmd.Process.Signal(os.Interrupt) == nil {
			return nil
		}
		return cmd.Process.Kill()
	}
	cmd.WaitDelay = interruptGrace
	err = cmd.Run()
	if werr := g.stderr.endRound(); err == nil {
		err = werr
	}

	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return nil, true, fmt.Errorf("stopped: %w", context.Cause(ctx))
	case errors.As(err, &exit):
		return stdout.Bytes(), true, nil
	case err != nil:
		return nil, true, fmt.Errorf("cannot run the go command: %w", err)
	}
	return stdout.Bytes(), false, nil
}

// vet runs go vet with this program as the tool.
func (g goCommand) vet(ctx context.Context, packages []string, flags ...string) (output []byte, failed bool, err error) {
	args := slices.Concat([]string{"-vettool=" + g.self}, flags, g.opts.rules, []string{"--"}, packages)
	return g.run(ctx, "vet", args...)
}

// loadable returns those of the packages that load: the package and all that it imports are found, and their package clauses
// and imports can be read. It returns none where that is no help: all of them load, or the packages are files. It prints
// nothing, as go vet has said already what is wrong with the others.
func (g goCommand) loadable(ctx context.Context, packages []string) ([]string, error) {
	g.stderr = newNoveltyWriter(io.Discard)
	args := slices.Concat([]string{"-e", "-f={{if .Incomplete}}-{{else}}{{.ImportPath}}{{end}}", "--"}, packages)
	output, _, err := g.run(ctx, "list", args...)
	if err != nil {
		return nil, err
	}
	all := strings.Fields(string(output))
	good := slices.DeleteFunc(slices.Clone(all), func(path string) bool { return path == "-" || path == "command-line-arguments" })
	if len(good) == len(all) {
		return nil, nil
	}
	return good, nil
}
