package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// A tool is a vet tool that takes part.
type tool struct {
	name string
	path string // import path of its main package
}

const module = "github.com/pgadvisory/pgadvisory"

// The tools, by their places in tools.
const (
	noop = iota
	again
	ours
)

var tools = []tool{
	{"no-op", module + "/testdata/vetbench/noop"},
	{"no-op again", module + "/testdata/vetbench/noop"},
	{"advisorylint", module + "/cmd/advisorylint"},
	{"needs buildssa", module + "/testdata/vetbench/buildssa"},
}

// compare measures all tools in all rounds. It ends early, with ctx's error, when ctx ends.
func compare(ctx context.Context, rounds int, packages []string) (*table, error) {
	dir, err := os.MkdirTemp("", "vetbench")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)

	// All of them beforehand, so that every round measures the same sources.
	fmt.Fprintln(os.Stderr, "building the tools")
	warmUp, err := build(ctx, dir, tools[noop])
	if err != nil {
		return nil, err
	}
	binaries := make([][]string, rounds)
	for round := range binaries {
		for _, t := range tools {
			binary, err := build(ctx, dir, t)
			if err != nil {
				return nil, err
			}
			binaries[round] = append(binaries[round], binary)
		}
	}
	fmt.Fprintln(os.Stderr, "a first run, which does not count")
	if _, err := measure(ctx, warmUp, packages); err != nil {
		return nil, err
	}
	result := &table{}
	for round := range rounds {
		row := make([]sample, len(tools))
		for turn := range tools {
			i := (round + turn) % len(tools)
			if row[i], err = measure(ctx, binaries[round][i], packages); err != nil {
				return nil, err
			}
			fmt.Fprintf(os.Stderr, "round %d: %-14s %6.2f CPU-s, of which %.2f are the go command's\n",
				round+1, tools[i].name, row[i].total.Seconds(), row[i].own.Seconds())
		}
		result.rows = append(result.rows, row)
	}
	return result, nil
}

// A sample is the CPU time of one run.
type sample struct {
	total time.Duration // the go command and all that it started
	own   time.Duration // the go command alone: the same run when all results are kept already
}

// work is what the tool itself cost, roughly.
func (s sample) work() time.Duration { return s.total - s.own }

// build links a tool under a build ID of its own, so that no cache knows it, and returns its file.
func build(ctx context.Context, dir string, t tool) (string, error) {
	id := rand.Text()
	binary := filepath.Join(dir, id)
	cmd := exec.CommandContext(ctx, "go", "build", "-o", binary, "-ldflags=-buildid=vetbench-"+id, t.path)
	if output, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("cannot build %s: %w\n%s", t.path, err, output)
	}
	return binary, nil
}

// measure runs go vet with the tool twice: when nothing is known of any package, and when everything is.
func measure(ctx context.Context, binary string, packages []string) (sample, error) {
	var s sample
	var err error
	if s.total, err = vet(ctx, binary, packages); err != nil {
		return sample{}, err
	}
	s.own, err = vet(ctx, binary, packages)
	return s, err
}

// vet runs go vet and returns its CPU time. The time of a process includes that of the children it has waited for, and theirs;
// the go command waits for all of them. -json makes it succeed whether or not there are findings.
func vet(ctx context.Context, binary string, packages []string) (time.Duration, error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"vet", "-json", "-vettool=" + binary}, packages...)...)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("go vet: %w", err)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}
