package sqltext

// ParseExpr returns the calls in a fragment, as query builders hold it: a select list, a condition, or a subquery. A
// text which is just a function's name is a call as well ([Call.NameOnly]). [Call.Place] is Other and Query is nil for
// calls outside a subquery, since only the builder knows where the fragment goes; Answer is Returned if the fragment's
// value is the answer, and Column counts the fragment's own columns.
func ParseExpr(text string) []Call {
	p := newParser(text, 0, 0)
	if len(p.toks) == 0 {
		return nil
	}
	if p.queryAt(0) {
		return p.statement(0, len(p.toks)).Calls
	}
	r := p.reader()
	r.st.Open = p.opens(0, len(p.toks))
	if p.isName(0) {
		if pa := p.path(0, len(p.toks)); pa.end == len(p.toks) {
			if f := p.lockFunc(pa); f != nil {
				c := r.add(f, pa, pa.end, pa.end, scope{})
				c.call.NameOnly, c.call.Answer = true, Returned
				c.call.settle()
				return []Call{c.call}
			}
			return nil
		}
	}
	l := &level{role: main}
	for i, s := range r.split(0, len(p.toks)) {
		r.item(l, i, s[0], s[1])
	}
	return r.answers()
}
