package flow

import (
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// A Leaf is where following a value came to an end.
type Leaf struct {
	Value  ssa.Value // a constant, parameter, call, function, allocation, global, …; nil if the search was given up
	Result int       // which result, if Value is a call
	Path   Path      // the part of Value that was asked for
	Frame  *Frame    // what is known where Value stands
	Via    []types.Object

	// Content reports that the leaf is what is in the variable that Value is
	// the address of: nothing in the package is stored there.
	Content bool
}

// Field returns the first field of the leaf's path, and the path from there.
func (l Leaf) Field() (*types.Var, Path) {
	if l.Path == "" {
		return nil, ""
	}
	name, rest := l.Path.cut()
	if f := Field((Leaf{Value: l.Value, Result: l.Result}).Type(), name); f != nil {
		return f.Origin(), rest
	}
	return nil, ""
}

// Type returns the type of what the leaf stands for, or nil if that is not
// known.
func (l Leaf) Type() types.Type {
	if l.Value == nil {
		return nil
	}
	t := l.Value.Type()
	if tuple, ok := t.(*types.Tuple); ok {
		if l.Result >= tuple.Len() {
			return nil
		}
		t = tuple.At(l.Result).Type()
	}
	if ptr, ok := t.Underlying().(*types.Pointer); ok && l.Content {
		t = ptr.Elem()
	}
	return TypeAt(t, l.Path)
}

// Param returns the parameter that the leaf is, or is a part of, if no call
// tells what it is.
func (l Leaf) Param() *ssa.Parameter {
	p, _ := l.Value.(*ssa.Parameter)
	return p
}

// In returns the value that stands for the leaf in fn, where the question was
// asked: a value made in a callee is that call's.
func (l Leaf) In(fn *ssa.Function) ssa.Value {
	v, frame := l.Value, l.Frame
	for v != nil && v.Parent() != fn && frame != nil {
		call := frame.Call.Value()
		if call == nil {
			return nil
		}
		v, frame = call, frame.Outer
	}
	return v
}
