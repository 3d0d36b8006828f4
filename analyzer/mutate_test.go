package analyzer_test

import (
	"go/ast"
	"go/token"
	"strconv"
)

// A mutator changes a syntax tree as a sequence of bytes tells.
type mutator struct {
	source  string
	choices []byte
	at      int
	state   uint32
}

// next returns a number below n. The bytes choose; when they are used up, what
// they were goes on choosing.
func (m *mutator) next(n int) int {
	if n <= 1 {
		return 0
	}
	var b byte
	if m.at < len(m.choices) {
		b = m.choices[m.at]
		m.at++
	}
	m.state = m.state*1664525 + 1013904223 + uint32(b)
	return int(m.state>>8) % n
}

// copied returns an expression as the source has it. Trees must not share
// parts, or they would have circles.
func (m *mutator) copied(e ast.Expr) ast.Expr {
	from, to := int(e.Pos())-1, int(e.End())-1
	if from < 0 || to > len(m.source) || from > to {
		return ast.NewIdent("nil")
	}
	return ast.NewIdent(m.source[from:to]) // printed as it is
}

func (m *mutator) mutate(file *ast.File) {
	var lists []*[]ast.Stmt
	var texts []*ast.BasicLit
	var calls []*ast.CallExpr
	var conds []*ast.IfStmt
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.BlockStmt:
			if len(n.List) > 0 {
				lists = append(lists, &n.List)
			}
		case *ast.CaseClause:
			if len(n.Body) > 0 {
				lists = append(lists, &n.Body)
			}
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				texts = append(texts, n)
			}
		case *ast.CallExpr:
			calls = append(calls, n)
		case *ast.IfStmt:
			conds = append(conds, n)
		}
		return true
	})
	for range 1 + m.next(12) {
		switch m.next(8) {
		case 0, 1, 2, 3:
			if len(lists) > 0 {
				m.statements(lists[m.next(len(lists))])
			}
		case 4:
			if len(texts) > 0 {
				m.text(texts[m.next(len(texts))], texts)
			}
		case 5:
			if len(calls) > 0 {
				m.call(calls[m.next(len(calls))], calls)
			}
		case 6:
			if len(conds) > 0 {
				m.cond(conds[m.next(len(conds))], conds)
			}
		case 7:
			if len(file.Decls) > 2 {
				i, j := 1+m.next(len(file.Decls)-1), 1+m.next(len(file.Decls)-1)
				file.Decls[i], file.Decls[j] = file.Decls[j], file.Decls[i]
			}
		}
	}
	// Comments are bound to positions, which do not hold any longer.
	file.Comments = nil
}

func (m *mutator) statements(list *[]ast.Stmt) {
	s := *list
	i := m.next(len(s))
	switch m.next(9) {
	case 0:
		*list = append(append([]ast.Stmt{}, s[:i]...), s[i+1:]...)
		if len(*list) == 0 {
			*list = s
		}
	case 1:
		*list = append(append(append([]ast.Stmt{}, s[:i+1]...), s[i]), s[i+1:]...)
	case 2:
		j := m.next(len(s))
		s[i], s[j] = s[j], s[i]
	case 3:
		s[i] = &ast.BlockStmt{List: []ast.Stmt{s[i]}}
	case 4:
		s[i] = &ast.ForStmt{Body: &ast.BlockStmt{List: []ast.Stmt{s[i]}}}
	case 5:
		s[i] = &ast.DeferStmt{Call: closure(s[i:])}
		*list = s[:i+1]
	case 6:
		s[i] = &ast.GoStmt{Call: closure(s[i : i+1])}
	case 7:
		s[i] = &ast.ExprStmt{X: closure(s[i : i+1])}
	case 8:
		s[i] = &ast.SwitchStmt{Body: &ast.BlockStmt{List: []ast.Stmt{
			&ast.CaseClause{List: []ast.Expr{ast.NewIdent("true")}, Body: []ast.Stmt{s[i]}},
			&ast.CaseClause{Body: []ast.Stmt{&ast.ExprStmt{X: &ast.CallExpr{
				Fun: ast.NewIdent("panic"), Args: []ast.Expr{ast.NewIdent("nil")}}}}},
		}}}
	}
}

func closure(body []ast.Stmt) *ast.CallExpr {
	return &ast.CallExpr{Fun: &ast.FuncLit{
		Type: &ast.FuncType{Params: &ast.FieldList{}},
		Body: &ast.BlockStmt{List: append([]ast.Stmt{}, body...)},
	}}
}

func (m *mutator) text(lit *ast.BasicLit, all []*ast.BasicLit) {
	switch m.next(3) {
	case 0:
		lit.Value = all[m.next(len(all))].Value
	case 1:
		if s, err := strconv.Unquote(lit.Value); err == nil && s != "" {
			i := m.next(len(s))
			lit.Value = strconv.Quote(s[:i] + string(rune(m.next(256))) + s[i:])
		}
	case 2:
		if s, err := strconv.Unquote(lit.Value); err == nil && s != "" {
			i := m.next(len(s))
			lit.Value = strconv.Quote(s[i:] + ";" + s[:i])
		}
	}
}

func (m *mutator) call(call *ast.CallExpr, all []*ast.CallExpr) {
	other := all[m.next(len(all))]
	switch m.next(4) {
	case 0:
		call.Fun = &ast.ParenExpr{X: call.Fun}
	case 1:
		call.Args = nil
		for _, a := range other.Args {
			call.Args = append(call.Args, m.copied(a))
		}
	case 2:
		call.Fun = m.copied(other.Fun)
	case 3:
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
			if from, ok := other.Fun.(*ast.SelectorExpr); ok {
				sel.X = m.copied(from.X)
			}
		}
	}
}

func (m *mutator) cond(s *ast.IfStmt, all []*ast.IfStmt) {
	switch m.next(3) {
	case 0:
		s.Cond = &ast.UnaryExpr{Op: token.NOT, X: &ast.ParenExpr{X: s.Cond}}
	case 1:
		s.Cond = m.copied(all[m.next(len(all))].Cond)
	case 2:
		s.Else = &ast.BlockStmt{List: s.Body.List}
	}
}
