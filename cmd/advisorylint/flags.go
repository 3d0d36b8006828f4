package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// options is a command line, taken apart.
type options struct {
	dir      string   // -C: where the go command runs; empty for the current directory
	build    []string // flags for the go command that loads the packages
	rules    []string // flags for the rules
	json     bool
	fix      bool
	diff     bool
	tests    bool     // whether findings in _test.go files count
	packages []string // as given; none means the current directory
}

// A buildFlag is a flag of the go command that decides which packages and files are loaded, or how the go command works.
// -n is missing on purpose: it checks nothing, and the silence would read as a clean bill.
type buildFlag struct {
	name  string
	takes string // what its value is; empty for a boolean
	usage string
}

var buildFlags = []buildFlag{
	{"a", "", "check again what the go command's cache knows already"},
	{"asan", "", "load the packages as for the address sanitizer"},
	{"buildvcs", "MODE", "whether version control is asked about (true, false, auto)"},
	{"compiler", "NAME", "load the packages as for this compiler (gc, gccgo)"},
	{"gcflags", "ARGS", "flags for the compiler"},
	{"mod", "MODE", "module download mode (readonly, vendor, mod)"},
	{"modcacherw", "", "leave the module cache's new directories writable"},
	{"modfile", "FILE", "use this file in place of go.mod"},
	{"msan", "", "load the packages as for the memory sanitizer"},
	{"overlay", "FILE", "JSON file that replaces source files"},
	{"p", "N", "how many programs the go command runs at once"},
	{"race", "", "load the packages as for the race detector"},
	{"tags", "LIST", "build tags, separated by commas"},
	{"toolexec", "CMD", "program that starts the tools"},
	{"trimpath", "", "build dependencies without file system paths"},
	{"v", "", "print the packages' names while they are built"},
	{"x", "", "print the commands that the go command runs"},
}

// parseFlags reads a command line. It fails on a flag that there is not, on a value that its flag does not take, on flags
// that exclude each other, and on a flag after the packages. With [flag.ErrHelp] the user asked for help.
func parseFlags(rules []*analysis.Analyzer, args []string) (options, error) {
	opts := options{tests: true}
	flags := opts.flagSet(rules)
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return opts, err
		}
		return opts, fmt.Errorf("%w\nrules: %s\nRun 'advisorylint help' for all flags", err, strings.Join(names(rules), ", "))
	}
	opts.packages = flags.Args()
	for _, name := range opts.packages {
		if strings.HasPrefix(name, "-") {
			return opts, fmt.Errorf("%s comes after a package: flags go before the packages", name)
		}
	}
	switch {
	case opts.diff && !opts.fix:
		return opts, errors.New("-diff shows what -fix would change: it needs -fix")
	case opts.diff && opts.json:
		return opts, errors.New("-diff and -json exclude each other: a diff is text")
	case opts.fix && !opts.tests:
		return opts, errors.New("-fix and -test=false exclude each other: fixes cannot be kept away from test files")
	}
	return opts, nil
}

// flagSet returns the flags that fill opts in.
func (opts *options) flagSet(rules []*analysis.Analyzer) *flag.FlagSet {
	flags := flag.NewFlagSet("advisorylint", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}

	flags.BoolVar(&opts.json, "json", false, "print one JSON document")
	flags.BoolVar(&opts.fix, "fix", false, "apply the fixes that findings carry, then report what is left (no rule has a fix yet)")
	flags.BoolVar(&opts.diff, "diff", false, "with -fix: change no file, print the changes as a diff, and no findings")
	flags.BoolVar(&opts.tests, "test", true, "report findings in _test.go files")
	flags.StringVar(&opts.dir, "C", "", "change to this directory before anything else")
	for _, f := range buildFlags {
		pass := &passedOn{list: &opts.build, name: f.name, boolean: f.takes == "" || f.name == "buildvcs"}
		flags.Var(pass, f.name, f.usage)
	}
	for _, rule := range rules {
		flags.Var(&passedOn{list: &opts.rules, name: rule.Name, boolean: true, check: checkBool}, rule.Name, "run this rule")
		rule.Flags.VisitAll(func(f *flag.Flag) {
			name := rule.Name + "." + f.Name
			flags.Var(&passedOn{list: &opts.rules, name: name, boolean: isBool(f.Value), check: f.Value.Set}, name, f.Usage)
		})
	}
	return flags
}

// names returns the rules' names in the order of rules.
func names(rules []*analysis.Analyzer) []string {
	list := make([]string, len(rules))
	for i, rule := range rules {
		list[i] = rule.Name
	}
	return list
}

// passedOn is the value of a flag that another program reads: it goes to a list, in the order of the command line.
type passedOn struct {
	list    *[]string
	name    string
	boolean bool
	check   func(string) error // refuses what the other program would refuse; nil leaves that to the other program
}

func (p *passedOn) String() string   { return "" }
func (p *passedOn) IsBoolFlag() bool { return p.boolean }

func (p *passedOn) Set(value string) error {
	if p.check != nil {
		if err := p.check(value); err != nil {
			return err
		}
	}
	*p.list = append(*p.list, "-"+p.name+"="+value)
	return nil
}

func checkBool(value string) error {
	if _, err := strconv.ParseBool(value); err != nil {
		return errors.New("want true or false")
	}
	return nil
}

// isBool reports whether a flag's value may be left out on the command line.
func isBool(value flag.Value) bool {
	b, ok := value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}
