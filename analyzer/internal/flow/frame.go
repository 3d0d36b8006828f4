package flow

import (
	"golang.org/x/tools/go/ssa"
)

// A Frame is one call that a question follows: within it, the callee's
// parameters are the call's operands. A nil Frame knows of no call.
type Frame struct {
	Call   ssa.CallInstruction
	Args   []ssa.Value // one for each of Callee's parameters
	Callee *ssa.Function
	Outer  *Frame // what is known where the call stands

	depth int
}

// maxDepth bounds the calls that one question follows into each other.
const maxDepth = 7

// Enter returns the frame of a call, or nil if it would be too deep or would
// enter a function for a second time.
func Enter(call ssa.CallInstruction, args []ssa.Value, callee *ssa.Function, outer *Frame) *Frame {
	f := &Frame{Call: call, Args: args, Callee: callee, Outer: outer}
	if len(args) != len(callee.Params) {
		return nil
	}
	for o := outer; o != nil; o = o.Outer {
		if o.Callee == callee {
			return nil
		}
		f.depth++
	}
	if f.depth >= maxDepth {
		return nil
	}
	return f
}

// Within returns the frame f where outer tells what is known around its
// outermost call.
func (f *Frame) Within(outer *Frame) *Frame {
	if f == nil {
		return outer
	}
	g := *f
	g.Outer = f.Outer.Within(outer)
	return &g
}

// of returns the innermost frame of fn, or nil.
func (f *Frame) of(fn *ssa.Function) *Frame {
	for ; f != nil; f = f.Outer {
		if f.Callee == fn {
			return f
		}
	}
	return nil
}

// Outermost returns the call through which all the others were reached.
func (f *Frame) Outermost() *Frame {
	for f != nil && f.Outer != nil {
		f = f.Outer
	}
	return f
}
