package main

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"golang.org/x/tools/go/analysis"
)

const usage = `Advisorylint finds wrong uses of PostgreSQL's advisory locks in Go code.

usage:
  advisorylint [flags] [packages]      check packages ("go help packages"; default: the current directory)
  advisorylint help [RULE...]          this text, or what a rule reports and why
  advisorylint version                 print the version
  go vet -vettool=$(which advisorylint) [flags] [packages]

Findings go to standard output, one on a line: file:line:col: message (rule)
`

const statuses = `
exit status:
  0  every package was checked, and there is no finding (with -diff: no fix)
  1  every package was checked, and there are findings (with -diff: the diff is not empty;
     findings that carry no fix are not in it, and are not reported)
  2  something could not be checked: a package does not compile or load, no package matched, wrong flags,
     no go command, interrupted; standard error says what, and findings are printed all the same

A finding is silenced by a comment on its line or on the line above, and the reason is required:
  //advisorylint:ignore RULE reason
`

// help prints the overview, or the documentation of the rules named, and returns the exit status.
func help(rules []*analysis.Analyzer, topics []string, stdout, stderr io.Writer) int {
	if len(topics) == 0 {
		overview(rules, stdout)
		return statusClean
	}
	for i, topic := range topics {
		at := slices.IndexFunc(rules, func(rule *analysis.Analyzer) bool { return rule.Name == topic })
		if at < 0 {
			complain(stderr, fmt.Errorf("there is no rule %q\nrules: %s", topic, strings.Join(names(rules), ", ")))
			return statusNotRun
		}
		if i > 0 {
			fmt.Fprintln(stdout)
		}
		explain(rules[at], stdout)
	}
	return statusClean
}

func overview(rules []*analysis.Analyzer, stdout io.Writer) {
	io.WriteString(stdout, usage)
	table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "\nrules (each is a flag too: -%[1]s=false leaves %[1]s out, -%[1]s runs it alone):\n", rules[0].Name)
	for _, rule := range rules {
		title, _ := docParts(rule)
		fmt.Fprintf(table, "  %s\t%s\n", rule.Name, title)
		rule.Flags.VisitAll(func(f *flag.Flag) {
			fmt.Fprintf(table, "    -%s.%s\t%s (default %s)\n", rule.Name, f.Name, f.Usage, f.DefValue)
		})
	}
	var opts options
	flags := opts.flagSet(rules)
	fmt.Fprintln(table, "\nflags:")
	for _, name := range []string{"json", "fix", "diff", "test"} {
		flagLine(table, flags.Lookup(name), "")
	}
	fmt.Fprintln(table, "\nbuild flags, for the go command (\"go help build\"):")
	flagLine(table, flags.Lookup("C"), "DIR")
	for _, f := range buildFlags {
		flagLine(table, flags.Lookup(f.name), f.takes)
	}
	table.Flush()
	io.WriteString(stdout, statuses)
}

// flagLine prints one flag; takes says what its value is, and is empty for a boolean.
func flagLine(w io.Writer, f *flag.Flag, takes string) {
	name, usage := f.Name, f.Usage
	if takes != "" {
		name += "=" + takes
	}
	if f.DefValue == "true" {
		usage += " (default true)"
	}
	fmt.Fprintf(w, "  -%s\t%s\n", name, usage)
}

// explain prints one rule's documentation.
func explain(rule *analysis.Analyzer, stdout io.Writer) {
	title, body := docParts(rule)
	fmt.Fprintf(stdout, "%s: %s\n", rule.Name, title)
	if body != "" {
		fmt.Fprintf(stdout, "\n%s\n", body)
	}
	first := true
	rule.Flags.VisitAll(func(f *flag.Flag) {
		if first {
			fmt.Fprintln(stdout, "\nflags:")
			first = false
		}
		fmt.Fprintf(stdout, "  -%s.%s\n    \t%s (default %s)\n", rule.Name, f.Name, f.Usage, f.DefValue)
	})
	if rule.URL != "" {
		fmt.Fprintf(stdout, "\nsee also: %s\n", rule.URL)
	}
}

// docParts splits a rule's documentation into its first paragraph, in one line and without the rule's name at its front, and
// the rest.
func docParts(rule *analysis.Analyzer) (title, body string) {
	title, body, _ = strings.Cut(strings.TrimSpace(rule.Doc), "\n\n")
	title = strings.Join(strings.Fields(title), " ")
	return strings.TrimPrefix(title, rule.Name+": "), strings.TrimSpace(body)
}
