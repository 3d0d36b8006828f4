// Package analyzer finds the wrong use of PostgreSQL's advisory locks, and of
// the named locks of other servers, in Go code.
//
// [Suite] is a plain list of analyzers in the sense of
// [golang.org/x/tools/go/analysis]: one per rule, and one that checks the
// ignore directives. The command advisorylint runs it under go vet; gopls,
// nogo and one's own multichecker can take it as it is.
//
// A report names the handle or the key, says what goes wrong and what to do
// instead, and ends with the name of its rule in brackets.
//
// # Ignoring a report
//
// A comment of the form
//
//	//advisorylint:ignore rule[,rule] reason
//
// on the line of a report, on the line above it, or in the doc comment of the
// declaration around it, silences these rules there. The reason is required.
// The analyzer advisoryignore reports a directive that silences nothing, that
// names no rule of the suite, or that gives no reason.
package analyzer

import (
	"golang.org/x/tools/go/analysis"
)

// Suite holds every analyzer: the rules in the order of the documentation,
// then advisoryignore, which looks at the ignore comments. It must not be changed.
var Suite = append(rules[:len(rules):len(rules)], advisoryignore)

// rules lists the analyzers that report on locks. A new rule is added here.
var rules = []*analysis.Analyzer{
	poollock,
	poolunlock,
	lostunlock,
	autocommit,
	sessionintx,
	ignoredtry,
}
