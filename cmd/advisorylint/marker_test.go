package main

import (
	"errors"
	"go/ast"
	"go/types"
	"os"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// marker is a rule for the tests of the command, so that these do not depend on what the real rules say. It reports
// functions whose names begin with Bad, and calls of such functions in other packages, which it knows by a fact. For
// BadName it offers GoodName as a fix. It gives up on a package that has a function GiveUp.
var marker = &analysis.Analyzer{
	Name: "marker",
	Doc: `report functions with bad names

The second paragraph of marker's documentation.`,
	URL:       "https://example.com/marker",
	Run:       runMarker,
	FactTypes: []analysis.Fact{new(isBad)},
}

var markerWord = "bad"

func init() { marker.Flags.StringVar(&markerWord, "word", markerWord, "what to call them") }

type isBad struct{}

func (*isBad) AFact()         {}
func (*isBad) String() string { return "bad" }

func runMarker(pass *analysis.Pass) (any, error) {
	word := markerWord
	// Not part of the command line, so the go command cannot know when it changes.
	if w := os.Getenv("MARKER_WORD"); w != "" {
		word = w
	}
	for _, file := range pass.Files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				markDeclaration(pass, n, word)
			case *ast.SelectorExpr:
				callee, ok := pass.TypesInfo.Uses[n.Sel].(*types.Func)
				if ok && callee.Pkg() != pass.Pkg && pass.ImportObjectFact(callee, new(isBad)) {
					pass.ReportRangef(n, "%s.%s is %s (marker)", callee.Pkg().Name(), callee.Name(), word)
				}
			}
			return true
		})
	}
	if pass.Pkg.Scope().Lookup("GiveUp") != nil {
		return nil, errors.New("found GiveUp")
	}
	return nil, nil
}

func markDeclaration(pass *analysis.Pass, decl *ast.FuncDecl, word string) {
	name := decl.Name.Name
	if !strings.HasPrefix(name, "Bad") {
		return
	}
	pass.ExportObjectFact(pass.TypesInfo.Defs[decl.Name], new(isBad))
	diagnostic := analysis.Diagnostic{Pos: decl.Name.Pos(), End: decl.Name.End(), Message: name + " is " + word + " (marker)"}
	switch {
	case name == "BadName":
		diagnostic.SuggestedFixes = []analysis.SuggestedFix{{
			Message:   "Call it GoodName",
			TextEdits: []analysis.TextEdit{{Pos: decl.Name.Pos(), End: decl.Name.End(), NewText: []byte("GoodName")}},
		}}
	case decl.Recv != nil:
		recv := decl.Recv.List[0].Type
		diagnostic.Related = []analysis.RelatedInformation{{Pos: recv.Pos(), End: recv.End(), Message: "its receiver"}}
	}
	pass.Report(diagnostic)
}
