package handles_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The README quotes each snippet as it was tested.
func TestReadmeQuotesSnippets(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	code := codeLines(string(readme))
	for name, snippet := range snippets(t) {
		if !contains(code, snippet) {
			t.Errorf("no Go code block of README.md has these lines (%s):\n\n%s\n", name, strings.Join(snippet, "\n"))
		}
	}
}

// snippets returns the lines between "// snippet NAME" and "// end" in the Go files of this module, by name, without the indentation of
// the marks.
func snippets(t *testing.T) map[string][]string {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	for _, file := range append(files, "ent/sqltx.go") {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name, indent := "", ""
		for line := range strings.Lines(string(source)) {
			line = strings.TrimRight(line, "\n")
			mark := strings.TrimLeft(line, "\t")
			if rest, ok := strings.CutPrefix(mark, "// snippet "); ok {
				if name != "" || found[rest] != nil {
					t.Fatalf("%s: snippet %q is in another one, or there twice", file, rest)
				}
				name, indent = rest, strings.TrimSuffix(line, mark)
				continue
			}
			if name == "" {
				continue
			}
			if mark == "// end" {
				found[name] = trim(found[name])
				name = ""
				continue
			}
			found[name] = append(found[name], strings.TrimPrefix(line, indent))
		}
		if name != "" {
			t.Fatalf("%s: snippet %q has no end", file, name)
		}
	}
	libraries := map[string]bool{}
	for name, lines := range found {
		library, _, _ := strings.Cut(name, ":")
		libraries[library] = len(lines) > 0
	}
	for _, library := range []string{"sqlx", "gorm", "bun", "ent", "pgx"} {
		if !libraries[library] {
			t.Fatalf("no snippet for %s", library)
		}
	}
	return found
}

// trim returns lines without the empty ones at both ends.
func trim(lines []string) []string {
	for len(lines) > 0 && lines[0] == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// codeLines returns the lines of the Go code blocks in markdown; a block ends with its fence, so that nothing is found across two.
func codeLines(markdown string) []string {
	var lines []string
	in := false
	for line := range strings.Lines(markdown) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case in:
			lines = append(lines, line)
			in = line != "```"
		case line == "```go":
			in = true
		}
	}
	return lines
}

func contains(lines, part []string) bool {
	for i := range lines {
		if i+len(part) <= len(lines) && slices.Equal(lines[i:i+len(part)], part) {
			return true
		}
	}
	return false
}
