package site

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/pgadvisory/pgadvisory/analyzer/internal/flow"
)

// An operand is a part of a value, where the frame says.
type operand struct {
	value ssa.Value
	path  flow.Path
	frame *flow.Frame
}

// An execution is one way in which a call runs SQL.
type execution struct {
	call   *flow.Call
	form   form
	handle operand
	texts  []flow.Text
	frags  bool        // the texts are fragments of a builder
	dests  []ssa.Value // what the answer is scanned into by the call itself
	answer ssa.Value   // what the answer is scanned from later
	args   []ssa.Value // the statement's arguments
	text   operand     // what texts was read from, if it is one argument
	helper *Run        // the summary that the execution comes from, or nil
	fixed  *Handle     // what the summary says of the handle, or nil
	unsent bool        // the text is built, and never sent
}

// executions tells what SQL a call runs itself: the callee's body, if it is in
// the package, is not looked at.
func (f *finder) executions(instr ssa.CallInstruction, frame *flow.Frame) []*execution {
	c := f.prog.Resolve(instr, frame)
	if c.Method == nil || c.Fn != nil {
		return nil
	}
	if sum := f.summaryOf(c.Method); sum != nil {
		return f.helperRuns(c, sum)
	}
	if c.Recv == nil {
		return f.packaged(c)
	}
	recv := typeOf(c.Recv.Type())
	switch {
	case recv.role == stmtRole:
		return f.prepared(c)
	case recv.role == queryRole:
		return f.built(c)
	case recv.role == chainRole:
		return f.chained(c)
	case recv.role == poolRole, recv.role == connRole, recv.role == txRole, c.Invoke:
		return f.direct(c, recv)
	}
	return nil
}

// direct is a call of a method of a handle with the text as an argument.
func (f *finder) direct(c *flow.Call, recv handleType) []*execution {
	form := forms[c.Method.Name()]
	if form == noForm {
		return nil
	}
	if form == batchForm {
		return f.batched(c)
	}
	if name, ok := nameOf(c.Recv.Type()); ok && name.name == "PgConn" {
		form = freeForm
	}
	text := textParam(c)
	if text < 0 {
		return nil
	}
	e := &execution{
		call:   c,
		form:   form,
		handle: operand{c.Recv, "", c.Frame},
		texts:  f.prog.Texts(c.Args[text], c.Frame),
		text:   operand{c.Args[text], "", c.Frame},
		args:   c.Args[text+1:],
	}
	if form == destForm && text > 0 {
		e.dests = c.Args[text-1 : text]
	}
	return []*execution{e}
}

// textParam returns the index of the first argument that is a string, or -1.
func textParam(c *flow.Call) int {
	params := c.Method.Signature().Params()
	for i := range min(params.Len(), len(c.Args)) {
		if t := params.At(i).Type(); flow.IsString(t) {
			if _, isParam := types.Unalias(t).(*types.TypeParam); !isParam {
				return i
			}
		}
	}
	return -1
}

// prepared is a call of a prepared statement.
func (f *finder) prepared(c *flow.Call) []*execution {
	form := forms[c.Method.Name()]
	if form == noForm {
		return nil
	}
	var out []*execution
	for _, s := range f.statements(operand{c.Recv, "", c.Frame}, 0) {
		e := &execution{call: c, form: form, handle: s.handle, texts: s.texts, args: c.Args}
		if form == destForm {
			for i, a := range c.Args {
				if _, ok := a.Type().Underlying().(*types.Interface); ok && i < 2 && !isContext(a.Type()) {
					e.dests = c.Args[i : i+1]
					break
				}
			}
		}
		out = append(out, e)
	}
	return out
}

type statement struct {
	handle operand
	texts  []flow.Text
}

// statements tells what a prepared statement is.
func (f *finder) statements(stmt operand, depth int) []statement {
	if depth > maxHandleDepth {
		return nil
	}
	var out []statement
	for _, l := range f.leaves(stmt) {
		call, ok := l.Value.(*ssa.Call)
		if !ok {
			continue
		}
		c := f.prog.Resolve(call, l.Frame)
		if c.Method == nil || c.Recv == nil {
			continue
		}
		switch name := c.Method.Name(); {
		case preparers[name]:
			if text := textParam(c); text >= 0 {
				out = append(out, statement{operand{c.Recv, "", c.Frame}, f.prog.Texts(c.Args[text], c.Frame)})
			}
		case rebinders[name]:
			for _, a := range c.Args {
				if typeOf(dynamic(a).Type()).role != stmtRole {
					continue
				}
				for _, s := range f.statements(operand{a, "", c.Frame}, depth+1) {
					out = append(out, statement{operand{c.Recv, "", c.Frame}, s.texts})
				}
			}
		}
	}
	return out
}

// dynamic returns the value that was put into an interface.
func dynamic(v ssa.Value) ssa.Value {
	if m, ok := v.(*ssa.MakeInterface); ok {
		return m.X
	}
	return v
}

// leaves follows an operand; a parameter's part is looked for in the stores in
// its field, too.
func (f *finder) leaves(o operand) []flow.Leaf {
	var out []flow.Leaf
	for _, l := range f.prog.Trace(o.value, o.path, o.frame) {
		if l.Param() != nil && l.Path != "" {
			if more := f.expand(l); len(more) > 0 {
				out = append(out, more...)
				continue
			}
		}
		out = append(out, l)
	}
	return out
}

func isContext(t types.Type) bool {
	name, ok := nameOf(t)
	return ok && name == typeName{"context", "Context"}
}
