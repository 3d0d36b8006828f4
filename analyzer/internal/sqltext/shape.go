package sqltext

// maxShape bounds how many wrappings are taken off an expression. Code has few; without a bound, wrappings in wrappings
// would take quadratic time.
const maxShape = 16

// wrappers are the functions through which an answer stays an answer, if their other arguments are constants.
var wrappers = set("any_value array_agg bool_and bool_or cast coalesce count every ifnull isnull max min nvl sum")

// shape finds the operand that is all of the expression in [lo, hi), seen through casts, parentheses, NOT, = true, COALESCE,
// aggregates, and CASE with constants.
func (r *reader) shape(u *unit, lo, hi int) {
	u.core = -1
	for n := 0; n < maxShape && lo < hi; n++ {
		if r.key(lo) == kNot {
			u.negated = !u.negated
			lo++
			continue
		}
		end := r.operandEnd(lo, hi)
		negated, ok := r.comparison(end, hi)
		if !ok {
			return
		}
		if negated {
			u.negated = !u.negated
		}
		hi = end
		switch {
		case r.is(lo, "("):
			if r.queryAt(lo + 1) {
				u.core = lo
				return
			}
			lo, hi = lo+1, hi-1
		case r.key(lo) == kCase:
			if lo, hi, ok = r.caseCondition(lo, hi); !ok {
				return
			}
		case r.isName(lo):
			p := r.path(lo, hi)
			if p.end >= hi {
				u.core, u.column = lo, r.name(p.last)
				return
			}
			if r.lockFunc(p) != nil {
				u.core = lo
				return
			}
			if !r.is(p.end, "(") || r.key(lo) != kIf && !wrappers[r.name(p.last)] {
				return
			}
			if lo, hi, ok = r.wrapped(p.end, hi-1); !ok {
				return
			}
		default:
			return
		}
	}
}

// operandEnd returns what follows the operand at lo.
func (p *parser) operandEnd(lo, hi int) int {
	i := lo + 1
	switch {
	case p.is(lo, "("):
		i = p.toks[lo].match + 1
	case p.key(lo) == kCase:
		i = p.caseEnd(lo, hi)
	case p.signed(lo), p.is(lo, "%"): // -1, %d
		i = lo + 2
	case p.isName(lo):
		if i = p.path(lo, hi).end; i < hi && p.is(i, "(") {
			i = p.toks[i].match + 1
		}
	}
	for i < hi && p.is(i, "[") {
		i = p.toks[i].match + 1
	}
	return min(i, hi)
}

// comparison reads casts and comparisons with a constant truth value after an operand. It fails if there is anything else.
func (r *reader) comparison(i, hi int) (negated, ok bool) {
	for i < hi {
		no := false
		switch {
		case r.is(i, "::"):
			i = r.typeEnd(i+1, hi)
			continue
		case r.key(i) == kIs:
			if i++; r.key(i) == kNot {
				no = true
				i++
			}
		case r.is(i, "="):
			i++
		case r.is(i, "<>"), r.is(i, "!="):
			no = true
			i++
		default:
			return false, false
		}
		if i >= hi {
			return false, false
		}
		switch t := &r.toks[i]; {
		case t.key == kTrue, t.kind == number && r.text(i) == "1":
		case t.key == kFalse, t.kind == number && r.text(i) == "0":
			no = !no
		default:
			return false, false
		}
		negated = negated != no
		i++
	}
	return negated, true
}

// wrapped returns the first argument of the call whose parentheses are open and end, if the others are constants.
func (r *reader) wrapped(open, end int) (lo, hi int, ok bool) {
	args := r.split(open+1, end)
	if len(args) == 0 {
		return 0, 0, false
	}
	for _, a := range args[1:] {
		if !r.constant(a[0], a[1]) {
			return 0, 0, false
		}
	}
	lo, hi = args[0][0], args[0][0]
	if r.key(lo) == kDistinct || r.key(lo) == kAll {
		lo++
	}
	for hi < args[0][1] && r.key(hi) != kAs && r.key(hi) != kOrder {
		hi = max(hi, r.toks[hi].match) + 1
	}
	return lo, min(hi, args[0][1]), true
}

// caseCondition returns the condition of CASE WHEN condition THEN constant ELSE constant END.
func (r *reader) caseCondition(lo, hi int) (int, int, bool) {
	if r.key(lo+1) != kWhen || r.key(hi-1) != kEnd {
		return 0, 0, false
	}
	then := lo + 2
	for then < hi && r.key(then) != kThen {
		if r.key(then) == kCase {
			return 0, 0, false
		}
		then = max(then, r.toks[then].match) + 1
	}
	for i := then + 1; i < hi-1; {
		end := i
		for end < hi-1 && r.key(end) != kElse {
			end++
		}
		if !r.constant(i, end) {
			return 0, 0, false
		}
		i = end + 1
	}
	return lo + 2, min(then, hi), then < hi
}

// caseEnd returns what follows the END of the CASE at lo.
func (p *parser) caseEnd(lo, hi int) int {
	depth := 0
	for i := lo; i < hi; i++ {
		switch {
		case p.toks[i].match > i:
			i = p.toks[i].match
		case p.toks[i].key == kCase:
			depth++
		case p.toks[i].key == kEnd:
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return hi
}

// constant reports whether an expression holds constants and placeholders only.
func (r *reader) constant(lo, hi int) bool {
	for i := lo; i < hi; i++ {
		switch t := &r.toks[i]; {
		case t.kind == number, t.kind == str, t.kind == param:
		case t.key == kTrue, t.key == kFalse, t.key == kNull, r.is(i, "-"), r.is(i, "+"):
		case r.is(i, "::"):
			i = r.typeEnd(i+1, hi) - 1
		default:
			return false
		}
	}
	return lo < hi
}
