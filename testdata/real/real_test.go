package real_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// advisorylint is the tool, built from the sources around this module.
var advisorylint string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "advisorylint")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		advisorylint = filepath.Join(dir, "advisorylint")
		build := exec.Command("go", "build", "-o", advisorylint, "./cmd/advisorylint")
		build.Dir = filepath.Join("..", "..")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			fmt.Fprintln(os.Stderr, "cannot build advisorylint:", err)
			return 1
		}
		return m.Run()
	}())
}

// TestSilent requires that there is nothing to report: this code is right.
func TestSilent(t *testing.T) {
	if output, err := vet(t, packages(t)...); err != nil || output != "" {
		t.Errorf("go vet: %v; want no report\n%s", err, output)
	}
}

// A seed turns right code of another project into wrong code.
type seed struct {
	module, file string
	old, new     string // old must be in the file once
	rule         string // reported in that file, on the line where new begins
}

// TestSeeded puts a mistake into copies of the same code, and requires that it is reported, and nothing else. So it shows that
// the tool does look at the lock calls about which TestSilent wants to hear nothing.
func TestSeeded(t *testing.T) {
	const migrate, goose = "github.com/golang-migrate/migrate/v4", "github.com/pressly/goose/v3"
	seeds := []seed{
		{migrate, "database/postgres/postgres.go",
			"p.conn.ExecContext(context.Background(), query, aid); err != nil {\n\t\t\treturn &database.Error{OrigErr: err, Err: \"try lock failed\"",
			"p.db.ExecContext(context.Background(), query, aid); err != nil {\n\t\t\treturn &database.Error{OrigErr: err, Err: \"try lock failed\"",
			"poollock"},
		{migrate, "database/postgres/postgres.go",
			"p.conn.ExecContext(context.Background(), query, aid); err != nil {\n\t\t\treturn &database.Error{OrigErr: err, Query",
			"p.db.ExecContext(context.Background(), query, aid); err != nil {\n\t\t\treturn &database.Error{OrigErr: err, Query",
			"poolunlock"},
		{goose, "lock/postgres.go",
			"row := conn.QueryRowContext(ctx, \"SELECT pg_try_advisory_lock($1)\", l.lockID)\n\t\tvar locked bool\n\t\tif err := row.Scan(&locked)",
			"row := conn.QueryRowContext(ctx, \"SELECT pg_try_advisory_lock($1)\", l.lockID)\n\t\tlocked := true\n\t\tif err := row.Scan(new(bool))",
			"ignoredtry"},
	}

	var want []string
	modfile := seededModfile(t, seeds, &want)
	output, err := vet(t, append([]string{"-modfile=" + modfile}, packages(t)...)...)
	if err == nil {
		t.Errorf("go vet found nothing in the seeded code")
	}
	got := reports(t, output)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("reports\n%s\nwant\n%s\noutput of go vet\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"), output)
	}
}

// seededModfile copies the modules, seeds them, and returns a go.mod that uses the copies. It adds the reports that are due, as
// path:line: (rule).
func seededModfile(t *testing.T, seeds []seed, want *[]string) string {
	t.Helper()
	work := t.TempDir()
	for _, name := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(work, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	copies := make(map[string]string)
	for _, s := range seeds {
		dir, ok := copies[s.module]
		if !ok {
			dir = filepath.Join(work, strconv.Itoa(len(copies)))
			copies[s.module] = dir
			source := strings.TrimSpace(run(t, "list", "-m", "-f", "{{.Dir}}", s.module))
			if err := os.CopyFS(dir, os.DirFS(source)); err != nil {
				t.Fatal(err)
			}
			run(t, "mod", "edit", "-replace="+s.module+"="+dir, filepath.Join(work, "go.mod"))
		}
		file := filepath.Join(dir, filepath.FromSlash(s.file))
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		before, after, found := strings.Cut(string(data), s.old)
		if !found || strings.Contains(after, s.old) {
			t.Fatalf("%s: want this once, to seed it: %s", s.file, s.old)
		}
		// Files in the module cache are read-only, and so are their copies.
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(before+s.new+after), 0o666); err != nil {
			t.Fatal(err)
		}
		*want = append(*want, fmt.Sprintf("%s:%d: (%s)", s.file, 1+strings.Count(before, "\n"), s.rule))
	}
	return filepath.Join(work, "go.mod")
}

var report = regexp.MustCompile(`(?m)^\S*?((?:database|lock)/\S+?\.go):(\d+):\d+: .*(\(\w+\))$`)

// reports returns the reports in go vet's output as path:line: (rule). What else it says fails the test.
func reports(t *testing.T, output string) []string {
	t.Helper()
	var list []string
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if m := report.FindStringSubmatch(line); m != nil {
			list = append(list, fmt.Sprintf("%s:%s: %s", m[1], m[2], m[3]))
		} else if !strings.Contains(line, ": \t") { // which is a place that belongs to the report before
			t.Errorf("go vet: %s", line)
		}
	}
	return list
}

// packages reads the list in imports.go.
func packages(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "imports.go", nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

// vet runs go vet with advisorylint and returns everything that it prints.
func vet(t *testing.T, args ...string) (string, error) {
	t.Helper()
	output, err := exec.CommandContext(t.Context(), "go", append([]string{"vet", "-vettool=" + advisorylint}, args...)...).CombinedOutput()
	return string(output), err
}

// run runs the go command and returns its standard output.
func run(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Stderr = os.Stderr
	output, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v", strings.Join(args, " "), err)
	}
	return string(output)
}
