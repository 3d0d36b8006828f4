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
		return nil
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

// chained is a call of a method of gorm's DB.
func (f *finder) chained(c *flow.Call) []*execution {
	name := c.Method.Name()
	if name != "Exec" && name != "Raw" || len(c.Args) == 0 {
		return nil
	}
	e := &execution{
		call:   c,
		form:   execForm,
		handle: operand{c.Recv, "", c.Frame},
		texts:  f.prog.Texts(c.Args[0], c.Frame),
		text:   operand{c.Args[0], "", c.Frame},
		args:   c.Args[1:],
	}
	if name == "Raw" {
		f.finish(e, c)
	}
	return []*execution{e}
}

// finish looks for the call that sends what gorm's Raw holds.
func (f *finder) finish(e *execution, c *flow.Call) {
	v := c.Value()
	if v == nil { // defer db.Raw(…)
		e.unsent = true
		return
	}
	e.form, e.unsent = rawForm, true
	flow.Uses(v, func(use ssa.Instruction, _ ssa.Value) {
		call, ok := use.(ssa.CallInstruction)
		if !ok {
			if at, ok := use.(*ssa.FieldAddr); !ok || fieldAt(at) != "Error" && fieldAt(at) != "RowsAffected" {
				e.unsent, e.form = false, freeForm // out of sight
			}
			return
		}
		next := f.prog.Resolve(call, nil)
		if next.Method == nil || next.Recv == nil || typeOf(next.Recv.Type()).role != chainRole {
			e.unsent, e.form = false, freeForm
			return
		}
		form, ok := finishers[next.Method.Name()]
		if !ok {
			f.finish(e, next) // WithContext and the like
			return
		}
		e.unsent, e.form = false, form
		switch form {
		case destForm:
			if len(next.Args) > 0 {
				e.dests = next.Args[:1]
			}
		case rowForm, rowsForm:
			e.answer = next.Value()
		}
	})
}

// built is a call that runs a query of bun's.
func (f *finder) built(c *flow.Call) []*execution {
	form := queryFinishers[c.Method.Name()]
	if form == noForm {
		return nil
	}
	e := &execution{call: c, form: form, frags: true}
	if form == destForm && len(c.Args) > 1 {
		e.dests = f.prog.Elements(c.Args[1])
		if c.Method.Name() == "Exec" && len(e.dests) == 0 {
			e.form = execForm
		}
	}
	f.parts(e, c, 0)
	if e.handle.value == nil {
		return nil
	}
	return []*execution{e}
}

// maxChain bounds the calls that build one query.
const maxChain = 64

// parts collects the texts of the calls that built the receiver of c.
func (f *finder) parts(e *execution, c *flow.Call, depth int) {
	if depth > maxChain {
		return
	}
	for _, l := range f.leaves(operand{c.Recv, "", c.Frame}) {
		call, ok := l.Value.(*ssa.Call)
		if !ok {
			continue
		}
		prev := f.prog.Resolve(call, l.Frame)
		if prev.Method == nil || prev.Recv == nil {
			continue
		}
		if prev.Method.Name() == "NewRaw" {
			e.frags = false
		}
		if text := textParam(prev); text >= 0 {
			e.texts = append(e.texts, f.prog.Texts(prev.Args[text], prev.Frame)...)
			e.args = append(e.args, prev.Args[text+1:]...)
		}
		switch {
		case prev.Method.Name() == "Conn" && len(prev.Args) == 1:
			e.handle = operand{prev.Args[0], "", prev.Frame}
			f.parts(e, prev, depth+1)
		case typeOf(prev.Recv.Type()).role == queryRole:
			f.parts(e, prev, depth+1)
		case e.handle.value == nil:
			e.handle = operand{prev.Recv, "", prev.Frame}
		}
	}
}

// batched is a call that sends a batch: one transaction that the server makes.
func (f *finder) batched(c *flow.Call) []*execution {
	e := &execution{call: c, form: batchForm, handle: operand{c.Recv, "", c.Frame}}
	var keys []flow.Leaf
	for _, a := range c.Args {
		if typeOf(a.Type()).role == batchRole {
			keys = f.prog.Trace(a, "", c.Frame)
		}
	}
	for _, q := range f.queues {
		queue := f.prog.Resolve(q, nil)
		text := textParam(queue)
		if queue.Recv == nil || text < 0 || !common(keys, f.prog.Trace(queue.Recv, "", nil)) {
			continue
		}
		e.texts = append(e.texts, f.prog.Texts(queue.Args[text], nil)...)
	}
	return []*execution{e}
}

func common(a, b []flow.Leaf) bool {
	for _, x := range a {
		for _, y := range b {
			if x.Value != nil && x.Value == y.Value && x.Path == y.Path {
				return true
			}
		}
	}
	return false
}

func isContext(t types.Type) bool {
	name, ok := nameOf(t)
	return ok && name == typeName{"context", "Context"}
}
