package site

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// place fills in where a site is to be reported, and under which name.
func (f *finder) place(s *Site, was view, level int) {
	common := s.Instr.Common()
	s.Pos = s.Instr.Pos()
	s.End = s.Pos
	s.Call = f.syntax[common.Pos()]
	if s.Call != nil {
		s.Pos, s.End = s.Call.Pos(), s.Call.End()
		// The line of a chain of calls is that of the call which runs the SQL.
		if sel, ok := ast.Unparen(s.Call.Fun).(*ast.SelectorExpr); ok && f.line(sel.Sel) != f.line(s.Call) {
			s.Pos = sel.Sel.Pos()
		}
	}
	args := common.Args
	if !common.IsInvoke() && common.Signature().Recv() != nil && len(args) > 0 {
		args = args[1:]
	}
	for _, a := range args {
		if isContext(a.Type()) {
			s.Ctx = a
			break
		}
	}
	if level > 0 || s.run.helper != nil {
		if fn := common.StaticCallee(); fn != nil {
			s.Helper, _, _ = strings.Cut(fn.Name(), "[")
		} else if common.IsInvoke() {
			s.Helper = common.Method.Name()
		}
	}
	if e := f.handleAt(s, was, level); e != nil {
		s.Name, s.NameType = spelled(e), f.pass.TypesInfo.TypeOf(e)
	}
	s.Behind = was.behind && s.Helper != "" && was.param >= 0
}

func (f *finder) line(n ast.Node) int { return f.pass.Fset.Position(n.Pos()).Line }

// handleAt returns the handle's expression at the site, or nil.
func (f *finder) handleAt(s *Site, was view, level int) ast.Expr {
	if s.Call == nil {
		return nil
	}
	param := was.param
	if level == 0 && s.run.helper == nil {
		return root(s.run, s.Call)
	}
	if param < 0 {
		if f.visible(was.expr, s.Pos) {
			return was.expr
		}
		return nil
	}
	if hasReceiver(s.Instr) {
		if param == 0 {
			if sel, ok := ast.Unparen(s.Call.Fun).(*ast.SelectorExpr); ok {
				return sel.X
			}
			return nil
		}
		param--
	}
	if param >= len(s.Call.Args) {
		return nil
	}
	return s.Call.Args[param]
}

// visible reports whether an expression of a helper means something at pos: it
// begins with a variable that is declared there.
func (f *finder) visible(e ast.Expr, pos token.Pos) bool {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			obj := f.pass.TypesInfo.ObjectOf(x)
			if obj == nil || obj.Parent() == nil {
				return false
			}
			return obj.Parent() == f.pass.Pkg.Scope() || obj.Parent().Contains(pos) && obj.Pos() < pos
		case *ast.SelectorExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		default:
			return false
		}
	}
}

func hasReceiver(instr ssa.CallInstruction) bool {
	common := instr.Common()
	if common.IsInvoke() {
		return true
	}
	fn := common.StaticCallee()
	return fn != nil && fn.Signature.Recv() != nil
}

// root returns the expression of the handle in the call that runs the SQL: the
// receiver, or for a query builder the first one of the chain, or a function's
// argument.
func root(e *execution, call *ast.CallExpr) ast.Expr {
	if e.call.Recv == nil {
		for i, a := range e.call.Args {
			if a == e.handle.value && i < len(call.Args) {
				return call.Args[i]
			}
		}
		return nil
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	x := ast.Unparen(sel.X)
	if e.form == batchForm {
		return x
	}
	if r := typeOf(e.call.Recv.Type()).role; r == queryRole || r == chainRole {
		for {
			inner, ok := x.(*ast.CallExpr)
			if !ok {
				return x
			}
			sel, ok := ast.Unparen(inner.Fun).(*ast.SelectorExpr)
			if !ok {
				return x
			}
			x = ast.Unparen(sel.X)
		}
	}
	return x
}

// maxName bounds a spelled name.
const maxName = 40

// spelled returns an expression as the source spells it, if it is short.
func spelled(e ast.Expr) string {
	if e == nil {
		return ""
	}
	s := types.ExprString(e)
	if len(s) > maxName {
		return ""
	}
	return s
}
