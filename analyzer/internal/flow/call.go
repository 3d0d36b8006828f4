package flow

import (
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// A Call is a call with what is known of its callee. Method values, method
// expressions and calls through an interface look like plain method calls.
type Call struct {
	Instr  ssa.CallInstruction
	Method *types.Func   // the function or method that is named, or nil
	Recv   ssa.Value     // the receiver, or nil
	Args   []ssa.Value   // without the receiver
	Fn     *ssa.Function // the callee's body, if it is in the package and the only one
	Invoke bool          // through an interface
	Frame  *Frame        // what is known where Instr stands
}

// Operands returns the receiver, if there is one, and the arguments.
func (c *Call) Operands() []ssa.Value {
	if c.Recv == nil {
		return c.Args
	}
	return append([]ssa.Value{c.Recv}, c.Args...)
}

// Value returns the value of the call, or nil if it has none: defer, go.
func (c *Call) Value() ssa.Value {
	if v := c.Instr.Value(); v != nil {
		return v
	}
	return nil
}

// maxResolving bounds the calls that are looked into to tell what one call
// calls.
const maxResolving = 12

// Resolve tells what a call calls.
func (p *Program) Resolve(instr ssa.CallInstruction, frame *Frame) *Call {
	common := instr.Common()
	c := &Call{Instr: instr, Args: common.Args, Frame: frame}
	if common.IsInvoke() {
		c.Method, c.Recv, c.Invoke = common.Method, common.Value, true
	}
	// The callee may depend on the result of this very call, in a loop.
	if p.resolving[instr] || len(p.resolving) >= maxResolving {
		p.cuts++
		return c
	}
	p.resolving[instr] = true
	defer delete(p.resolving, instr)
	if common.IsInvoke() {
		c.Fn = p.implementation(c)
		return c
	}
	if fn := common.StaticCallee(); fn != nil {
		p.static(c, fn, common.Value)
		return c
	}
	if _, ok := common.Value.(*ssa.Builtin); ok {
		return c
	}
	leaves := p.Trace(common.Value, "", frame)
	if len(leaves) != 1 {
		return c
	}
	switch v := leaves[0].Value.(type) {
	case *ssa.Function:
		p.static(c, v, v)
	case *ssa.MakeClosure:
		if fn, ok := v.Fn.(*ssa.Function); ok {
			p.static(c, fn, v)
		}
	}
	return c
}

// static fills in a callee that is known. value is the function value called:
// a bound method has its receiver there.
func (p *Program) static(c *Call, fn *ssa.Function, value ssa.Value) {
	fn = body(fn)
	method, _ := fn.Object().(*types.Func)
	if closure, ok := value.(*ssa.MakeClosure); ok && fn.Synthetic != "" && method != nil && len(closure.Bindings) == 1 {
		// x.m as a value: a closure around x.
		c.Method, c.Recv = method, closure.Bindings[0]
		c.Fn = p.declared(method)
		c.Invoke = types.IsInterface(method.Signature().Recv().Type())
		return
	}
	c.Method = method
	if method != nil && method.Signature().Recv() != nil && len(c.Args) > 0 {
		c.Recv, c.Args = c.Args[0], c.Args[1:]
		if fn.Synthetic != "" { // T.m as a value: a thunk
			c.Fn = p.declared(method)
			c.Invoke = types.IsInterface(method.Signature().Recv().Type())
			return
		}
	}
	if len(fn.Blocks) > 0 && p.inside(fn) {
		c.Fn = fn
	}
}

// declared returns the body of a function of this package.
func (p *Program) declared(fn *types.Func) *ssa.Function {
	if fn.Pkg() != p.Pkg.Pkg {
		return nil
	}
	f := p.Pkg.Prog.FuncValue(fn.Origin())
	if f == nil || len(f.Blocks) == 0 {
		return nil
	}
	return f
}

// inside reports whether a function was written in the package.
func (p *Program) inside(fn *ssa.Function) bool {
	for fn.Parent() != nil {
		fn = fn.Parent()
	}
	return fn.Pkg == p.Pkg
}

// implementation returns the method that a call through an interface runs, if
// every value which the interface may hold here has the same.
func (p *Program) implementation(c *Call) *ssa.Function {
	var found *ssa.Function
	for _, l := range p.Trace(c.Recv, "", c.Frame) {
		fn := p.MethodOf(l.Type(), c.Method)
		if fn == nil || found != nil && found != fn {
			return nil
		}
		found = fn
	}
	return found
}

// MethodOf returns the body of the method that a type of this package has
// under the name of m, not one promoted from an embedded field.
func (p *Program) MethodOf(t types.Type, m *types.Func) *ssa.Function {
	if t == nil || types.IsInterface(t) {
		return nil
	}
	obj, index, _ := types.LookupFieldOrMethod(t, true, p.Pkg.Pkg, m.Name())
	fn, ok := obj.(*types.Func)
	if !ok || len(index) != 1 {
		return nil
	}
	return p.declared(fn)
}
