package site

import (
	"golang.org/x/tools/go/ssa"

	"github.com/pgadvisory/pgadvisory/analyzer/internal/flow"
)

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
