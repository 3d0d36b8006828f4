package site

import (
	"go/ast"
	"go/token"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// word begins an ignore comment, right after the slashes.
const word = "advisorylint:ignore"

// directivesOf returns the ignore comments of a file.
func directivesOf(pass *analysis.Pass, file *ast.File) []*Directive {
	var out []*Directive
	for _, group := range file.Comments {
		for _, c := range group.List {
			text, ok := strings.CutPrefix(c.Text, "//")
			rest, found := strings.CutPrefix(strings.TrimLeft(text, " \t"), word)
			if !ok || !found || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
				continue
			}
			d := parseDirective(pass, file, c, rest)
			d.Spaced = !strings.HasPrefix(text, word)
			out = append(out, d)
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
	d.file, d.first, d.end = at.Filename, at.Line, at.Line
	if decl := documented(file, c); decl != nil {
		d.end = pass.Fset.Position(decl.End()).Line
		return d
	}
	d.cover(pass.Fset, file, c)
	return d
}

// cover finds the lines that a directive in a body speaks of: its own if there
// is code before it, else the next one; and those of the statement that this
// line is a part of.
func (d *Directive) cover(fset *token.FileSet, file *ast.File, c *ast.Comment) {
	line := func(pos token.Pos) int { return fset.Position(pos).Line }
	own, trails := d.first, false
	ast.Inspect(file, func(n ast.Node) bool {
		if n == nil || n.Pos() > c.Pos() {
			return false
		}
		if _, isFile := n.(*ast.File); !isFile && n.End() <= c.Pos() && line(n.End()) == own {
			trails = true
		}
		if block, ok := n.(*ast.BlockStmt); ok && line(block.Lbrace) == own {
			trails = true
		}
		return !trails
	})
	target := own
	if !trails {
		target++
		d.end = target
	}
	best := 1 << 30
	ast.Inspect(file, func(n ast.Node) bool {
		first, last, ok := header(n)
		if !ok {
			return true
		}
		if f, l := line(first), line(last); f <= target && target <= l && l-f < best {
			best = l - f
			d.first, d.end = min(f, own), l
		}
		return true
	})
}

// header returns where a statement begins, and where it ends or its body
// begins.
func header(n ast.Node) (first, last token.Pos, ok bool) {
	switch n := n.(type) {
	case *ast.IfStmt:
		return n.Pos(), n.Body.Lbrace, true
	case *ast.ForStmt:
		return n.Pos(), n.Body.Lbrace, true
	case *ast.RangeStmt:
		return n.Pos(), n.Body.Lbrace, true
	case *ast.SwitchStmt:
		return n.Pos(), n.Body.Lbrace, true
	case *ast.TypeSwitchStmt:
		return n.Pos(), n.Body.Lbrace, true
	case *ast.BlockStmt, *ast.LabeledStmt, *ast.SelectStmt, *ast.CaseClause, *ast.CommClause, *ast.EmptyStmt:
		return 0, 0, false
	case ast.Stmt:
		return n.Pos(), beforeBody(n), true
	case *ast.ValueSpec:
		return n.Pos(), n.End(), true
	}
	return 0, 0, false
}

// beforeBody returns where a statement ends, or where the body of a function
// literal in it begins.
func beforeBody(n ast.Node) token.Pos {
	end := n.End()
	ast.Inspect(n, func(n ast.Node) bool {
		if lit, ok := n.(*ast.FuncLit); ok {
			end = min(end, lit.Body.Lbrace)
			return false
		}
		return true
	})
	return end
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
	if at.Filename != d.file || at.Line < d.first || at.Line > d.end || d.Reason == "" || d.Spaced {
		return false
	}
	for _, r := range d.Rules {
		if r == rule {
			return true
		}
	}
	return false
}
