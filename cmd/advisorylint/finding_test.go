package main

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestArrange(t *testing.T) {
	at := func(file string, line, column int, rule, message, pkg string) finding {
		return finding{Rule: rule, Package: pkg, place: place{file, line, column}, Message: message}
	}
	got := arrange([]finding{
		at("b.go", 1, 1, "poollock", "m", "p"),
		at("a.go", 10, 1, "poollock", "m", "p"),
		at("a.go", 9, 12, "poollock", "m", "p_test"),
		at("a.go", 9, 2, "poollock", "m", "p"),
		at("a.go", 9, 12, "poollock", "m", "p"),
		at("a.go", 9, 12, "autocommit", "m", "p"),
		at("a.go", 9, 12, "poollock", "another", "p"),
	})
	want := []finding{
		at("a.go", 9, 2, "poollock", "m", "p"),
		at("a.go", 9, 12, "autocommit", "m", "p"),
		at("a.go", 9, 12, "poollock", "another", "p"),
		at("a.go", 9, 12, "poollock", "m", "p"),
		at("a.go", 10, 1, "poollock", "m", "p"),
		at("b.go", 1, 1, "poollock", "m", "p"),
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(finding{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestNamer(t *testing.T) {
	root := t.TempDir()
	n := namer{filepath.Join(root, "app", "cmd")}
	far := filepath.Join(filepath.VolumeName(root)+string(filepath.Separator), "x.go")
	for in, want := range map[string]string{
		filepath.Join(root, "app", "cmd", "main.go"): "main.go",
		filepath.Join(root, "app", "x.go"):           filepath.Join("..", "x.go"),
		far:                                          far,
		"grammar.y":                                  "grammar.y",
	} {
		if got := n.name(in); got != want {
			t.Errorf("name(%q) = %q, want %q", in, got, want)
		}
	}
}
