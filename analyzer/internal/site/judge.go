package site

import (
	"golang.org/x/tools/go/ssa"

	"github.com/pgadvisory/pgadvisory/analyzer/internal/sqltext"
)

// Autocommitted reports whether a lock call is a transaction of its own: it
// runs where no transaction is open, in a statement that does nothing else.
func (s *Site) Autocommitted() bool {
	if !s.Alone || s.run.form == batchForm || !s.On(Pool, Single, Conn) {
		return false
	}
	st := s.Statement
	if st.Control != sqltext.NoControl || st.Writes || st.OtherCalls || st.OtherColumns {
		return false
	}
	for _, h := range s.Handles {
		if h.MayBegin {
			return false
		}
	}
	return true
}

// BegunOn reports whether all the transactions that may run the SQL were begun
// on this kind of handle.
func (s *Site) BegunOn(k Kind) bool {
	for _, h := range s.Handles {
		if h.Kind != Tx || h.Base != k {
			return false
		}
	}
	return len(s.Handles) > 0
}

// SameHandle reports whether two sites of one function, closures included, run
// their SQL on the same handle.
func SameHandle(a, b *Site) bool {
	for _, x := range a.Handles {
		for _, y := range b.Handles {
			if x.Origin.Value != nil && x.Origin.Value == y.Origin.Value && x.Origin.Path == y.Origin.Path && x.Origin.Result == y.Origin.Result {
				return true
			}
		}
	}
	return false
}

// Gates reports whether the answer of a try-lock decides on work that follows:
// where it is true, something is done for which a lock could be wanted.
func (s *Site) Gates() bool {
	w := &holder{lock: s, cells: map[ssa.Value]bool{}}
	for _, cell := range s.Answer.Cells {
		w.cells[cell] = true
	}
	for _, cell := range s.Answer.Cells {
		alloc, ok := cell.(*ssa.Alloc)
		if !ok {
			continue
		}
		for _, b := range alloc.Parent().Blocks {
			cond, ok := b.Instrs[len(b.Instrs)-1].(*ssa.If)
			if !ok || !w.dependsOnAnswer(cond.Cond, 0) {
				continue
			}
			k := w.eval(cond.Cond, &state{acquired: true}, 0)
			if s.Lock.Negated {
				k = k.not()
			}
			if k != isFalse && works(b.Succs[0]) || k != isTrue && works(b.Succs[1]) {
				return true
			}
		}
	}
	return false
}

// works reports whether a branch that nothing else leads into does something
// for which a lock could be wanted: it runs SQL, calls a function value or a
// function of the package, or hands a context on. Logging and counting do not.
func works(branch *ssa.BasicBlock) bool {
	if len(branch.Preds) != 1 {
		return false
	}
	for _, b := range branch.Parent().Blocks {
		if b != branch && !branch.Dominates(b) {
			continue
		}
		for _, instr := range b.Instrs {
			if call, ok := instr.(ssa.CallInstruction); ok && isWork(call) {
				return true
			}
		}
	}
	return false
}

func isWork(call ssa.CallInstruction) bool {
	common := call.Common()
	if common.IsInvoke() {
		switch common.Method.Name() {
		case "Error", "String", "Err", "Close", "Release", "Rollback", "Commit":
			return false
		}
		return forms[common.Method.Name()] != noForm || handsContext(common)
	}
	if _, ok := common.Value.(*ssa.Builtin); ok {
		return false
	}
	fn := common.StaticCallee()
	if fn == nil || len(fn.Blocks) > 0 {
		return true
	}
	if recv := fn.Signature.Recv(); recv != nil && typeOf(recv.Type()).role != noRole {
		switch fn.Name() {
		case "Close", "Release", "Rollback", "Commit":
			return false
		}
		return true
	}
	return handsContext(common) && !isLogging(fn)
}

func handsContext(common *ssa.CallCommon) bool {
	for _, a := range common.Args {
		if isContext(a.Type()) {
			return true
		}
	}
	return false
}

func isLogging(fn *ssa.Function) bool {
	if fn.Pkg == nil {
		return false
	}
	switch fn.Pkg.Pkg.Path() {
	case "log/slog", "log", "context":
		return true
	}
	return false
}
