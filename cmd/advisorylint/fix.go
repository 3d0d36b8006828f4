package main

import (
	"context"
	"slices"
)

// fix applies the fixes that findings carry, or prints them as a diff, and returns the exit status.
//
// The packages are checked first, in the form of go vet that tells findings from packages which could not be checked, since
// go vet -fix exits with 1 for both. go vet -fix itself runs only if there is something to fix: other flags make the go
// command check all dependencies anew.
func (j *job) fix(ctx context.Context) int {
	found, err := j.look(ctx)
	if err != nil {
		return j.report(found, err)
	}
	fixable := slices.ContainsFunc(found.findings, func(f finding) bool { return len(f.Fixes) > 0 })
	switch {
	case j.opts.diff && fixable:
		return j.diff(ctx, found)
	case j.opts.diff && found.complete:
		return statusClean
	case j.opts.diff:
		return statusNotRun
	case !fixable:
		return j.report(found, nil)
	}

	_, failed, err := j.goCommand.vet(ctx, found.packages, "-fix")
	if err != nil {
		return j.report(found, err)
	}
	left, err := j.look(ctx)
	left.complete = left.complete && found.complete && !failed
	return j.report(left, err)
}

// diff prints what fix would change.
func (j *job) diff(ctx context.Context, found survey) int {
	output, failed, err := j.goCommand.vet(ctx, found.packages, "-fix", "-diff")
	if err == nil {
		_, err = j.stdout.Write(output)
	}
	switch {
	case err != nil:
		complain(j.stderr, err)
		return statusNotRun
	case !found.complete, failed && len(output) == 0:
		return statusNotRun
	case len(output) > 0:
		return statusFindings
	}
	return statusClean
}
