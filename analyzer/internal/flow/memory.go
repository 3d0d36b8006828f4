package flow

import (
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// load follows a part of what an address points to: to whatever is stored
// there, in any order.
func (t *tracer) load(addr ssa.Value, path Path, frame *Frame, via []types.Object) {
	if !t.enter(addr, path, frame, true) {
		return
	}
	switch a := addr.(type) {
	case *ssa.Alloc:
		if !t.stored(a, path, frame, via) {
			t.content(a, path, frame, via)
		}
	case *ssa.FieldAddr:
		if f := fieldOf(a.X.Type(), a.Field); f != nil {
			t.value(a.X, path.Under(f.Name()), frame, with(via, f))
		}
	case *ssa.IndexAddr:
		t.value(a.X, path.Under(Element), frame, via)
	case *ssa.Global:
		t.global(a, path, via)
	case *ssa.FreeVar:
		t.bound(a, func(b ssa.Value) { t.load(b, path, frame, via) })
	case *ssa.Phi:
		for _, e := range a.Edges {
			t.load(e, path, frame, via)
		}
	case *ssa.Parameter:
		if f := frame.of(a.Parent()); f != nil {
			if i := paramIndex(a); i >= 0 {
				t.load(f.Args[i], path, f.Outer, via)
				return
			}
		}
		t.leaf(a, 0, path, frame, via)
	case *ssa.MakeMap, *ssa.MakeSlice:
		if !t.stored(a, path, frame, via) {
			t.leaf(a, 0, path, frame, via)
		}
	case *ssa.UnOp:
		// A pointer that was itself loaded: what it points to is a part of
		// what its own address leads to.
		if a.Op == token.MUL && path != "" {
			t.load(a.X, path, frame, via)
			return
		}
		t.pointees(a, path, frame, via)
	default:
		t.pointees(addr, path, frame, via)
	}
}

// content adds a leaf for what is in a variable that nothing is stored in.
func (t *tracer) content(addr ssa.Value, path Path, frame *Frame, via []types.Object) {
	n := len(t.out)
	t.leaf(addr, 0, path, frame, via)
	if len(t.out) > n {
		t.out[n].Content = true
	}
}

// pointees follows a computed pointer to the variables it may point to.
func (t *tracer) pointees(ptr ssa.Value, path Path, frame *Frame, via []types.Object) {
	if path != "" {
		t.value(ptr, path, frame, via)
		return
	}
	for _, l := range t.Trace(ptr, "", frame) {
		switch l.Value.(type) {
		case *ssa.Alloc, *ssa.Global, *ssa.FieldAddr, *ssa.IndexAddr:
			t.load(l.Value, path, l.Frame, via)
		default:
			t.leaf(ptr, 0, path, frame, via)
		}
	}
}

// stored follows what is stored through an address or one of its copies in
// closures. It reports whether there was anything.
func (t *tracer) stored(addr ssa.Value, path Path, frame *Frame, via []types.Object) bool {
	found := false
	for _, r := range referrers(addr) {
		found = t.storedBy(r, addr, path, frame, via) || found
	}
	return found
}

func (t *tracer) storedBy(r ssa.Instruction, addr ssa.Value, path Path, frame *Frame, via []types.Object) bool {
	switch r := r.(type) {
	case *ssa.Store:
		if r.Addr == addr {
			t.value(r.Val, path, frame, via)
			return true
		}
	case *ssa.FieldAddr:
		if path == "" || r.X != addr {
			return false
		}
		field, rest := path.cut()
		if f := fieldOf(r.X.Type(), r.Field); f != nil && f.Name() == field {
			return t.stored(r, rest, frame, with(via, f))
		}
	case *ssa.IndexAddr:
		if field, rest := path.cut(); field == Element && r.X == addr {
			return t.stored(r, rest, frame, via)
		}
	case *ssa.Slice:
		if field, _ := path.cut(); field == Element && r.X == addr {
			return t.stored(r, path, frame, via)
		}
	case *ssa.MapUpdate:
		if field, rest := path.cut(); field == Element && r.Map == addr {
			t.value(r.Value, rest, frame, via)
			return true
		}
	case *ssa.MakeClosure:
		found := false
		fn, _ := r.Fn.(*ssa.Function)
		for i, b := range r.Bindings {
			if b == addr && fn != nil && i < len(fn.FreeVars) {
				found = t.stored(fn.FreeVars[i], path, frame, via) || found
			}
		}
		return found
	}
	return false
}

// global follows what the package stores in a package-level variable.
func (t *tracer) global(g *ssa.Global, path Path, via []types.Object) {
	if g.Object() != nil {
		via = with(via, g.Object())
	}
	found := false
	for _, r := range t.globals[g] {
		found = t.storedBy(r, g, path, nil, via) || found
	}
	if !found {
		t.content(g, path, nil, via)
	}
}

// FieldStores follows what the package stores in a struct field, whichever
// value the struct is. It reports false if nothing is. What tests store in the
// fields of other code does not count: it says nothing of how that code is
// used.
func (p *Program) FieldStores(field *types.Var, path Path) ([]Leaf, bool) {
	t := p.tracer()
	defer t.done()
	found := false
	for _, s := range p.fields[field.Origin()] {
		if p.InTest(s.Parent().Pos()) && !p.InTest(field.Pos()) {
			continue
		}
		found = true
		t.value(s.Val, path, nil, []types.Object{field})
	}
	return t.out, found
}

// InTest reports whether a position is in a test file.
func (p *Program) InTest(pos token.Pos) bool {
	return pos.IsValid() && strings.HasSuffix(p.Pkg.Prog.Fset.Position(pos).Filename, "_test.go")
}
