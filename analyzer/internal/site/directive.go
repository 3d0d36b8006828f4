package site

import (
	"go/ast"
	"go/token"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// prefix begins an ignore comment.
const prefix = "//advisorylint:ignore"

// directivesOf returns the ignore comments of a file.
func directivesOf(pass *analysis.Pass, file *ast.File) []*Directive {
	var out []*Directive
	for _, group := range file.Comments {
		for _, c := range group.List {
			rest, ok := strings.CutPrefix(c.Text, prefix)
			if !ok || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
				continue
			}
			out = append(out, parseDirective(pass, file, c, rest))
		}
	}
	return out
}

func parseDirective(pass *analysis.Pass, file *ast.File, c *ast.Comment, rest string) *Directive {
	// A further comment on the line is not a part of the reason.
	rest, _, _ = strings.Cut(rest, "//")
	rules, reason, _ := strings.Cut(strings.TrimSpace(rest), " ")
	d := &Directive{Comment: c, Reason: strings.TrimSpace(reason)}
	for r := range strings.SplitSeq(rules, ",") {
		if r = strings.TrimSpace(r); r != "" {
			d.Rules = append(d.Rules, r)
		}
	}
	at := pass.Fset.Position(c.Pos())
	d.file, d.first, d.end = at.Filename, at.Line, at.Line+1
	if decl := documented(file, c); decl != nil {
		d.end = pass.Fset.Position(decl.End()).Line
	}
	return d
}

// documented returns the declaration that a comment is in the doc of, or nil.
func documented(file *ast.File, c *ast.Comment) ast.Node {
	for _, decl := range file.Decls {
		var doc *ast.CommentGroup
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			doc = decl.Doc
		case *ast.GenDecl:
			doc = decl.Doc
		}
		if doc != nil && doc.Pos() <= c.Pos() && c.End() <= doc.End() {
			return decl
		}
	}
	return nil
}

// Covers reports whether the directive speaks of a rule's report at pos.
func (d *Directive) Covers(fset *token.FileSet, rule string, pos token.Pos) bool {
	at := fset.Position(pos)
	if at.Filename != d.file || at.Line < d.first || at.Line > d.end || d.Reason == "" {
		return false
	}
	for _, r := range d.Rules {
		if r == rule {
			return true
		}
	}
	return false
}
