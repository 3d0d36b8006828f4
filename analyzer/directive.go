package analyzer

import (
	"golang.org/x/tools/go/analysis"

	"github.com/pgadvisory/pgadvisory/analyzer/internal/site"
)

const docDirective = `directive: check the comments that ignore reports

An ignore directive must name rules of the suite and give a reason, and it
must silence something:

	//advisorylint:ignore autocommit only waits for those who hold it now
`

var directive = &analysis.Analyzer{
	Name:     "directive",
	Doc:      docDirective,
	URL:      home + "hdr-Ignoring_a_report",
	Requires: append([]*analysis.Analyzer{site.Analyzer}, rules...),
	Run: func(pass *analysis.Pass) (any, error) {
		return nil, nil
	},
}
