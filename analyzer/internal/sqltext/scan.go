package sqltext

// scope says what an expression belongs to.
type scope struct {
	level *level // nil outside of queries
	place Place
	unit  *unit
	key   bool // in the arguments of a lock call, where other functions only make the key
}

// scan reads an expression, or any run of tokens, for calls, columns and subqueries.
func (r *reader) scan(lo, hi int, s scope) {
	keyEnd, orderEnd := -1, -1 // the ends of the lock call's arguments and of the ORDER BY which i is in
	for i := lo; i < hi; i++ {
		t := &r.toks[i]
		here := s
		if i < keyEnd {
			here.key, here.unit = true, nil
		}
		if i < orderEnd {
			here.unit = nil
		}
		switch {
		case t.kind == hole:
			here.unit.mix()
			r.blind = r.blind || !here.key && !r.valueHole(i)
		case r.is(i, "("):
			if r.queryAt(i + 1) {
				r.subquery(i, min(t.match, hi), here)
				i = t.match
			}
		case r.is(i, "*"):
			if u := here.unit; u != nil && (i == lo || r.is(i-1, "(") || r.is(i-1, ".")) {
				u.allColumns = true
			}
		case r.is(i, "::"), t.key == kAs:
			i = r.typeEnd(i+1, hi) - 1
		case t.key == kOrder && r.key(i+1) == kBy: // in an aggregate or a window
			r.st.OrderBy = true
			for orderEnd = i; orderEnd < hi && !r.is(orderEnd, ")"); orderEnd++ {
				orderEnd = max(orderEnd, r.toks[orderEnd].match)
			}
		case r.isName(i):
			p := r.path(i, hi)
			i = p.end - 1
			switch {
			case r.is(p.end, "(") && p.end < hi:
				if f := r.lockFunc(p); f != nil {
					r.call(f, p, here)
					keyEnd = max(keyEnd, r.toks[p.end].match)
				} else if !here.key {
					r.function(p, here)
				}
			case p.end < hi && (r.toks[p.end].kind == str || r.is(p.end, "=>")):
				// a type before its literal, the name of an argument
			default:
				r.column(p, here)
			}
		}
	}
}

// valueHole reports whether the hole at i can only be a value, from what stands before it: id = , LIMIT , IN (.
func (r *reader) valueHole(i int) bool {
	switch r.key(i - 1) {
	case kLimit, kOffset, kBetween, kIn:
		return true
	}
	return i > 0 && r.toks[i-1].kind == punct &&
		(r.is(i-1, "(") && r.key(i-2) == kIn || !r.is(i-1, "(") && !r.is(i-1, ",") && !r.is(i-1, ".") && !r.is(i-1, ")") && !r.is(i-1, "]"))
}

// subquery reads the query in the parentheses at i.
func (r *reader) subquery(i, end int, s scope) {
	l := level{parent: s.level, role: scalar, unit: s.unit, at: i, lo: i, hi: end + 1}
	if t := r.key(i - 1); t == noise || t == kIn || t == kAll || s.unit == nil {
		l.role = opaque // EXISTS (…), ANY (…), IN (…)
	}
	sub := r.query(i+1, end, l)
	if s.unit != nil {
		s.unit.subs = append(s.unit.subs, sub)
	}
}

// column notes a column's name.
func (r *reader) column(p path, s scope) {
	if r.is(p.end, ".") { // t.*
		return
	}
	name := r.name(p.last)
	r.mentions[name] = append(r.mentions[name], p.last)
	if s.unit != nil && !constants[name] {
		s.unit.names = append(s.unit.names, name)
	}
}

// function notes a call of a function which takes no lock.
func (r *reader) function(p path, s scope) {
	if r.name(p.last) == "set_config" {
		r.setConfig(p.end)
		return
	}
	if !r.harmless(p) {
		r.st.OtherCalls = true
		s.unit.mix()
	}
}

// typeEnd returns what follows the type's name at i: bigint, pg_catalog.int8, varchar(10), bigint[].
func (p *parser) typeEnd(i, hi int) int {
	if !p.isName(i) || i >= hi {
		return i
	}
	i = p.path(i, hi).end
	for i < hi && (p.is(i, "(") && !p.queryAt(i+1) || p.is(i, "[")) {
		i = p.toks[i].match + 1
	}
	return min(i, hi)
}

// mix notes that the unit holds something which is neither a column nor a constant nor a lock call.
func (u *unit) mix() {
	if u != nil {
		u.other = true
	}
}

// call notes a call of a lock function. The parentheses after its name hold the arguments.
func (r *reader) call(f *Func, p path, s scope) *found {
	return r.add(f, p, p.end+1, r.toks[p.end].match, s)
}

// maxNested bounds the arguments, in tokens, which are written out for a call inside another call's arguments. Without a
// bound, calls in calls in calls would take quadratic time.
const maxNested = 64

// add notes a call whose arguments are [lo, hi).
func (r *reader) add(f *Func, p path, lo, hi int, s scope) *found {
	name := &r.toks[p.last]
	c := Call{
		Func: f, Scope: f.Scope, Shared: f.Shared, Place: s.place, Column: -1,
		Pos: r.offset(name.start), End: r.offset(name.end),
	}
	if !s.key || hi-lo < maxNested {
		c.Args = r.args(f, lo, hi)
	}
	c.NameOnly = f.Dialect == SQLServer && len(c.Args) == 0
	c.settle()
	if s.level != nil {
		c.Query = s.level.query
	}
	fd := &found{call: c, level: s.level, unit: s.unit, at: p.first}
	r.calls = append(r.calls, fd)
	return fd
}
