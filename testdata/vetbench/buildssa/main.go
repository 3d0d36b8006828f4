// Buildssa is a vet tool that does nothing either, but asks for SSA form in the usual way, by Requires. That package's own
// requirements have facts, so SSA is built for every dependency as well.
package main

import (
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/buildssa"
	"golang.org/x/tools/go/analysis/unitchecker"
)

func main() {
	unitchecker.Main(&analysis.Analyzer{
		Name:     "needsssa",
		Doc:      "do nothing with SSA form",
		Requires: []*analysis.Analyzer{buildssa.Analyzer},
		Run:      func(*analysis.Pass) (any, error) { return nil, nil },
	})
}
