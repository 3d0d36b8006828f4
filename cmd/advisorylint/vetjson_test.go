package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDecode(t *testing.T) {
	const output = `{}
{
	"example.com/b [example.com/b.test]": {
		"poollock": [{"posn": "/src/b/b.go:3:4", "end": "/src/b/b.go:5:6", "message": "leaks (poollock)"}],
		"autocommit": {"error": "no idea"}
	}
}
{"example.com/a": {"lostunlock": [
	{"posn": "C:\\src\\a.go:7", "end": "-", "message": "lost [lostunlock]", "category": "new",
	 "related": [{"posn": "/src/a: b.go:1:2", "end": "", "message": "here"}],
	 "suggested_fixes": [{"message": "defer it", "edits": [{"filename": "/src/a.go", "start": 1, "end": 1, "new": "x"}]}]}]}}
{}`
	got, err := decode(strings.NewReader(output))
	if err != nil {
		t.Fatal(err)
	}
	want := results{
		packages: 4,
		findings: []finding{
			{Rule: "poollock", Package: "example.com/b", place: place{"/src/b/b.go", 3, 4}, EndLine: 5, EndColumn: 6, Message: "leaks"},
			{Rule: "lostunlock", Package: "example.com/a", place: place{`C:\src\a.go`, 7, 0}, Message: "lost",
				Related: []related{{place{"/src/a: b.go", 1, 2}, "here"}},
				Fixes:   []fix{{"defer it", []edit{{"/src/a.go", 1, 1, "x"}}}}},
		},
		failures: []string{"rule autocommit gave up on example.com/b: no idea"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(results{}, finding{}, related{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, output := range []string{
		"# example.com/app",
		`{"example.com/app": {"poollock": [`,
		`{"example.com/app": []}`,
		`{"example.com/app": {"poollock": "leaks"}}`,
		`{"example.com/app": {"poollock": [{"posn": 3}]}}`,
	} {
		if res, err := decode(strings.NewReader("{}" + output)); err == nil {
			t.Errorf("decode(%q) = %+v, want an error", output, res)
		}
	}
}

func TestParsePlace(t *testing.T) {
	for in, want := range map[string]place{
		"a.go:1:2":        {"a.go", 1, 2},
		"a.go:1":          {"a.go", 1, 0},
		"a.go":            {"a.go", 0, 0},
		`C:\a.go:1:2`:     {`C:\a.go`, 1, 2},
		`C:\a.go`:         {`C:\a.go`, 0, 0},
		"dir:9/a.go:1:2":  {"dir:9/a.go", 1, 2},
		"-":               {"-", 0, 0},
		"":                {"", 0, 0},
		"grammar.y:70:12": {"grammar.y", 70, 12},
	} {
		if got := parsePlace(in); got != want {
			t.Errorf("parsePlace(%q) = %+v, want %+v", in, got, want)
		}
	}
}
