package site

import (
	"go/ast"

	"golang.org/x/tools/go/ssa"

	"github.com/pgadvisory/pgadvisory/analyzer/internal/flow"
	"github.com/pgadvisory/pgadvisory/analyzer/internal/sqltext"
)

// maxLevels bounds the helpers between the call that runs the SQL and the one
// that knows the handle and the text.
const maxLevels = 5

// A view is what a level of helpers knows of an execution.
type view struct {
	text   bool     // the text has lock calls in it
	handle bool     // the type of the handle says what it is
	param  int      // the parameter that the handle comes from, or -1
	behind bool     // the handle is a part of that parameter
	expr   ast.Expr // the handle, as the call that runs the SQL has it; or nil
}

// visit looks at what call runs, seen from at, which reaches it through the
// helpers in frame. was is what the level below knew.
func (f *finder) visit(call ssa.CallInstruction, frame *flow.Frame, at ssa.CallInstruction, was []view, level int) {
	fn := at.Parent()
	if frame != nil {
		fn = frame.Outermost().Call.Parent()
	}
	var now []view
	up := false
	for i, e := range f.executions(call, frame) {
		before := view{param: -1}
		if e.helper != nil {
			before = view{
				text:   len(e.helper.Texts) > 0,
				handle: e.helper.Typed,
				param:  e.helper.Handle.Operand,
				behind: e.helper.Handle.Path != "",
			}
			if e.helper.Fixed {
				before.param = -1
			}
		}
		if i < len(was) {
			before = was[i]
		}
		v, more := f.look(e, at, fn, before, level)
		now = append(now, v)
		up = up || more
	}
	if !up || level >= maxLevels {
		return
	}
	for _, edge := range f.prog.Callers(fn) {
		if outer := flow.Enter(edge.Instr, edge.Args, fn, edge.Frame); outer != nil && f.climb() {
			f.visit(call, frame.Within(outer), edge.Instr, now, level+1)
		}
	}
}

// look makes the sites of one execution. It reports what it knows, and whether
// callers may know more.
func (f *finder) look(e *execution, at ssa.CallInstruction, fn *ssa.Function, was view, level int) (now view, up bool) {
	var handles []Handle
	var run []sqltext.Statement
	open := false
	for _, t := range e.texts {
		statements := f.parse(t.S, e.frags)
		if !locks(statements) {
			open = open || t.Open
			continue
		}
		if !now.text {
			now.text = true
			handles = f.handles(e)
		}
		run = append(run, statements...)
		f.make(e, t, statements, handles, at, was, level)
	}
	now.param, now.expr = -1, was.expr
	if level == 0 && e.helper == nil {
		if call := f.syntax[at.Common().Pos()]; call != nil {
			now.expr = root(e, call)
		}
	}
	if !now.text {
		if open {
			f.export(e, nil, nil, fn, was)
		}
		return now, open
	}
	now.handle = true
	for _, h := range handles {
		param := h.Origin.Param()
		if param != nil && (h.open || h.Kind == Conn || h.Kind == Tx) {
			up = true
			now.param, now.behind = paramIndex(param), h.Origin.Path != ""
		}
		now.handle = now.handle && h.Kind != Unknown
	}
	f.export(e, run, handles, fn, was)
	return now, up || open
}
