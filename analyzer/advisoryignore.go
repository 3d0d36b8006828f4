package analyzer

import (
	"fmt"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/pgadvisory/pgadvisory/analyzer/internal/site"
)

const docAdvisoryignore = `advisoryignore: check the comments that ignore reports

An ignore directive names one or more rules of the suite, gives a reason, and
silences something:

	//advisorylint:ignore autocommit only waits for those who hold it now

It stands on the line of the report, on the line above, or in the doc comment
of the declaration around it. One that silences nothing is reported, so that it
goes away with the code that it was written for. A directive without a reason
silences nothing, nor does a comment with a space after the slashes.

A rule that is switched off is still asked whether the directive would silence
it.

Since: 0.1
`

// advisoryignore runs after the rules, on their results. So they run in any case,
// and a directive for a rule that is switched off is not taken for useless.
var advisoryignore = &analysis.Analyzer{
	Name:     "advisoryignore",
	Doc:      docAdvisoryignore,
	URL:      home + "advisoryignore.md",
	Requires: append([]*analysis.Analyzer{site.Analyzer}, rules...),
	Run: func(pass *analysis.Pass) (any, error) {
		for _, d := range pass.ResultOf[site.Analyzer].(*site.Result).Directives {
			if problem := problemOf(pass, d); problem != "" {
				pass.Report(analysis.Diagnostic{
					Pos:      d.Comment.Pos(),
					End:      d.Comment.End(),
					Category: "advisoryignore",
					Message:  problem + " (advisoryignore)",
				})
			}
		}
		return nil, nil
	},
}

// problemOf returns what is wrong with a directive, or "".
func problemOf(pass *analysis.Pass, d *site.Directive) string {
	if d.Spaced {
		return "with a space after the slashes this is no directive, and silences nothing: write //advisorylint:ignore"
	}
	if len(d.Rules) == 0 {
		return "the directive names no rule: write //advisorylint:ignore RULE REASON"
	}
	for _, name := range d.Rules {
		if !isRule(name) {
			return fmt.Sprintf("the directive names %s, which is no rule: the rules are %s", name, ruleNames())
		}
	}
	if d.Reason == "" {
		return fmt.Sprintf("the directive gives no reason, so it silences nothing: write //advisorylint:ignore %s REASON", strings.Join(d.Rules, ","))
	}
	for _, name := range d.Rules {
		used := false
		for _, a := range rules {
			used = used || a.Name == name && pass.ResultOf[a].(outcome)[d]
		}
		if !used {
			return fmt.Sprintf("the directive silences no report of %s: remove it", name)
		}
	}
	return ""
}

func isRule(name string) bool {
	for _, a := range rules {
		if a.Name == name {
			return true
		}
	}
	return false
}

func ruleNames() string {
	var names []string
	for _, a := range rules {
		names = append(names, a.Name)
	}
	return strings.Join(names, ", ")
}
