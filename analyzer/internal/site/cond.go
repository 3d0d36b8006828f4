package site

import (
	"go/constant"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
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
	if x, ok := v.(*ssa.Extract); s.acquired && (v == w.conn || ok && x.Tuple == w.conn && !isError(v.Type())) {
		return notNil
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

// evalCall knows errors.Is and errors.As, which answer false for nil, and the
// constructors of errors.
func (w *holder) evalCall(v *ssa.Call, s *state, depth int) known {
	fn := v.Call.StaticCallee()
	if fn == nil {
		return unknown
	}
	name := fn.Name()
	if fn.Pkg != nil {
		name = fn.Pkg.Pkg.Path() + "." + name
	}
	switch name {
	case "errors.Is", "errors.As":
		if len(v.Call.Args) == 2 && w.eval(v.Call.Args[0], s, depth+1) == isNil {
			return isFalse
		}
		return unknown
	case "errors.New", "fmt.Errorf":
		return notNil
	}
	// What wraps an error makes none of nil.
	if isError(v.Type()) {
		for _, a := range v.Call.Args {
			if isError(a.Type()) && w.eval(a, s, depth+1) == isNil {
				return isNil
			}
		}
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
