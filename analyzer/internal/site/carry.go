package site

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// carriers collects the function's values through which the connection can be
// reached, or a lock on it freed.
func (w *holder) carriers() {
	w.carry = map[ssa.Value]bool{}
	w.carryFrom(w.conn)
}

func (w *holder) carryFrom(v ssa.Value) {
	if w.carry[v] || v.Referrers() == nil {
		return
	}
	w.carry[v] = true
	for _, r := range *v.Referrers() {
		switch r := r.(type) {
		case *ssa.Extract:
			if !isError(r.Type()) {
				w.carryFrom(r)
			}
		case *ssa.Phi, *ssa.MakeInterface, *ssa.ChangeInterface, *ssa.ChangeType, *ssa.TypeAssert, *ssa.Slice, *ssa.Field:
			w.carryFrom(r.(ssa.Value))
		case *ssa.UnOp:
			if r.Op == token.MUL {
				w.carryFrom(r)
			}
		case *ssa.Store:
			if r.Val == v {
				if local := localOf(r.Addr); local != nil {
					if local != r.Addr {
						w.stowed = true
					}
					w.carryFrom(local)
				}
			}
		case *ssa.MakeClosure:
			w.carryClosure(r, v)
		case *ssa.Call:
			if w.passesOn(r, v) {
				w.carryFrom(r)
			}
		}
	}
}

// carryClosure follows a variable into a closure; the closure itself carries
// the connection only if it frees the lock.
func (w *holder) carryClosure(c *ssa.MakeClosure, v ssa.Value) {
	fn, ok := c.Fn.(*ssa.Function)
	if !ok {
		return
	}
	for i, b := range c.Bindings {
		if b == v && i < len(fn.FreeVars) {
			w.carryFrom(fn.FreeVars[i])
		}
	}
	if w.freesAny(fn) {
		w.carryFrom(c)
	}
}

// passesOn reports whether the result of a call gives access to the connection
// that is among its operands.
func (w *holder) passesOn(call *ssa.Call, v ssa.Value) bool {
	c := w.prog.Resolve(call, nil)
	if c.Method != nil && c.Recv == v && typeOf(v.Type()).role != noRole {
		_, same := sameSession(c)
		return same
	}
	if b, ok := call.Call.Value.(*ssa.Builtin); ok {
		return b.Name() == "append"
	}
	if call.Call.Value == v && !call.Call.IsInvoke() {
		return false // a closure that frees is called
	}
	tuple, ok := call.Type().(*types.Tuple)
	if !ok {
		return reaches(call.Type())
	}
	for i := range tuple.Len() {
		if reaches(tuple.At(i).Type()) {
			return true
		}
	}
	return false
}

// reaches reports whether a value of a type could hold a connection.
func reaches(t types.Type) bool {
	if isError(t) || isContext(t) {
		return false
	}
	if name, ok := nameOf(t); ok && name.path == "database/sql" && typeOf(t).role == noRole {
		return false // Row, Rows, Result
	}
	switch t.Underlying().(type) {
	case *types.Pointer, *types.Struct, *types.Interface, *types.Signature:
		return true
	}
	return false
}

// localOf returns the local variable that an address is a part of, or nil.
func localOf(addr ssa.Value) ssa.Value {
	for {
		switch a := addr.(type) {
		case *ssa.Alloc:
			return a
		case *ssa.FreeVar:
			return a
		case *ssa.FieldAddr:
			addr = a.X
		case *ssa.IndexAddr:
			addr = a.X
		default:
			return nil
		}
	}
}

// escapes reports whether a call takes the connection where nothing is known
// of what becomes of it.
func (w *holder) escapes(call ssa.CallInstruction) bool {
	common := call.Common()
	_, spawned := call.(*ssa.Go)
	for i, a := range common.Args {
		if !w.carry[a] {
			continue
		}
		if spawned {
			return true
		}
		if w.takesAway(call, i) {
			return true
		}
	}
	return spawned && w.carry[common.Value]
}

// takesAway reports whether a callee may keep argument i of a call, or end the
// session behind it.
func (w *holder) takesAway(call ssa.CallInstruction, i int) bool {
	common := call.Common()
	if common.IsInvoke() {
		return true
	}
	c := w.prog.Resolve(call, nil)
	if c.Fn != nil {
		i := i
		if len(c.Fn.Params) != len(common.Args) {
			i += len(c.Fn.Params) - len(common.Args)
		}
		return i >= 0 && i < len(c.Fn.Params) && w.keeps(c.Fn.Params[i])
	}
	if c.Method != nil {
		// In a context it is there for all that follows.
		return c.Method.Name() == "WithValue" && c.Recv == nil && c.Method.Pkg() != nil && c.Method.Pkg().Path() == "context"
	}
	if _, ok := common.Value.(*ssa.Builtin); ok {
		return false
	}
	// A function that the caller handed in does the work under the lock. One
	// that was stored somewhere may be there to unlock.
	for _, l := range w.prog.Trace(common.Value, "", nil) {
		if l.Param() == nil || l.Path != "" {
			return true
		}
	}
	return false
}

// keeps reports whether a function stores a parameter where others find it.
func (w *holder) keeps(p *ssa.Parameter) bool {
	if kept, ok := w.kept[p]; ok {
		return kept
	}
	w.kept[p] = false
	inner := &holder{finder: w.finder, fn: p.Parent(), conn: p, lock: w.lock, closure: map[*ssa.Function]effect{}}
	inner.carriers()
	for _, b := range p.Parent().Blocks {
		for _, instr := range b.Instrs {
			call, ok := instr.(ssa.CallInstruction)
			if inner.leaks(instr) || ok && inner.escapes(call) {
				w.kept[p] = true
				return true
			}
		}
	}
	return false
}

// leaks reports whether an instruction that is no call puts the connection
// where others find it. A return does not count here.
func (w *holder) leaks(instr ssa.Instruction) bool {
	switch instr := instr.(type) {
	case *ssa.Store:
		return w.carry[instr.Val] && localOf(instr.Addr) == nil
	case *ssa.Send:
		return w.carry[instr.X]
	case *ssa.MapUpdate:
		return w.carry[instr.Value] || w.carry[instr.Key]
	case *ssa.Panic:
		return w.carry[instr.X]
	case *ssa.Select:
		for _, s := range instr.States {
			if s.Send != nil && w.carry[s.Send] {
				return true
			}
		}
	}
	return false
}

// outlives reports whether the connection is put into a variable of a function
// around this one, which may free the lock after this one is over.
func (w *holder) outlives() bool {
	for _, b := range w.fn.Blocks {
		for _, instr := range b.Instrs {
			if store, ok := instr.(*ssa.Store); ok && w.carry[store.Val] {
				if _, ok := localOf(store.Addr).(*ssa.FreeVar); ok {
					return true
				}
			}
		}
	}
	return false
}

// returned reports whether a return hands the connection out.
func (w *holder) returned(ret *ssa.Return) bool {
	for _, r := range ret.Results {
		if w.carry[r] {
			return true
		}
	}
	return false
}
