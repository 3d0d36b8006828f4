package analyzer_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/go/analysis"

	"github.com/pgadvisory/pgadvisory/analyzer"
)

var update = flag.Bool("update", false, "write the pages in doc")

// TestPages keeps doc/RULE.md, which each report links to, the same as the
// rule's doc. Write them with go test ./analyzer -run TestPages -update.
func TestPages(t *testing.T) {
	for _, a := range analyzer.Suite {
		path := filepath.Join("doc", a.Name+".md")
		if !strings.HasSuffix(a.URL, "/analyzer/"+filepath.ToSlash(path)) {
			t.Errorf("the URL of %s is %s, not that of %s", a.Name, a.URL, path)
		}
		want := page(a)
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s is not what the doc says (-doc +page):\n%s", path, diff)
		}
	}
}

// page is the doc as Markdown, where indented lines are code, too.
func page(a *analysis.Analyzer) string {
	first, rest, _ := strings.Cut(a.Doc, "\n")
	_, summary, _ := strings.Cut(first, ": ")
	return "# " + a.Name + "\n\n" + strings.ToUpper(summary[:1]) + summary[1:] + ".\n" + strings.TrimRight(rest, "\n") + "\n"
}
