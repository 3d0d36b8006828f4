package flow

import (
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// An Edge is a call of a function of the package.
type Edge struct {
	Instr ssa.CallInstruction
	Args  []ssa.Value // one for each of the callee's parameters
	Frame *Frame      // what is known where the arguments stand
}

// A Handing is a call of another package that a function value is handed to.
type Handing struct {
	Call     *Call
	Argument int // in Call.Args
}

type callIndex struct {
	edges   map[*ssa.Function][]Edge
	handed  map[*ssa.Function][]Handing
	dynamic map[*ssa.Parameter][]ssa.CallInstruction // calls of a parameter's value
	passed  map[*ssa.Parameter][]ssa.CallInstruction // calls with a parameter as an argument
}

// Callers returns the calls of fn in the package, also those of a function
// value handed to a function that calls it.
func (p *Program) Callers(fn *ssa.Function) []Edge { return p.callIndex().edges[fn] }

// Users returns the callers of fn that show how it is used: tests do not, unless
// fn is a part of them.
func (p *Program) Users(fn *ssa.Function) []Edge {
	if p.InTest(fn.Pos()) {
		return p.Callers(fn)
	}
	var out []Edge
	for _, e := range p.Callers(fn) {
		if !p.InTest(e.Instr.Pos()) {
			out = append(out, e)
		}
	}
	return out
}

// Handed returns the calls of other packages' functions which fn is handed to.
func (p *Program) Handed(fn *ssa.Function) []Handing { return p.callIndex().handed[fn] }

func (p *Program) callIndex() *callIndex {
	if p.calls != nil {
		return p.calls
	}
	x := &callIndex{
		edges:   map[*ssa.Function][]Edge{},
		handed:  map[*ssa.Function][]Handing{},
		dynamic: map[*ssa.Parameter][]ssa.CallInstruction{},
		passed:  map[*ssa.Parameter][]ssa.CallInstruction{},
	}
	p.calls = x
	for _, instr := range p.sites {
		common := instr.Common()
		if !common.IsInvoke() && common.StaticCallee() == nil {
			for _, l := range p.Trace(common.Value, "", nil) {
				if param := l.Param(); param != nil && l.Path == "" {
					x.dynamic[param] = append(x.dynamic[param], instr)
				}
			}
		}
		for _, arg := range common.Args {
			if _, ok := arg.Type().Underlying().(*types.Signature); !ok {
				continue
			}
			for _, l := range p.Trace(arg, "", nil) {
				if param := l.Param(); param != nil && l.Path == "" {
					x.passed[param] = append(x.passed[param], instr)
				}
			}
		}
	}
	for _, instr := range p.sites {
		c := p.Resolve(instr, nil)
		if c.Fn != nil {
			x.add(c.Fn, Edge{Instr: instr, Args: c.Operands()})
		}
		p.hand(x, c)
	}
	return x
}

func (x *callIndex) add(fn *ssa.Function, e Edge) {
	if len(e.Args) == len(fn.Params) {
		x.edges[fn] = append(x.edges[fn], e)
	}
}

// hand records what becomes of the functions among a call's arguments.
func (p *Program) hand(x *callIndex, c *Call) {
	for i, arg := range c.Args {
		if _, ok := arg.Type().Underlying().(*types.Signature); !ok {
			continue
		}
		for _, l := range p.Trace(arg, "", nil) {
			fn, recv := functionOf(l.Value)
			if fn == nil {
				continue
			}
			if real := p.realOf(fn); real != nil {
				p.handTo(x, real, recv, c, i)
			}
		}
	}
}

// functionOf returns the function that a function value is, and the receiver
// that is bound to it.
func functionOf(v ssa.Value) (*ssa.Function, ssa.Value) {
	switch v := v.(type) {
	case *ssa.Function:
		return body(v), nil
	case *ssa.MakeClosure:
		fn, _ := v.Fn.(*ssa.Function)
		fn = body(fn)
		if fn != nil && fn.Synthetic != "" && fn.Object() != nil && len(v.Bindings) == 1 {
			return fn, v.Bindings[0]
		}
		return fn, nil
	}
	return nil, nil
}

// realOf returns the written function that a wrapper stands for.
func (p *Program) realOf(fn *ssa.Function) *ssa.Function {
	if m, ok := fn.Object().(*types.Func); ok && fn.Synthetic != "" {
		return p.declared(m)
	}
	if len(fn.Blocks) == 0 || !p.inside(fn) {
		return nil
	}
	return fn
}

// handTo records that fn is argument i of c.
func (p *Program) handTo(x *callIndex, fn *ssa.Function, recv ssa.Value, c *Call, i int) {
	if c.Fn == nil {
		if c.Method != nil {
			x.handed[fn] = append(x.handed[fn], Handing{Call: c, Argument: i})
		}
		return
	}
	operand := i
	if c.Recv != nil {
		operand++
	}
	if operand >= len(c.Fn.Params) {
		return
	}
	inner := Enter(c.Instr, c.Operands(), c.Fn, c.Frame)
	if inner == nil {
		return
	}
	param := c.Fn.Params[operand]
	for _, call := range x.dynamic[param] {
		args := call.Common().Args
		if recv != nil {
			args = append([]ssa.Value{recv}, args...)
		}
		x.add(fn, Edge{Instr: call, Args: args, Frame: inner})
	}
	for _, call := range x.passed[param] {
		next := p.Resolve(call, inner)
		for j, arg := range next.Args {
			for _, l := range p.Trace(arg, "", nil) {
				if l.Param() == param && l.Path == "" {
					p.handTo(x, fn, recv, next, j)
				}
			}
		}
	}
}

// Written returns the function of the package that a function value is, or
// nil.
func (p *Program) Written(v ssa.Value) *ssa.Function {
	fn, _ := functionOf(v)
	if fn == nil {
		return nil
	}
	return p.realOf(fn)
}
