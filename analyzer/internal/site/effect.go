package site

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/pgadvisory/pgadvisory/analyzer/internal/flow"
	"github.com/pgadvisory/pgadvisory/analyzer/internal/sqltext"
)

// effect is what a call, or the body of a closure, may do to the connection.
type effect uint8

const (
	takesIt    effect = 1 << iota // the lock in question
	freesIt                       // or destroys the session
	closesIt                      // gives the connection back
	closesLast                    // if it frees and closes: it frees first
)

// effectOf tells what an instruction does to the connection. now is false for
// a call that is deferred: then it tells what the call will do.
func (w *holder) effectOf(call ssa.CallInstruction) effect {
	e := w.direct(call)
	common := call.Common()
	closures := w.nested(common.Value)
	for _, fn := range closures {
		e |= w.body(fn)
	}
	if len(closures) > 1 && e&freesIt != 0 && e&closesIt != 0 {
		e |= closesLast // one after the other, in an order that is not known
	}
	if w.carry[common.Value] && !common.IsInvoke() {
		e |= freesIt // a function that somebody made of the connection
	}
	for _, a := range common.Args {
		nested := w.nested(a)
		for _, fn := range nested {
			// Most callees call what they are given. Those that keep it for later
			// free the lock later, which is out of sight.
			e |= w.body(fn) &^ (closesIt | closesLast)
		}
		if len(nested) == 0 && w.freesValue(a) {
			e |= freesIt
		}
	}
	if e&freesIt == 0 && w.escapes(call) {
		e |= freesIt
	}
	return e
}

// direct tells what a call does itself, or through helpers.
func (w *holder) direct(call ssa.CallInstruction) effect {
	var e effect
	for _, s := range w.byInstr[call] {
		is, may := w.on(s.Handles)
		switch {
		case s.Unsent:
			w.unsent = w.unsent || is && s.Is(sqltext.Unlock, sqltext.UnlockAll)
		case is && w.freesAnother(s):
		case s.Is(sqltext.Unlock, sqltext.UnlockAll) && (is || may):
			e |= freesIt
		case s.Instr == w.lock.Instr && s.Is(sqltext.Lock, sqltext.TryLock) && is:
			e |= takesIt
		}
	}
	for _, o := range w.ops[call] {
		is, may := w.on(o.handles)
		switch o.kind {
		case destroy, mayDestroy:
			if is || may {
				e |= freesIt
			}
		case mayFree:
			if is {
				e |= freesIt
			}
		case giveBack:
			if is {
				if e&freesIt != 0 {
					e |= closesLast
				}
				e |= closesIt
			}
		}
	}
	if len(w.byInstr[call]) == 0 && w.handsUnlock(call) {
		e |= freesIt
	}
	return e
}

// handsUnlock reports whether the text of an unlock goes to a call of which
// nothing is known.
func (w *holder) handsUnlock(call ssa.CallInstruction) bool {
	for _, a := range call.Common().Args {
		if !flow.IsString(a.Type()) {
			continue
		}
		for _, t := range w.prog.Texts(a, nil) {
			for _, st := range w.parse(t.S, false) {
				for i := range st.Calls {
					if op := st.Calls[i].Func.Op; op == sqltext.Unlock || op == sqltext.UnlockAll {
						return true
					}
				}
			}
		}
	}
	return false
}

// nested returns the closures within the function that a value may be.
func (w *holder) nested(v ssa.Value) []*ssa.Function {
	if _, ok := v.Type().Underlying().(*types.Signature); !ok {
		return nil
	}
	var out []*ssa.Function
	for _, l := range w.prog.Trace(v, "", nil) {
		if fn := w.prog.Written(l.Value); fn != nil && fn.Parent() != nil && lexically(fn, w.fn) && fn != w.fn {
			out = append(out, fn)
		}
	}
	return out
}

// freesValue reports whether a function value, such as a method bound to its
// receiver, frees some lock.
func (w *holder) freesValue(v ssa.Value) bool {
	if _, ok := v.Type().Underlying().(*types.Signature); !ok {
		return false
	}
	for _, l := range w.prog.Trace(v, "", nil) {
		if fn := w.prog.Written(l.Value); fn != nil && w.freesAny(fn) {
			return true
		}
	}
	return false
}

// freesAny reports whether a function, or one that it calls, frees any lock.
func (f *finder) freesAny(fn *ssa.Function) bool {
	if free, ok := f.freers[fn]; ok {
		return free
	}
	free := false
	seen := map[*ssa.Function]bool{fn: true}
	for todo := []*ssa.Function{fn}; len(todo) > 0 && !free; todo = todo[1:] {
		for _, b := range todo[0].Blocks {
			for _, instr := range b.Instrs {
				call, ok := instr.(ssa.CallInstruction)
				if !ok {
					continue
				}
				free = free || !dynamicCall(call) && f.freesAt(call) // what callbacks do is their own
				if callee := f.prog.Resolve(call, nil).Fn; callee != nil && !seen[callee] {
					seen[callee] = true
					todo = append(todo, callee)
				}
			}
		}
	}
	f.freers[fn] = free
	return free
}

// freesAt reports whether a call frees any lock, or ends a session.
func (f *finder) freesAt(call ssa.CallInstruction) bool {
	for _, s := range f.byInstr[call] {
		if s.Is(sqltext.Unlock, sqltext.UnlockAll) {
			return true
		}
	}
	for _, o := range f.ops[call] {
		if o.kind != giveBack {
			return true
		}
	}
	return false
}

// body tells what the body of a closure may do.
func (w *holder) body(fn *ssa.Function) effect {
	if e, ok := w.closure[fn]; ok {
		return e
	}
	w.closure[fn] = 0 // for closures that call themselves
	var e effect
	var frees, closes ssa.CallInstruction
	for _, b := range fn.Blocks {
		for _, instr := range b.Instrs {
			call, ok := instr.(ssa.CallInstruction)
			if !ok {
				continue
			}
			got := w.effectOf(call)
			if got&freesIt != 0 && frees == nil {
				frees = call
			}
			if got&closesIt != 0 && closes == nil {
				closes = call
			}
			e |= got
		}
	}
	if frees != nil && closes != nil && !precedes(closes, frees) {
		e |= closesLast
	}
	w.closure[fn] = e
	return e
}

// precedes reports whether a runs before b on every way to b. A deferred call
// runs at the end, the last one first.
func precedes(a, b ssa.CallInstruction) bool {
	_, aDeferred := a.(*ssa.Defer)
	_, bDeferred := b.(*ssa.Defer)
	switch {
	case aDeferred && bDeferred:
		return before(b, a)
	case aDeferred:
		return false
	case bDeferred:
		return true
	}
	return before(a, b)
}

func before(a, b ssa.Instruction) bool {
	if a.Block() != b.Block() {
		return a.Block().Dominates(b.Block())
	}
	for _, instr := range a.Block().Instrs {
		if instr == a {
			return true
		}
		if instr == b {
			return false
		}
	}
	return false
}
