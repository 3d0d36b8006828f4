package analyzer

import (
	"reflect"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/pgadvisory/pgadvisory/analyzer/internal/site"
)

// home is where a rule is described: each analyzer's URL starts with it.
const home = "https://pkg.go.dev/github.com/pgadvisory/pgadvisory/analyzer#"

// outcome is every rule's result: the ignore directives that silenced a report
// of that rule. The directive analyzer reads them.
type outcome map[*site.Directive]bool

// A reporter is one rule at work on one package.
type reporter struct {
	*analysis.Pass
	*site.Result

	used outcome
}

// rule makes the analyzer of a rule. The doc's first word is its name.
func rule(doc string, check func(*reporter)) *analysis.Analyzer {
	name, _, _ := strings.Cut(doc, ":")
	return &analysis.Analyzer{
		Name:       name,
		Doc:        doc,
		URL:        home + name,
		Requires:   []*analysis.Analyzer{site.Analyzer},
		ResultType: reflect.TypeFor[outcome](),
		Run: func(pass *analysis.Pass) (any, error) {
			r := &reporter{Pass: pass, Result: pass.ResultOf[site.Analyzer].(*site.Result), used: outcome{}}
			if len(r.Sites) > 0 {
				check(r)
			}
			return r.used, nil
		},
	}
}
