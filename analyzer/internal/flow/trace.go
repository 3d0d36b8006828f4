package flow

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

type traceKey struct {
	v     ssa.Value
	path  Path
	frame *Frame
	load  bool
}

// maxSteps bounds one question, and those that it asks itself.
const maxSteps = 3000

type tracer struct {
	*Program
	seen  map[traceKey]bool
	leafs map[leafKey]bool
	out   []Leaf
}

type leafKey struct {
	v      ssa.Value
	result int
	path   Path
	frame  *Frame
}

// Trace follows the part of v that the path leads to back to where it came
// from. There is a leaf for every possible origin, in a fixed order.
func (p *Program) Trace(v ssa.Value, path Path, frame *Frame) []Leaf {
	if v == nil {
		return nil
	}
	key := traceKey{v: v, path: path, frame: frame}
	if frame == nil {
		if out, ok := p.traced[key]; ok {
			return out
		}
	}
	cuts := p.cuts
	t := p.tracer()
	t.value(v, path, frame, nil)
	t.done()
	if frame == nil && p.cuts == cuts {
		p.traced[key] = t.out
	}
	return t.out
}

// tracer begins a question.
func (p *Program) tracer() *tracer {
	if p.nested == 0 {
		p.steps = 0
	}
	p.nested++
	return &tracer{Program: p, seen: map[traceKey]bool{}, leafs: map[leafKey]bool{}}
}

func (t *tracer) done() { t.nested-- }

// Content follows what a pointer points to.
func (p *Program) Content(addr ssa.Value, frame *Frame) []Leaf {
	t := p.tracer()
	t.load(addr, "", frame, nil)
	t.done()
	return t.out
}

func (t *tracer) leaf(v ssa.Value, result int, path Path, frame *Frame, via []types.Object) {
	key := leafKey{v, result, path, frame}
	if !t.leafs[key] {
		t.leafs[key] = true
		t.out = append(t.out, Leaf{Value: v, Result: result, Path: path, Frame: frame, Via: via})
	}
}

// enter reports whether a step is new, and there is room for it.
func (t *tracer) enter(v ssa.Value, path Path, frame *Frame, load bool) bool {
	key := traceKey{v, path, frame, load}
	if t.seen[key] {
		return false
	}
	if t.steps >= maxSteps || path.tooLong() {
		t.cuts++
		t.leaf(nil, 0, "", nil, nil) // there is more, nobody knows what
		return false
	}
	t.seen[key] = true
	t.steps++
	return true
}

// value follows a part of a value.
func (t *tracer) value(v ssa.Value, path Path, frame *Frame, via []types.Object) {
	if !t.enter(v, path, frame, false) {
		return
	}
	switch v := v.(type) {
	case *ssa.Phi:
		for _, e := range v.Edges {
			t.value(e, path, frame, via)
		}
	case *ssa.ChangeType:
		t.value(v.X, path, frame, via)
	case *ssa.ChangeInterface:
		t.value(v.X, path, frame, via)
	case *ssa.MakeInterface:
		t.value(v.X, path, frame, via)
	case *ssa.Convert:
		t.value(v.X, path, frame, via)
	case *ssa.TypeAssert:
		t.value(v.X, path, frame, via)
	case *ssa.Slice:
		t.value(v.X, path, frame, via)
	case *ssa.SliceToArrayPointer:
		t.value(v.X, path, frame, via)
	case *ssa.Field:
		if f := fieldOf(v.X.Type(), v.Field); f != nil {
			t.value(v.X, path.Under(f.Name()), frame, with(via, f))
		}
	case *ssa.Index:
		t.value(v.X, path.Under(Element), frame, via)
	case *ssa.Lookup:
		t.value(v.X, path.Under(Element), frame, via)
	case *ssa.UnOp:
		if v.Op == token.MUL {
			t.load(v.X, path, frame, via)
		} else {
			t.leaf(v, 0, path, frame, via)
		}
	case *ssa.Extract:
		t.extract(v, path, frame, via)
	case *ssa.Call:
		t.call(v, 0, path, frame, via)
	case *ssa.Parameter:
		if f := frame.of(v.Parent()); f != nil {
			if i := paramIndex(v); i >= 0 {
				t.value(f.Args[i], path, f.Outer, via)
				return
			}
		}
		t.leaf(v, 0, path, frame, via)
	case *ssa.FreeVar:
		t.bound(v, func(b ssa.Value) { t.value(b, path, frame, via) })
	case *ssa.MakeMap, *ssa.MakeSlice, *ssa.Alloc, *ssa.Global, *ssa.FieldAddr, *ssa.IndexAddr:
		if path == "" {
			t.leaf(v, 0, path, frame, via)
		} else {
			t.load(v, path, frame, via)
		}
	default:
		t.leaf(v, 0, path, frame, via)
	}
}

// with is append that never shares.
func with(via []types.Object, obj types.Object) []types.Object {
	return append(via[:len(via):len(via)], obj)
}

func paramIndex(v *ssa.Parameter) int {
	for i, p := range v.Parent().Params {
		if p == v {
			return i
		}
	}
	return -1
}

// bound calls f with what a free variable was bound to.
func (t *tracer) bound(v *ssa.FreeVar, f func(ssa.Value)) {
	fn := v.Parent()
	for i, fv := range fn.FreeVars {
		if fv != v {
			continue
		}
		for _, r := range referrers(fn) {
			if c, ok := r.(*ssa.MakeClosure); ok && c.Fn == fn && i < len(c.Bindings) {
				f(c.Bindings[i])
			}
		}
	}
}

func (t *tracer) extract(v *ssa.Extract, path Path, frame *Frame, via []types.Object) {
	switch tuple := v.Tuple.(type) {
	case *ssa.Call:
		t.call(tuple, v.Index, path, frame, via)
	case *ssa.TypeAssert:
		if v.Index == 0 {
			t.value(tuple.X, path, frame, via)
			return
		}
		t.leaf(v, 0, path, frame, via)
	case *ssa.Lookup:
		if v.Index == 0 {
			t.value(tuple.X, path.Under(Element), frame, via)
			return
		}
		t.leaf(v, 0, path, frame, via)
	case *ssa.Next:
		if r, ok := tuple.Iter.(*ssa.Range); ok && v.Index == 2 {
			t.value(r.X, path.Under(Element), frame, via)
			return
		}
		t.leaf(v, 0, path, frame, via)
	default:
		t.leaf(v, 0, path, frame, via)
	}
}

// call follows a result of a call into the callees' return statements.
func (t *tracer) call(call *ssa.Call, result int, path Path, frame *Frame, via []types.Object) {
	if b, ok := call.Call.Value.(*ssa.Builtin); ok {
		if b.Name() == "append" && path != "" {
			for _, a := range call.Call.Args {
				t.value(a, path, frame, via)
			}
			return
		}
		t.leaf(call, result, path, frame, via)
		return
	}
	c := t.Resolve(call, frame)
	if c.Fn != nil && len(c.Fn.Blocks) > 0 {
		inner := Enter(call, c.Operands(), c.Fn, frame)
		if inner == nil {
			t.leaf(call, result, path, frame, via)
			return
		}
		for _, b := range c.Fn.Blocks {
			if ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return); ok && result < len(ret.Results) {
				t.value(ret.Results[result], path, inner, via)
			}
		}
		return
	}
	if t.Extern != nil && c.Method != nil {
		if from, known := t.Extern(c, result, path); known {
			operands := c.Operands()
			for _, ref := range from {
				if ref.Operand < len(operands) {
					t.value(operands[ref.Operand], ref.Path, frame, via)
				}
			}
			return
		}
	}
	t.leaf(call, result, path, frame, via)
}
