package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// results is what "go vet -json" found.
type results struct {
	packages int // how many packages it has a result for
	findings []finding
	failures []string // rules that gave up, and on what
}

// A vetUnit is what go vet prints for one package: package, then rule, then either a list of diagnostics or an error. An
// empty object stands for a package without findings.
type vetUnit map[string]map[string]json.RawMessage

type vetDiagnostic struct {
	Posn           string       `json:"posn"`
	End            string       `json:"end"`
	Message        string       `json:"message"`
	SuggestedFixes []vetFix     `json:"suggested_fixes"`
	Related        []vetRelated `json:"related"`
}

type vetFix struct {
	Message string    `json:"message"`
	Edits   []vetEdit `json:"edits"`
}

type vetEdit struct {
	Filename string `json:"filename"`
	Start    int    `json:"start"`
	End      int    `json:"end"`
	New      string `json:"new"`
}

type vetRelated struct {
	Posn    string `json:"posn"`
	Message string `json:"message"`
}

// decode reads go vet's output: JSON objects, one after another and in no fixed order.
func decode(output io.Reader) (results, error) {
	var res results
	decoder := json.NewDecoder(output)
	for {
		var unit vetUnit
		switch err := decoder.Decode(&unit); {
		case errors.Is(err, io.EOF):
			return res, nil
		case err != nil:
			return res, fmt.Errorf("cannot read what go vet -json printed: %w", err)
		}
		res.packages++
		if err := res.add(unit); err != nil {
			return res, fmt.Errorf("cannot read what go vet -json printed: %w", err)
		}
	}
}

func (res *results) add(unit vetUnit) error {
	for _, id := range slices.Sorted(maps.Keys(unit)) {
		rules := unit[id]
		// "path [path.test]" is the package built together with its tests.
		path, _, _ := strings.Cut(id, " ")
		for _, rule := range slices.Sorted(maps.Keys(rules)) {
			var gaveUp struct {
				Error string `json:"error"`
			}
			if json.Unmarshal(rules[rule], &gaveUp) == nil {
				res.failures = append(res.failures, fmt.Sprintf("rule %s gave up on %s: %s", rule, path, gaveUp.Error))
				continue
			}
			var diagnostics []vetDiagnostic
			if err := json.Unmarshal(rules[rule], &diagnostics); err != nil {
				return err
			}
			for _, d := range diagnostics {
				res.findings = append(res.findings, d.finding(rule, path))
			}
		}
	}
	return nil
}

func (d vetDiagnostic) finding(rule, path string) finding {
	f := finding{Rule: rule, Package: path, place: parsePlace(d.Posn), Message: trimRule(d.Message, rule)}
	if end := parsePlace(d.End); end.File == f.File {
		f.EndLine, f.EndColumn = end.Line, end.Column
	}
	for _, r := range d.Related {
		f.Related = append(f.Related, related{parsePlace(r.Posn), r.Message})
	}
	for _, s := range d.SuggestedFixes {
		edits := make([]edit, len(s.Edits))
		for i, e := range s.Edits {
			edits[i] = edit{e.Filename, e.Start, e.End, e.New}
		}
		f.Fixes = append(f.Fixes, fix{s.Message, edits})
	}
	return f
}

// parsePlace reads "file:line:column". The file's name may hold colons itself; column and line may be missing.
func parsePlace(s string) place {
	file, last, ok := cutLast(s)
	if !ok {
		return place{File: s}
	}
	if file, line, ok := cutLast(file); ok {
		return place{file, line, last}
	}
	return place{file, last, 0}
}

func cutLast(s string) (before string, number int, ok bool) {
	colon := strings.LastIndexByte(s, ':')
	if colon < 0 {
		return s, 0, false
	}
	number, err := strconv.Atoi(s[colon+1:])
	return s[:colon], number, err == nil
}

// trimRule takes the rule's name off the end of a message, where rules put it for programs that show nothing but messages.
func trimRule(message, rule string) string {
	for _, mark := range []string{" (" + rule + ")", " [" + rule + "]"} {
		if short, ok := strings.CutSuffix(message, mark); ok {
			return short
		}
	}
	return message
}
