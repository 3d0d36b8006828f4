package analyzer

import (
	"fmt"
	"go/token"
	"go/types"
	"reflect"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/pgadvisory/pgadvisory/analyzer/internal/site"
	"github.com/pgadvisory/pgadvisory/analyzer/internal/sqltext"
)

// home is where the rules are described, each on a page of its own.
const home = "https://github.com/pgadvisory/pgadvisory/blob/main/analyzer/doc/"

// outcome is every rule's result: the ignore directives that silenced a report
// of that rule. The directive analyzer reads them.
type outcome map[*site.Directive]bool

// A reporter is one rule at work on one package.
type reporter struct {
	*analysis.Pass
	*site.Result

	used outcome
	said map[token.Pos]bool
}

// rule makes the analyzer of a rule. The doc's first word is its name.
func rule(doc string, check func(*reporter)) *analysis.Analyzer {
	name, _, _ := strings.Cut(doc, ":")
	return &analysis.Analyzer{
		Name:       name,
		Doc:        doc,
		URL:        home + name + ".md",
		Requires:   []*analysis.Analyzer{site.Analyzer},
		ResultType: reflect.TypeFor[outcome](),
		Run: func(pass *analysis.Pass) (any, error) {
			r := &reporter{Pass: pass, Result: pass.ResultOf[site.Analyzer].(*site.Result), used: outcome{}, said: map[token.Pos]bool{}}
			if len(r.Sites) > 0 {
				check(r)
			}
			return r.used, nil
		},
	}
}

// report reports on a site, once for each place. A directive may silence it.
func (r *reporter) report(s *site.Site, format string, args ...any) {
	if r.said[s.Pos] || r.silenced(s) {
		return
	}
	r.said[s.Pos] = true
	name := r.Analyzer.Name
	r.Report(analysis.Diagnostic{
		Pos:      s.Pos,
		End:      s.End,
		Category: name,
		Message:  fmt.Sprintf(format, args...) + " (" + name + ")",
	})
}

// silenced reports whether a directive silences the rule's report on a site,
// and takes down that it does.
func (r *reporter) silenced(s *site.Site) bool {
	silent := false
	for _, d := range r.Directives {
		if d.Covers(r.Fset, r.Analyzer.Name, s.Pos) {
			r.used[d] = true
			silent = true
		}
	}
	return silent
}

// takes reports whether a site takes a lock.
func takes(s *site.Site) bool { return s.Is(sqltext.Lock, sqltext.TryLock) }

// frees reports whether a site frees locks.
func frees(s *site.Site) bool { return s.Is(sqltext.Unlock, sqltext.UnlockAll) }

// paired reports whether the text that a site is in takes and frees locks of
// the session: it is sent as a whole, so one session does both.
func (r *reporter) paired(s *site.Site) bool {
	for _, o := range r.Sites {
		if o.Instr == s.Instr && o.Text == s.Text && takes(o) != takes(s) {
			return true
		}
	}
	return false
}

// verb returns the name of the lock function, and of the helper that runs it.
func verb(s *site.Site) string {
	if s.Helper != "" {
		return s.Lock.Func.Name + ", run by " + s.Helper + ","
	}
	return s.Lock.Func.Name
}

// nouns are what handles are called.
var nouns = map[site.Kind]string{
	site.Pool:   "pool",
	site.Single: "database",
	site.Conn:   "connection",
	site.Tx:     "transaction",
}

// handle names what runs the SQL of a site, with what it is.
func handle(s *site.Site) string {
	noun := "handle"
	if len(s.Handles) > 0 && nouns[s.Handles[0].Kind] != "" {
		noun = nouns[s.Handles[0].Kind]
	}
	switch {
	case s.Name == "":
		return "a " + noun
	case s.Behind:
		return "the " + noun + " behind " + s.Name
	}
	return "the " + noun + " " + s.Name
}

// name names what runs the SQL of a site.
func name(s *site.Site) string {
	if s.Name != "" && !s.Behind {
		return s.Name
	}
	return handle(s)
}

// pinners are the methods that take one connection from a pool. The first one
// that a type has is the one to call.
var pinners = []struct{ method, call string }{
	{"Connection", "Connection(func(tx *gorm.DB) error {…})"},
	{"Acquire", "Acquire(ctx)"},
	{"Connx", "Connx(ctx)"},
	{"Conn", "Conn(ctx)"},
}

// pin tells how to get one connection of a pool.
func pin(s *site.Site) string {
	if s.NameType != nil && !s.Behind {
		for _, p := range pinners {
			obj, _, _ := types.LookupFieldOrMethod(s.NameType, true, s.Fn.Pkg.Pkg, p.method)
			if _, ok := obj.(*types.Func); !ok {
				continue
			}
			if s.Name == "" {
				return p.call
			}
			return s.Name + "." + p.call
		}
	}
	// What is named there has no such method: that of the pool behind it.
	switch t := s.Handles[0].Type; {
	case strings.Contains(t, "gorm."):
		return pinners[0].call
	case strings.Contains(t, "pgxpool."):
		return pinners[1].call
	case strings.Contains(t, "sqlx."):
		return pinners[2].call
	}
	return pinners[3].call
}

// isGorm reports whether the SQL of a site is run through gorm.
func isGorm(s *site.Site) bool {
	return s.NameType != nil && strings.HasSuffix(s.NameType.String(), "gorm.io/gorm.DB")
}
