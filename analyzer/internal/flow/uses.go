package flow

import (
	"go/token"

	"golang.org/x/tools/go/ssa"
)

// Uses calls f with each instruction that does something with v: not those
// that only give it another name or another type, or put it into a variable of
// the function.
func Uses(v ssa.Value, f func(use ssa.Instruction, as ssa.Value)) {
	u := &uses{seen: map[ssa.Value]bool{}, f: f}
	u.value(v)
}

type uses struct {
	seen map[ssa.Value]bool
	f    func(ssa.Instruction, ssa.Value)
}

func (u *uses) value(v ssa.Value) {
	if v == nil || u.seen[v] {
		return
	}
	u.seen[v] = true
	for _, r := range referrers(v) {
		switch r := r.(type) {
		case *ssa.DebugRef:
		case *ssa.Phi:
			u.value(r)
		case *ssa.ChangeType:
			u.value(r)
		case *ssa.ChangeInterface:
			u.value(r)
		case *ssa.MakeInterface:
			u.value(r)
		case *ssa.Store:
			if local, ok := r.Addr.(*ssa.Alloc); ok && r.Val == v {
				u.loads(local)
				continue
			}
			u.f(r, v)
		default:
			u.f(r, v)
		}
	}
}

// loads follows a variable to where it is read.
func (u *uses) loads(addr ssa.Value) {
	if u.seen[addr] {
		return
	}
	u.seen[addr] = true
	for _, r := range referrers(addr) {
		switch r := r.(type) {
		case *ssa.UnOp:
			if r.Op == token.MUL {
				u.value(r)
			}
		case *ssa.MakeClosure:
			fn, _ := r.Fn.(*ssa.Function)
			for i, b := range r.Bindings {
				if b == addr && fn != nil && i < len(fn.FreeVars) {
					u.loads(fn.FreeVars[i])
				}
			}
		case *ssa.Store, *ssa.DebugRef:
		default:
			u.f(r, addr)
		}
	}
}

// Read reports whether anything looks at the variable with this address,
// besides the calls in except, which fill it. An address that is not a local
// variable's is taken for read.
func Read(addr ssa.Value, except map[ssa.Instruction]bool) bool {
	addr = Variable(addr)
	if _, ok := addr.(*ssa.Alloc); !ok {
		return true
	}
	return readAt(addr, except)
}

// Variable returns the local variable that an address is, in the function that
// declares it: closures know it by a free variable.
func Variable(addr ssa.Value) ssa.Value {
	for {
		free, ok := addr.(*ssa.FreeVar)
		if !ok {
			return addr
		}
		bound := binding(free)
		if bound == nil {
			return addr
		}
		addr = bound
	}
}

// binding returns what a free variable is bound to, if that is one value.
func binding(free *ssa.FreeVar) ssa.Value {
	fn := free.Parent()
	var bound ssa.Value
	for i, fv := range fn.FreeVars {
		if fv != free {
			continue
		}
		for _, r := range referrers(fn) {
			c, ok := r.(*ssa.MakeClosure)
			if !ok || c.Fn != fn || i >= len(c.Bindings) {
				continue
			}
			if bound != nil && bound != c.Bindings[i] {
				return nil
			}
			bound = c.Bindings[i]
		}
	}
	return bound
}

func readAt(addr ssa.Value, except map[ssa.Instruction]bool) bool {
	for _, r := range referrers(addr) {
		switch r := r.(type) {
		case *ssa.DebugRef:
		case *ssa.UnOp:
			if len(referrers(r)) > 0 {
				return true
			}
		case *ssa.Store:
			if r.Val == addr {
				// Its address goes into the arguments of a call that fills it,
				// or anywhere.
				if !argumentOnly(r.Addr, except) {
					return true
				}
			}
		case *ssa.MakeInterface:
			if readAt(r, except) {
				return true
			}
		case *ssa.ChangeType:
			if readAt(r, except) {
				return true
			}
		case *ssa.FieldAddr:
			if readAt(r, except) {
				return true
			}
		case *ssa.MakeClosure:
			fn, _ := r.Fn.(*ssa.Function)
			for i, b := range r.Bindings {
				if b == addr && fn != nil && i < len(fn.FreeVars) && readAt(fn.FreeVars[i], except) {
					return true
				}
			}
		default:
			if !except[r] {
				return true
			}
		}
	}
	return false
}

// argumentOnly reports whether an address is an element of the variadic
// argument of a call in except.
func argumentOnly(addr ssa.Value, except map[ssa.Instruction]bool) bool {
	at, ok := addr.(*ssa.IndexAddr)
	if !ok {
		return false
	}
	array, ok := at.X.(*ssa.Alloc)
	if !ok {
		return false
	}
	for _, r := range referrers(array) {
		switch r := r.(type) {
		case *ssa.IndexAddr, *ssa.DebugRef:
		case *ssa.Slice:
			for _, use := range referrers(r) {
				if !except[use] {
					return false
				}
			}
		default:
			return false
		}
	}
	return true
}
