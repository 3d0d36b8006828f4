package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
)

// A job is one run of advisorylint over packages.
type job struct {
	opts           options
	goCommand      goCommand
	namer          namer
	stdout, stderr io.Writer
}

func newJob(opts options, stdout, stderr io.Writer) (*job, error) {
	command, err := newGoCommand(opts, stderr)
	if err != nil {
		return nil, err
	}
	namer, err := newNamer()
	if err != nil {
		return nil, err
	}
	return &job{opts, command, namer, stdout, stderr}, nil
}

// A survey is what is known of the packages after they were checked.
type survey struct {
	packages []string // the packages that load, in a form that the go command takes
	findings []finding
	complete bool // whether every package asked for was checked
}

// check checks the packages, prints the findings, and returns the exit status.
func (j *job) check(ctx context.Context) int {
	found, err := j.look(ctx)
	return j.report(found, err)
}

// report prints what was found and returns the exit status. An err makes the survey incomplete, but what it holds is printed.
func (j *job) report(found survey, err error) int {
	if err != nil {
		complain(j.stderr, err)
		found.complete = false
	}
	if j.opts.json {
		err = writeJSON(j.stdout, document{found.complete, found.findings})
	} else {
		err = writeText(j.stdout, found.findings)
	}
	switch {
	case err != nil:
		complain(j.stderr, err)
		return statusNotRun
	case !found.complete:
		return statusNotRun
	case len(found.findings) > 0:
		return statusFindings
	}
	return statusClean
}

// errOldGo stands for a run of go vet which succeeded and had nothing to say about any package, not even that it is clean.
var errOldGo = errors.New(`go vet gave no results that advisorylint can read; it needs the go command of Go 1.26 or newer
("go version" tells which one is on PATH; GOTOOLCHAIN=go1.26.0+auto lets it fetch one; go vet -vettool works with older ones)`)

// look runs go vet over the packages. One package that does not load (an import that is not there, a file that does not begin
// like Go) makes go vet give up on all of them; look then goes on with the packages that do load.
func (j *job) look(ctx context.Context) (survey, error) {
	found := survey{packages: j.opts.packages}
	res, failed, err := j.vet(ctx, found.packages)
	if err == nil && failed && res.packages == 0 {
		var loadable []string
		if loadable, err = j.goCommand.loadable(ctx, found.packages); err == nil && len(loadable) > 0 {
			found.packages = loadable
			res, _, err = j.vet(ctx, loadable)
		}
	}
	if err == nil && !failed && res.packages == 0 {
		err = errOldGo
	}
	for _, failure := range res.failures {
		complain(j.stderr, errors.New(failure))
	}
	found.complete = err == nil && !failed && len(res.failures) == 0
	found.findings = res.findings
	if !j.opts.tests {
		found.findings = slices.DeleteFunc(found.findings, finding.inTest)
	}
	j.namer.shorten(found.findings)
	found.findings = arrange(found.findings)
	return found, err
}

// vet runs go vet once. failed tells that it could not check everything.
func (j *job) vet(ctx context.Context, packages []string) (res results, failed bool, err error) {
	output, failed, err := j.goCommand.vet(ctx, packages, "-json")
	if err != nil {
		return results{}, true, err
	}
	res, err = decode(bytes.NewReader(output))
	return res, failed, err
}
