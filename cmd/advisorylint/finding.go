package main

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A place is a position in a file. Line and Column count from 1; they are 0 where they are not known.
type place struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// A finding is one report of one rule. Its JSON form is a promise: the package's documentation describes it.
type finding struct {
	Rule    string `json:"rule"`
	Package string `json:"package"`
	place
	EndLine   int       `json:"end_line,omitempty"`
	EndColumn int       `json:"end_column,omitempty"`
	Message   string    `json:"message"`
	Related   []related `json:"related,omitempty"`
	Fixes     []fix     `json:"fixes,omitempty"`
}

// A related place helps to understand a finding.
type related struct {
	place
	Message string `json:"message"`
}

// A fix removes the finding's cause. Its edits are applied together or not at all.
type fix struct {
	Message string `json:"message"`
	Edits   []edit `json:"edits"`
}

// An edit replaces the bytes of a file from Start up to End with New.
type edit struct {
	File  string `json:"file"`
	Start int    `json:"start"`
	End   int    `json:"end"`
	New   string `json:"new"`
}

// inTest reports whether the finding is in a test file.
func (f finding) inTest() bool { return strings.HasSuffix(f.File, "_test.go") }

// arrange sorts findings by file, line, column, rule and message, and drops those that say the same again: a file that
// several builds share (the package itself, and the package with its tests) is reported once per build.
func arrange(findings []finding) []finding {
	slices.SortFunc(findings, func(a, b finding) int { return cmp.Or(a.compare(b), strings.Compare(a.Package, b.Package)) })
	return slices.CompactFunc(findings, func(a, b finding) bool { return a.compare(b) == 0 })
}

func (f finding) compare(g finding) int {
	return cmp.Or(strings.Compare(f.File, g.File), cmp.Compare(f.Line, g.Line), cmp.Compare(f.Column, g.Column),
		strings.Compare(f.Rule, g.Rule), strings.Compare(f.Message, g.Message))
}

// A namer shortens file names as the go command does in what it prints: relative to the current directory where that is
// shorter.
type namer struct{ current string }

func newNamer() (namer, error) {
	dir, err := os.Getwd()
	return namer{dir}, err
}

func (n namer) name(file string) string {
	if relative, err := filepath.Rel(n.current, file); err == nil && len(relative) < len(file) {
		return relative
	}
	return file
}

// shorten makes every file name in the findings short.
func (n namer) shorten(findings []finding) {
	for i := range findings {
		f := &findings[i]
		f.File = n.name(f.File)
		for j := range f.Related {
			f.Related[j].File = n.name(f.Related[j].File)
		}
		for _, fix := range f.Fixes {
			for j := range fix.Edits {
				fix.Edits[j].File = n.name(fix.Edits[j].File)
			}
		}
	}
}
