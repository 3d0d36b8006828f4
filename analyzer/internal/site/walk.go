package site

import (
	"go/ast"
	"go/token"

	"golang.org/x/tools/go/ssa"
)

// maxStates bounds the states of one lock in a function. A lock that needs more
// is not judged.
const maxStates = 4000

// maxWork bounds what the locks of one function may cost together, in states
// and in what each has to remember. Those after it are not judged.
const maxWork = 100_000

// walk follows every path that the function can take with the lock held. It
// reports false if there are too many.
func (w *holder) walk() bool {
	if len(w.fn.Blocks) == 0 {
		return false
	}
	w.interesting()
	type step struct {
		b *ssa.BasicBlock
		s *state
	}
	seen := map[string]bool{}
	work := []step{{w.fn.Blocks[0], &state{env: map[ssa.Value]known{}}}}
	for len(work) > 0 {
		at := work[len(work)-1]
		work = work[:len(work)-1]
		w.worked[w.fn] += at.s.cost()
		key := at.s.key(at.b)
		if seen[key] {
			continue
		}
		if len(seen) >= maxStates || w.worked[w.fn] >= maxWork {
			return false
		}
		seen[key] = true
		if !w.block(at.b, at.s) {
			continue
		}
		for i, next := range at.b.Succs {
			s := at.s.clone()
			if cond, ok := at.b.Instrs[len(at.b.Instrs)-1].(*ssa.If); ok {
				want := isTrue
				if i == 1 {
					want = isFalse
				}
				k := w.eval(cond.Cond, s, 0)
				if k != unknown && k != want {
					continue
				}
				if k == unknown && s.held && w.dependsOnAnswer(cond.Cond, 0) {
					return false // the answer is looked at in a way of its own
				}
				w.assume(cond.Cond, want, s, 0)
			}
			w.enter(at.b, next, s)
			work = append(work, step{next, s})
		}
	}
	return true
}

// enter takes over the values of the next block's phis.
func (w *holder) enter(from, next *ssa.BasicBlock, s *state) {
	edge := -1
	for i, p := range next.Preds {
		if p == from {
			edge = i
		}
	}
	values := map[ssa.Value]known{}
	for _, instr := range next.Instrs {
		phi, ok := instr.(*ssa.Phi)
		if !ok {
			break
		}
		if edge >= 0 && w.atoms[phi] {
			values[phi] = w.eval(phi.Edges[edge], s, 0)
		}
	}
	for v, k := range values {
		s.set(v, k)
	}
}

// block runs a block's instructions. It reports false if the path ends there,
// or nothing that matters can follow.
func (w *holder) block(b *ssa.BasicBlock, s *state) bool {
	for _, instr := range b.Instrs {
		if v, ok := instr.(ssa.Value); ok {
			if _, isPhi := v.(*ssa.Phi); !isPhi {
				delete(s.env, v)
			}
			if v == w.conn && s.held {
				if w.stowed {
					return false // all of them are freed later, or none
				}
				w.lose(NeverFreed, w.lock.Pos) // the loop pins the next one
				return false
			}
		}
		switch instr := instr.(type) {
		case *ssa.Store:
			if w.leaks(instr) {
				s.held = false
			}
			if w.atoms[instr.Addr] {
				s.set(instr.Addr, w.eval(instr.Val, s, 0))
			}
			if w.cells[instr.Addr] && !w.atoms[instr.Addr] {
				delete(s.env, instr.Addr)
			}
		case *ssa.Defer:
			w.push(instr, s)
		case *ssa.Go:
			if w.effect(instr)&freesIt != 0 {
				s.held = false
			}
		case *ssa.Call:
			w.call(instr, s)
		case *ssa.RunDefers:
			if ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return); ok && w.returned(ret) {
				s.held = false
			}
			w.unwind(s)
		case *ssa.Return:
			if s.held && !w.returned(instr) {
				w.lose(NeverFreed, exit(instr))
			}
			return false
		case *ssa.Panic:
			return false
		default:
			if w.leaks(instr) {
				s.held = false
			}
		}
	}
	return true
}

// exit returns where a function is left: at the end of its body, if the return
// is not written.
func exit(ret *ssa.Return) token.Pos {
	if ret.Pos().IsValid() {
		return ret.Pos()
	}
	switch syntax := ret.Parent().Syntax().(type) {
	case *ast.FuncDecl:
		return syntax.Body.Rbrace
	case *ast.FuncLit:
		return syntax.Body.Rbrace
	case *ast.RangeStmt: // over a function
		return syntax.Body.Rbrace
	}
	return token.NoPos
}

func (w *holder) push(d *ssa.Defer, s *state) {
	for _, have := range s.defers {
		if have == d {
			return
		}
	}
	s.defers = append(s.defers[:len(s.defers):len(s.defers)], d)
}

// call applies what a call does.
func (w *holder) call(call *ssa.Call, s *state) {
	e := w.effect(call)
	switch {
	case e&takesIt != 0:
		if e&freesIt == 0 { // else it takes and frees it
			*s = state{acquired: true, held: true, defers: s.defers, env: s.env}
			for c := range w.cells {
				delete(s.env, c)
			}
		}
	case e&freesIt != 0:
		if e&closesIt != 0 && e&closesLast == 0 && s.held {
			w.lose(ClosedFirst, call.Pos())
		}
		if s.held && s.closed == token.NoPos && s.risky != token.NoPos {
			w.lose(PanicSkips, s.risky)
		}
		if s.held && s.closed != token.NoPos {
			w.lose(ClosedFirst, s.closed)
		}
		s.held = false
	case e&closesIt != 0 && s.held && s.closed == token.NoPos:
		s.closed = call.Pos()
	}
	if e == 0 && s.held && s.risky == token.NoPos && mayPanic(call) && !w.deferred(s) {
		s.risky = call.Pos()
	}
	for _, v := range w.written(call) {
		delete(s.env, v)
	}
}

// effect is effectOf for a call in the function, which many paths come to.
func (w *holder) effect(call ssa.CallInstruction) effect {
	e, ok := w.effects[call]
	if !ok {
		e = w.effectOf(call)
		w.effects[call] = e
	}
	return e
}

// deferred reports whether a defer that is registered frees the lock.
func (w *holder) deferred(s *state) bool {
	for _, d := range s.defers {
		if w.effect(d)&freesIt != 0 {
			return true
		}
	}
	return false
}

// written returns the remembered variables that a call may change, since a
// closure has them.
func (w *holder) written(call *ssa.Call) []ssa.Value {
	var out []ssa.Value
	for v := range w.atoms {
		alloc, ok := v.(*ssa.Alloc)
		if !ok || w.cells[v] && call != w.lock.Instr {
			continue
		}
		for _, r := range *alloc.Referrers() {
			switch r := r.(type) {
			case *ssa.Store:
				if r.Val == v {
					out = append(out, v)
				}
			case *ssa.MakeClosure, *ssa.MakeInterface, *ssa.Call:
				out = append(out, v)
			}
		}
	}
	return out
}

// unwind runs the deferred calls, the last one first.
func (w *holder) unwind(s *state) {
	for i := len(s.defers) - 1; i >= 0; i-- {
		d := s.defers[i]
		e := w.effect(d)
		switch {
		case e&freesIt != 0:
			if e&closesIt != 0 && e&closesLast == 0 && s.held {
				w.lose(ClosedFirst, d.Pos())
			}
			if s.held && s.closed != token.NoPos {
				w.lose(ClosedFirst, s.closed)
			}
			s.held = false
		case e&closesIt != 0 && s.held && s.closed == token.NoPos:
			s.closed = d.Pos()
		}
	}
	s.defers = nil
}

// lose notes a loss; of several of one kind the first in the source is told.
func (w *holder) lose(loss Loss, at token.Pos) {
	if have, ok := w.losses[loss]; !ok || at != token.NoPos && at < have {
		w.losses[loss] = at
	}
}
