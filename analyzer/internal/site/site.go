// Package site finds the places of a package that take or free a lock.
package site

import (
	"go/ast"
	"reflect"

	"golang.org/x/tools/go/analysis"
)

// Analyzer is the pre-pass on which every rule stands: its result is the
// package's [Result].
var Analyzer = &analysis.Analyzer{
	Name:       "locksites",
	Doc:        "locksites: find the calls that take or free database locks",
	Run:        run,
	ResultType: reflect.TypeFor[*Result](),
}

// A Result is what a package does with locks.
type Result struct {
	Sites      []*Site
	Directives []*Directive
}

// A Site is one call that runs SQL in which a lock function is called.
type Site struct {
	Call *ast.CallExpr
}

// A Directive is one //advisorylint:ignore comment.
type Directive struct {
	Comment *ast.Comment
}

func run(pass *analysis.Pass) (any, error) {
	return new(Result), nil
}
