/*
Vetbench measures what advisorylint costs under go vet, against a tool that does nothing and against one that asks for SSA form.

	go run . [-rounds N] [-limit RATIO] [packages]

It vets all packages of golang.org/x/tools (or the packages named; they must be dependencies of this module, or "std") with
every tool in turn, in N rounds, and compares the CPU time, user and system, of the go command and all that it started. It
prints medians, and ratios to the tool that does nothing. Hardly any of these packages mentions a lock function: it is the
price that code pays which has nothing to do with locks. With -limit the exit status is 1 if advisorylint's ratio is above it.

What makes it fair:

  - Cold and warm. The go command keeps results by the hash of the tool. Every run gets a tool linked anew under a build ID
    that was never used before, so nothing is known of any package, the standard library's included. Compiled packages do stay
    in the cache, as they would for a developer; a first run, which does not count, puts them there.
  - Order. The tools take turns inside each round, and each round begins with another one, so that a busy minute of the machine,
    or what one run leaves in the caches of the hardware, meets all of them. A ratio is taken inside its round; the table shows
    the median over the rounds, and the range.
  - Noise. The tool that does nothing runs twice per round. The ratio of the second to the first would be 1.00 on a quiet
    machine; how far it is off is how far the other ratios can be trusted.
  - The go command's own work (loading packages, hashing files) is in every run, and pulls ratios towards 1. It is measured by
    running again at once, when every result is kept; the last column shows the ratios without it.
  - Garbage. Under go vet advisorylint puts its first garbage collection off, which saves more than its rules cost; the other
    tools are as package unitchecker makes them. With GOGC=100 in the environment all of them collect alike, and the ratio is
    what the rules cost.
*/
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	rounds := flag.Int("rounds", 5, "how many `rounds` to run")
	limit := flag.Float64("limit", 0, "exit with 1 if advisorylint costs more than this `ratio`; 0 means no limit")
	flag.Parse()
	packages := flag.Args()
	if len(packages) == 0 {
		packages = []string{"golang.org/x/tools/..."}
	}
	if *rounds < 1 {
		fmt.Fprintln(os.Stderr, "vetbench: -rounds must be at least 1")
		os.Exit(2)
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	table, err := compare(ctx, *rounds, packages)
	if err != nil {
		fmt.Fprintln(os.Stderr, "vetbench:", err)
		os.Exit(2)
	}
	table.print(os.Stdout)
	if ratio := table.ratio(ours); *limit > 0 && ratio > *limit {
		fmt.Fprintf(os.Stderr, "vetbench: advisorylint costs %.3f times what go vet costs with a tool that does nothing; the limit is %.3f\n", ratio, *limit)
		os.Exit(1)
	}
}
