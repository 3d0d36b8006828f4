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

// A known is what a path knows of a value.
type known uint8

const (
	unknown known = iota
	isTrue        // or not zero
	isFalse       // or zero
	isNil
	notNil
)

func (k known) not() known {
	switch k {
	case isTrue:
		return isFalse
	case isFalse:
		return isTrue
	}
	return unknown
}

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

func isBool(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsBoolean != 0
}

// interesting collects the values that a path must remember: what several
// branches look at, and variables that are set to constants.
func (w *holder) interesting() {
	w.atoms = map[ssa.Value]bool{}
	asked := map[ssa.Value]int{}
	for _, b := range w.fn.Blocks {
		if cond, ok := b.Instrs[len(b.Instrs)-1].(*ssa.If); ok {
			w.ask(cond.Cond, asked, 0)
		}
	}
	for v, n := range asked {
		if n > 1 || isFlag(v) {
			w.atoms[v] = true
		}
	}
}

func (w *holder) ask(v ssa.Value, asked map[ssa.Value]int, depth int) {
	if depth > 6 {
		return
	}
	asked[v]++
	switch v := v.(type) {
	case *ssa.UnOp:
		w.ask(v.X, asked, depth+1)
	case *ssa.BinOp:
		w.ask(v.X, asked, depth+1)
		w.ask(v.Y, asked, depth+1)
	case *ssa.Phi:
		if asked[v] == 1 {
			for _, e := range v.Edges {
				w.ask(e, asked, depth+1)
			}
		}
	}
}

// isFlag reports whether a variable is set to constants.
func isFlag(v ssa.Value) bool {
	switch v := v.(type) {
	case *ssa.Phi:
		for _, e := range v.Edges {
			if _, ok := e.(*ssa.Const); ok {
				return true
			}
			if _, ok := e.(*ssa.Phi); ok {
				return true
			}
		}
		return isError(v.Type())
	case *ssa.Alloc:
		return true
	}
	return false
}

// eval tells what a path knows of a value.
func (w *holder) eval(v ssa.Value, s *state, depth int) known {
	if depth > 8 {
		return unknown
	}
	if s.acquired && w.errs[v] {
		return isNil
	}
	if s.acquired && w.trues[v] {
		return isTrue
	}
	if k := s.env[v]; k != unknown {
		return k
	}
	switch v := v.(type) {
	case *ssa.Const:
		return constKnown(v)
	case *ssa.UnOp:
		switch v.Op {
		case token.NOT:
			return w.eval(v.X, s, depth+1).not()
		case token.MUL:
			return w.evalLoad(v.X, s)
		}
	case *ssa.BinOp:
		return w.evalBinary(v, s, depth)
	case *ssa.MakeInterface:
		return notNil
	case *ssa.ChangeInterface:
		return w.eval(v.X, s, depth+1)
	case *ssa.Call:
		return w.evalCall(v, s, depth)
	case *ssa.MakeClosure, *ssa.Alloc, *ssa.Function:
		return notNil
	}
	return unknown
}

func constKnown(c *ssa.Const) known {
	if c.Value == nil {
		if c.IsNil() {
			return isNil
		}
		return unknown
	}
	switch c.Value.Kind() {
	case constant.Bool:
		if constant.BoolVal(c.Value) {
			return isTrue
		}
		return isFalse
	case constant.Int:
		if constant.Sign(c.Value) == 0 {
			return isFalse
		}
		if n, ok := constant.Int64Val(c.Value); ok && n == 1 {
			return isTrue
		}
	}
	return unknown
}

// evalLoad tells what a path knows of a variable's value.
func (w *holder) evalLoad(addr ssa.Value, s *state) known {
	if k := s.env[addr]; k != unknown {
		return k
	}
	if s.acquired && w.holdsAnswer(addr) {
		if t := pointee(addr); t != nil && isBool(t) || w.granted() == nil {
			return isTrue
		}
	}
	return unknown
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

func (w *holder) evalBinary(v *ssa.BinOp, s *state, depth int) known {
	switch v.Op {
	case token.EQL, token.NEQ, token.LSS, token.GTR, token.LEQ, token.GEQ:
		if s.acquired {
			if k := w.evalAnswer(v); k != unknown {
				return k
			}
		}
	}
	if v.Op != token.EQL && v.Op != token.NEQ {
		return unknown
	}
	x, y := w.eval(v.X, s, depth+1), w.eval(v.Y, s, depth+1)
	if x == unknown || y == unknown || x == notNil && y == notNil {
		return unknown
	}
	equal := isFalse
	if x == y {
		equal = isTrue
	}
	if v.Op == token.NEQ {
		return equal.not()
	}
	return equal
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

// evalCall knows errors.Is and errors.As, which answer false for nil, and the
// constructors of errors.
func (w *holder) evalCall(v *ssa.Call, s *state, depth int) known {
	fn := v.Call.StaticCallee()
	if fn == nil || fn.Pkg == nil {
		return unknown
	}
	switch fn.Pkg.Pkg.Path() + "." + fn.Name() {
	case "errors.Is", "errors.As":
		if len(v.Call.Args) == 2 && w.eval(v.Call.Args[0], s, depth+1) == isNil {
			return isFalse
		}
	case "errors.New", "fmt.Errorf":
		return notNil
	}
	return unknown
}

// assume notes what a branch tells.
func (w *holder) assume(v ssa.Value, k known, s *state, depth int) {
	if k == unknown || depth > 6 {
		return
	}
	if w.atoms[v] {
		s.set(v, k)
	}
	switch v := v.(type) {
	case *ssa.UnOp:
		switch v.Op {
		case token.NOT:
			w.assume(v.X, k.not(), s, depth+1)
		case token.MUL:
			if w.atoms[v.X] {
				s.set(v.X, k)
			}
		}
	case *ssa.BinOp:
		if v.Op != token.EQL && v.Op != token.NEQ {
			return
		}
		same := k == isTrue
		if v.Op == token.NEQ {
			same = !same
		}
		w.assumeEqual(v.X, w.eval(v.Y, s, depth), same, s, depth)
		w.assumeEqual(v.Y, w.eval(v.X, s, depth), same, s, depth)
	}
}

func (w *holder) assumeEqual(v ssa.Value, other known, same bool, s *state, depth int) {
	switch {
	case other == isNil && same:
		w.assume(v, isNil, s, depth+1)
	case other == isNil:
		w.assume(v, notNil, s, depth+1)
	case other == isTrue && same, other == isFalse && !same && isBool(v.Type()):
		w.assume(v, isTrue, s, depth+1)
	case other == isFalse && same, other == isTrue && !same && isBool(v.Type()):
		w.assume(v, isFalse, s, depth+1)
	}
}
