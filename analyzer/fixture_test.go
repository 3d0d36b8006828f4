package analyzer_test

import (
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	// The fixtures import these, and tests must not download anything.
	_ "github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/lib/pq"

	"github.com/pgadvisory/pgadvisory/analyzer"
)

// TestFixtures runs the whole suite over the packages in testdata. There a
// comment
//
//	// want "regexp" "regexp"
//
// stands on each line that reports are due on; there must be no other report.
// Run one rule's fixtures with -run TestFixtures/poollock.
func TestFixtures(t *testing.T) {
	if testing.Short() {
		t.Skip("type-checks the standard library and pgx from source")
	}
	pkgs := load(t, "testdata")
	graph, err := checker.Analyze(analyzer.Suite, pkgs, &checker.Options{SanityCheck: true})
	if err != nil {
		t.Fatal(err)
	}
	reports := map[string][]analysis.Diagnostic{}
	for act := range graph.All() {
		if act.Err != nil {
			t.Errorf("%s: %v", act, act.Err)
		}
		if act.IsRoot {
			reports[act.Package.ID] = append(reports[act.Package.ID], act.Diagnostics...)
		}
	}
	for _, pkg := range pkgs {
		_, name, _ := strings.Cut(pkg.PkgPath, "/testdata/")
		t.Run(name, func(t *testing.T) {
			for _, file := range pkg.GoFiles {
				source, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				compare(t, pkg.Fset, file, string(source), reports[pkg.ID])
			}
		})
	}
}

// load loads every package below a directory. The go command does not look
// into directories named testdata of itself.
func load(t *testing.T, dir string) []*packages.Package {
	t.Helper()
	var patterns []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if files, _ := filepath.Glob(filepath.Join(path, "*.go")); entry.IsDir() && len(files) > 0 {
			patterns = append(patterns, "./"+filepath.ToSlash(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax, Tests: true, Env: append(os.Environ(), "GOPROXY=off")}, patterns...)
	if err != nil {
		t.Fatal(err)
	}
	if packages.PrintErrors(pkgs) > 0 || len(pkgs) == 0 {
		t.Fatal("the fixtures do not compile")
	}
	return pkgs
}

var (
	wantComment = regexp.MustCompile(`// want (.*)$`)
	quoted      = regexp.MustCompile("`[^`]*`|\"[^\"]*\"")
)

// compare compares the reports in one file with its want comments.
func compare(t *testing.T, fset *token.FileSet, file, source string, reports []analysis.Diagnostic) {
	t.Helper()
	got := map[int][]string{}
	for _, d := range reports {
		if at := fset.Position(d.Pos); at.Filename == file {
			got[at.Line] = append(got[at.Line], d.Message)
		}
	}
	for i, text := range strings.Split(source, "\n") {
		line := i + 1
		sort.Strings(got[line])
		if m := wantComment.FindStringSubmatch(text); m != nil {
			for _, q := range quoted.FindAllString(m[1], -1) {
				pattern, err := regexp.Compile(q[1 : len(q)-1])
				if err != nil {
					t.Fatalf("%s:%d: %v", file, line, err)
				}
				if !take(got, line, pattern) {
					t.Errorf("%s:%d: no report matches %s", file, line, q)
				}
			}
		}
		for _, message := range got[line] {
			t.Errorf("%s:%d: unexpected report: %s", file, line, message)
		}
	}
}

// take removes the first report on a line that matches.
func take(got map[int][]string, line int, pattern *regexp.Regexp) bool {
	for i, message := range got[line] {
		if pattern.MatchString(message) {
			got[line] = append(got[line][:i], got[line][i+1:]...)
			return true
		}
	}
	return false
}

// TestSuite checks what drivers and users rely on.
func TestSuite(t *testing.T) {
	if err := analysis.Validate(analyzer.Suite); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, a := range analyzer.Suite {
		if seen[a.Name] {
			t.Errorf("%s is there twice", a.Name)
		}
		seen[a.Name] = true
		first, _, _ := strings.Cut(a.Doc, "\n")
		if !strings.HasPrefix(first, a.Name+": ") {
			t.Errorf("the doc of %s begins with %q, not with its name", a.Name, first)
		}
		if !strings.Contains(a.Doc, "\nSince: ") {
			t.Errorf("the doc of %s does not say since when", a.Name)
		}
		if a.URL == "" {
			t.Errorf("%s has no URL", a.Name)
		}
	}
}
