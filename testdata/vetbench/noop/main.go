// Noop is a vet tool that does nothing: what it costs is what go vet costs with any tool.
package main

import (
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/unitchecker"
)

func main() {
	unitchecker.Main(&analysis.Analyzer{
		Name: "noop",
		Doc:  "do nothing",
		Run:  func(*analysis.Pass) (any, error) { return nil, nil },
	})
}
