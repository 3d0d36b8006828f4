package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// writeText prints findings as lines for people and for programs that look for file:line:column.
func writeText(w io.Writer, findings []finding) error {
	var text bytes.Buffer
	for _, f := range findings {
		fmt.Fprintf(&text, "%s: %s (%s)\n", f.place, f.Message, f.Rule)
		for _, r := range f.Related {
			fmt.Fprintf(&text, "\t%s: %s\n", r.place, r.Message)
		}
	}
	_, err := text.WriteTo(w)
	return err
}

func (p place) String() string {
	switch {
	case p.Line == 0:
		return p.File
	case p.Column == 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// A document is what -json prints.
type document struct {
	Complete bool      `json:"complete"` // whether every package asked for was checked
	Findings []finding `json:"findings"` // never null
}

func writeJSON(w io.Writer, doc document) error {
	if doc.Findings == nil {
		doc.Findings = []finding{}
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false) // SQL and Go code are full of < and &
	encoder.SetIndent("", "\t")
	return encoder.Encode(doc)
}
