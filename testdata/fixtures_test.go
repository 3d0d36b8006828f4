package testdata

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"testing"
)

var (
	report = regexp.MustCompile(`^(?:vet: )?(\S+\.go):(\d+)(?::\d+)?: (.*)$`)
	want   = regexp.MustCompile(`// want (.*)$`)
	quoted = regexp.MustCompile("`[^`]*`|\"[^\"]*\"")
)

type place struct {
	file string
	line int
}

// TestFixtures runs the tool under go vet over this module, as its users do.
// A comment "want" with regular expressions in back quotes stands on each line
// that reports are due on; there must be no other report.
func TestFixtures(t *testing.T) {
	tool := filepath.Join(t.TempDir(), "advisorylint.exe")
	build := exec.Command("go", "build", "-o", tool, "./cmd/advisorylint")
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	got := vet(t, tool)
	for _, file := range sources(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			at := place{file, i + 1}
			if m := want.FindStringSubmatch(line); m != nil {
				for _, q := range quoted.FindAllString(m[1], -1) {
					if !take(got, at, regexp.MustCompile(q[1:len(q)-1])) {
						t.Errorf("%s:%d: no report matches %s", file, i+1, q)
					}
				}
			}
		}
	}
	var rest []string
	for at, messages := range got {
		for _, message := range messages {
			rest = append(rest, at.file+":"+strconv.Itoa(at.line)+": unexpected report: "+message)
		}
	}
	sort.Strings(rest)
	for _, line := range rest {
		t.Error(line)
	}
}

// vet returns the tool's reports by place.
func vet(t *testing.T, tool string) map[place][]string {
	t.Helper()
	out, err := exec.Command("go", "vet", "-vettool="+tool, "./...").CombinedOutput()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	got := map[place][]string{}
	for text := range bytes.Lines(out) {
		line := strings.TrimRight(string(text), "\n")
		m := report.FindStringSubmatch(line)
		if m == nil {
			if line != "" && !strings.HasPrefix(line, "#") {
				t.Errorf("not a report: %s", line)
			}
			continue
		}
		n, err := strconv.Atoi(m[2])
		if err != nil {
			t.Fatal(err)
		}
		at := place{filepath.Clean(m[1]), n}
		got[at] = append(got[at], m[3])
	}
	return got
}

// take removes the first report at a place that matches.
func take(got map[place][]string, at place, pattern *regexp.Regexp) bool {
	for i, message := range got[at] {
		if pattern.MatchString(message) {
			got[at] = append(got[at][:i], got[at][i+1:]...)
			return true
		}
	}
	return false
}

// sources returns the Go files of this module: nested modules are others.
func sources(t *testing.T) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && path != "." {
			if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil {
				return fs.SkipDir
			}
		}
		if filepath.Ext(path) == ".go" && !strings.HasSuffix(path, "_test.go") {
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
