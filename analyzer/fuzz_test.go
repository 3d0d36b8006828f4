package analyzer_test

import (
	"bytes"
	"errors"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/packages"

	"github.com/pgadvisory/pgadvisory/analyzer"
)

// FuzzSuite feeds the suite odd but valid Go: the fixtures, and the programs of
// TestStress, with statements taken out, doubled, exchanged, and wrapped in
// others, and with expressions and texts replaced. No rule may panic, or take
// for ever.
func FuzzSuite(f *testing.F) {
	sources, importer := corpus(f)
	for _, name := range slices.Sorted(maps.Keys(stressed)) {
		sources = append(sources, program(stressed[name]))
	}
	for i := range sources {
		f.Add(uint(i), []byte{byte(i)})
		f.Add(uint(i), []byte("several changes at once"))
	}
	f.Fuzz(func(t *testing.T, which uint, choices []byte) {
		source := sources[which%uint(len(sources))]
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, "fuzz.go", source, parser.ParseComments)
		if err != nil {
			t.Skip()
		}
		(&mutator{source: source, choices: choices}).mutate(file)

		// The tree has to become text again, so that positions are in order.
		var text bytes.Buffer
		if err := format.Node(&text, fset, file); err != nil {
			t.Skip()
		}
		fset = token.NewFileSet()
		if file, err = parser.ParseFile(fset, "fuzz.go", text.Bytes(), parser.ParseComments); err != nil {
			t.Skip()
		}
		pkg, info, ok := check(fset, file, importer)
		if !ok {
			t.Skip()
		}
		start := time.Now()
		runSuite(t, fset, file, pkg, info)
		if d := time.Since(start); d > time.Minute {
			t.Errorf("took %v:\n%s", d, text.String())
		}
	})
}

// corpus returns the fixtures' sources and an importer for what they import.
func corpus(tb testing.TB) ([]string, types.Importer) {
	tb.Helper()
	files, err := filepath.Glob("testdata/*/*.go")
	if err != nil || len(files) == 0 {
		tb.Fatalf("no fixtures: %v", err)
	}
	// The files of a package see each other only in one text.
	byDir := map[string]string{}
	var dirs []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		dir := filepath.Dir(file)
		if byDir[dir] == "" {
			dirs = append(dirs, dir)
		}
		byDir[dir] = merged(tb, byDir[dir], string(text))
	}
	var sources []string
	for _, dir := range dirs {
		sources = append(sources, byDir[dir])
	}
	pkgs, err := packages.Load(&packages.Config{Mode: packages.NeedTypes | packages.NeedImports | packages.NeedDeps | packages.NeedName},
		"context", "database/sql", "database/sql/driver", "errors", "fmt", "log", "os", "strings", "sync", "testing", "time",
		"github.com/jackc/pgx/v5", "github.com/jackc/pgx/v5/pgxpool", "github.com/jackc/pgx/v5/stdlib")
	if err != nil {
		tb.Fatal(err)
	}
	known := imports{}
	packages.Visit(pkgs, nil, func(p *packages.Package) { known[p.PkgPath] = p.Types })
	return sources, known
}

// merged puts the text of a further file of a package behind the others.
func merged(tb testing.TB, all, text string) string {
	tb.Helper()
	if all == "" {
		return text
	}
	fset := token.NewFileSet()
	a, err := parser.ParseFile(fset, "", all, parser.ImportsOnly)
	if err != nil {
		tb.Fatal(err)
	}
	b, err := parser.ParseFile(fset, "", text, parser.ImportsOnly)
	if err != nil {
		tb.Fatal(err)
	}
	have := map[string]bool{}
	var more strings.Builder
	for _, spec := range a.Imports {
		have[spec.Path.Value] = true
	}
	for _, spec := range b.Imports {
		if !have[spec.Path.Value] {
			more.WriteString("import " + spec.Path.Value + "\n")
		}
	}
	cut := func(f *ast.File, text string) (head, tail string) {
		end := fset.Position(f.Name.End()).Offset
		if n := len(f.Decls); n > 0 {
			end = fset.Position(f.Decls[n-1].End()).Offset
		}
		return text[:end], text[end:]
	}
	headA, tailA := cut(a, all)
	_, tailB := cut(b, text)
	return headA + "\n" + more.String() + tailA + tailB
}

type imports map[string]*types.Package

func (i imports) Import(path string) (*types.Package, error) {
	if p := i[path]; p != nil {
		return p, nil
	}
	return nil, errors.New("not there")
}

// check type-checks a file. What the compiler would only refuse for being
// unused is let through.
func check(fset *token.FileSet, file *ast.File, importer types.Importer) (*types.Package, *types.Info, bool) {
	info := &types.Info{
		Types:        map[ast.Expr]types.TypeAndValue{},
		Instances:    map[*ast.Ident]types.Instance{},
		Defs:         map[*ast.Ident]types.Object{},
		Uses:         map[*ast.Ident]types.Object{},
		Implicits:    map[ast.Node]types.Object{},
		Selections:   map[*ast.SelectorExpr]*types.Selection{},
		Scopes:       map[ast.Node]*types.Scope{},
		FileVersions: map[*ast.File]string{},
	}
	hard := false
	conf := types.Config{Importer: importer, Error: func(err error) {
		var e types.Error
		hard = hard || !errors.As(err, &e) || !e.Soft
	}}
	pkg, _ := conf.Check("fuzz", fset, []*ast.File{file}, info)
	return pkg, info, !hard && pkg != nil
}

// runSuite runs every analyzer, and what it requires, on one package.
func runSuite(tb testing.TB, fset *token.FileSet, file *ast.File, pkg *types.Package, info *types.Info) []analysis.Diagnostic {
	tb.Helper()
	results := map[*analysis.Analyzer]any{}
	var reports []analysis.Diagnostic
	var run func(a *analysis.Analyzer)
	run = func(a *analysis.Analyzer) {
		if _, done := results[a]; done {
			return
		}
		for _, r := range a.Requires {
			run(r)
		}
		result, err := a.Run(&analysis.Pass{
			Analyzer: a, Fset: fset, Files: []*ast.File{file}, Pkg: pkg, TypesInfo: info,
			TypesSizes:        types.SizesFor("gc", "amd64"),
			ResultOf:          results,
			Report:            func(d analysis.Diagnostic) { reports = append(reports, d) },
			ReadFile:          os.ReadFile,
			AllPackageFacts:   func() []analysis.PackageFact { return nil },
			AllObjectFacts:    func() []analysis.ObjectFact { return nil },
			ImportPackageFact: func(*types.Package, analysis.Fact) bool { return false },
			ImportObjectFact:  func(types.Object, analysis.Fact) bool { return false },
			ExportPackageFact: func(analysis.Fact) {},
			ExportObjectFact:  func(types.Object, analysis.Fact) {},
		})
		if err != nil {
			tb.Fatalf("%s: %v", a.Name, err)
		}
		if a.ResultType != nil && reflect.TypeOf(result) != a.ResultType {
			tb.Fatalf("%s gives a %T", a.Name, result)
		}
		results[a] = result
	}
	for _, a := range analyzer.Suite {
		run(a)
	}
	return reports
}
