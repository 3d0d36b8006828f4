package site

import (
	"go/constant"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/pgadvisory/pgadvisory/analyzer/internal/flow"
	"github.com/pgadvisory/pgadvisory/analyzer/internal/sqltext"
)

// answers collects what is certain once the lock is held: the errors of its
// statement are nil, and the answer is true.
func (w *holder) answers() {
	w.errs, w.cells, w.trues, w.others = map[ssa.Value]bool{}, map[ssa.Value]bool{}, map[ssa.Value]bool{}, map[ssa.Value]bool{}
	for _, s := range w.byInstr[w.lock.Instr] {
		for _, e := range s.Answer.Errs {
			w.errs[e] = true
		}
		for _, c := range s.Answer.Cells {
			w.cells[c] = true
		}
		for _, o := range s.Answer.Others {
			if _, ok := o.(*ssa.Call); ok {
				w.helperAnswers(o)
			} else {
				w.others[o] = true
			}
		}
	}
	if w.lock.Instr.Parent() != w.fn {
		// The call that runs the closure fails if the lock does.
		for _, b := range w.fn.Blocks {
			for _, instr := range b.Instrs {
				if call, ok := instr.(*ssa.Call); ok && w.effectOf(call)&takesIt != 0 {
					w.helperAnswers(call)
				}
			}
		}
	}
	v := w.lock.Instr.Value()
	if v == nil || v.Parent() != w.fn && !lexically(v.Parent(), w.fn) {
		return
	}
	for _, e := range errorsOf(v) {
		w.errs[e] = true
	}
	if w.lock.Answer.Known {
		return
	}
	// A helper: an answer that it returns is that of the lock.
	w.helperAnswers(v)
}

// helperAnswers takes the errors and booleans that a call returns for the
// lock's.
func (w *holder) helperAnswers(v ssa.Value) {
	take := func(v ssa.Value) {
		switch {
		case isBool(v.Type()):
			w.trues[v] = true
		case isError(v.Type()):
			w.errs[v] = true
		default:
			w.others[v] = true
		}
		for _, r := range *v.Referrers() {
			if store, ok := r.(*ssa.Store); ok && store.Val == v {
				switch {
				case isBool(v.Type()):
					w.cells[store.Addr] = true
				case !isError(v.Type()):
					w.others[store.Addr] = true
				}
			}
		}
	}
	take(v)
	for _, r := range *v.Referrers() {
		if x, ok := r.(*ssa.Extract); ok {
			take(x)
		}
	}
}

// holdsAnswer reports whether a variable holds the lock's answer, or is the
// field of one that does: sql.NullBool's Bool and Valid, sql.NullInt64's Int64.
func (w *holder) holdsAnswer(addr ssa.Value) bool {
	if w.cells[addr] {
		return true
	}
	f, ok := addr.(*ssa.FieldAddr)
	if !ok {
		return false
	}
	if w.cells[f.X] {
		t := pointee(f)
		return t != nil && (isBool(t) || isInteger(t) && strings.HasPrefix(fieldAt(f), "Int"))
	}
	// A field of something else: another expression for the same field.
	for c := range w.cells {
		if g, ok := c.(*ssa.FieldAddr); ok && g.Field == f.Field && types.Identical(g.X.Type(), f.X.Type()) {
			return true
		}
	}
	return false
}

func pointee(addr ssa.Value) types.Type {
	if ptr, ok := addr.Type().Underlying().(*types.Pointer); ok {
		return ptr.Elem()
	}
	return nil
}

func isInteger(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0
}

// granted returns the answers that mean that the lock is held, or nil if the
// answer is a boolean.
func (w *holder) granted() []int64 {
	switch w.lock.Lock.Func.Dialect {
	case sqltext.MySQL:
		return []int64{1}
	case sqltext.SQLServer:
		return []int64{0, 1}
	case sqltext.Oracle:
		return []int64{0, 4}
	}
	return nil
}

// evalAnswer compares the lock's answer, as a number, with a constant.
func (w *holder) evalAnswer(v *ssa.BinOp) known {
	x, y, op := v.X, v.Y, v.Op
	if _, ok := x.(*ssa.Const); ok {
		x, y = y, x
		op = mirrored[op]
	}
	n, ok := flow.ConstInt(y)
	for {
		c, isConvert := x.(*ssa.Convert)
		if !isConvert {
			break
		}
		x = c.X
	}
	load, isLoad := x.(*ssa.UnOp)
	if !ok || op == token.ILLEGAL || !isLoad || load.Op != token.MUL || !isInteger(x.Type()) || !w.holdsAnswer(load.X) {
		return unknown
	}
	values := w.granted()
	if values == nil {
		values = []int64{1}
	}
	var all known
	for i, value := range values {
		got := isFalse
		if constant.Compare(constant.MakeInt64(value), op, constant.MakeInt64(n)) {
			got = isTrue
		}
		if i > 0 && got != all {
			return unknown
		}
		all = got
	}
	return all
}

// mirrored are the comparisons with their sides exchanged.
var mirrored = map[token.Token]token.Token{
	token.EQL: token.EQL, token.NEQ: token.NEQ,
	token.LSS: token.GTR, token.GTR: token.LSS, token.LEQ: token.GEQ, token.GEQ: token.LEQ,
}

// dependsOnAnswer reports whether a condition may look at the lock's answer in
// a way that eval does not see through.
func (w *holder) dependsOnAnswer(v ssa.Value, depth int) bool {
	if v == nil || depth > 6 {
		return false
	}
	if w.cells[v] || w.trues[v] || w.others[v] || w.holdsAnswer(v) {
		return true
	}
	instr, ok := v.(ssa.Instruction)
	if !ok {
		return false
	}
	for _, op := range instr.Operands(nil) {
		if w.dependsOnAnswer(*op, depth+1) {
			return true
		}
	}
	return false
}
