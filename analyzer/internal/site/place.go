package site

import (
	"go/ast"
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
	s.Name = f.nameAt(s, was, level)
	s.Behind = was.behind && s.Helper != "" && was.param >= 0
}

func (f *finder) line(n ast.Node) int { return f.pass.Fset.Position(n.Pos()).Line }

// nameAt returns the handle as the source spells it at the site, or "".
func (f *finder) nameAt(s *Site, was view, level int) string {
	if s.Call == nil {
		return ""
	}
	param := was.param
	if level == 0 && s.run.helper == nil {
		return spelled(root(s.run, s.Call))
	}
	if param < 0 {
		return was.name
	}
	if hasReceiver(s.Instr) {
		if param == 0 {
			if sel, ok := ast.Unparen(s.Call.Fun).(*ast.SelectorExpr); ok {
				return spelled(sel.X)
			}
			return ""
		}
		param--
	}
	if param >= len(s.Call.Args) {
		return ""
	}
	return spelled(s.Call.Args[param])
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
// receiver, or for a query builder the first one of the chain.
func root(e *execution, call *ast.CallExpr) ast.Expr {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	x := ast.Unparen(sel.X)
	if e.form == batchForm || e.call.Recv == nil {
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
