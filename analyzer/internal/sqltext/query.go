package sqltext

// maxDeep bounds subqueries in subqueries; what is deeper has no calls.
const maxDeep = 64

// queryAt reports whether a query begins at token i.
func (p *parser) queryAt(i int) bool {
	switch p.key(i) {
	case kSelect, kUpdate, kDelete, kMerge:
		return true
	case kWith: // not a table's hints
		return !p.is(i+1, "(")
	case kValues, kTable, kInsert: // also functions: VALUES(col), REPLACE(…), INSERT(…)
		return p.key(i) == kValues && p.is(i+1, "(") || p.key(i) != kValues && !p.is(i+1, "(")
	}
	return false
}

// groupAt returns the query inside the parentheses at i, if they hold one and nothing else: also ((SELECT …)).
func (p *parser) groupAt(i int) bool {
	for n := 0; n < 8 && p.is(i, "("); n++ {
		if i++; p.queryAt(i) {
			return true
		}
	}
	return false
}

// query reads the query in [lo, hi), CTEs and set operations included, and returns its first level. The new level says
// what the query is to the one around it.
func (r *reader) query(lo, hi int, l level) *level {
	first := r.newLevel(l)
	if r.deep++; r.deep > maxDeep {
		r.deep--
		return first
	}
	defer func() { r.deep-- }()

	if r.key(lo) == kWith {
		lo = r.with(lo+1, hi, first)
	}
	var others []*level
	var columns []string
	for now := first; ; {
		end := lo
		for end < hi && r.toks[end].key != kSetOp {
			end = max(end, r.toks[end].match) + 1
		}
		end = min(end, hi)
		r.branch(now, lo, end)
		if end == hi {
			first.many = first.many || first.query.From
			first.tables = first.tables || first.query.Tables
			for _, o := range others {
				r.unite(first, o)
			}
			return first
		}
		lo = end + 1
		for r.key(lo) == kAll || r.key(lo) == kDistinct {
			lo++
		}
		if columns == nil {
			columns = first.names()
		}
		now = r.newLevel(l)
		now.columns = columns
		others = append(others, now)
	}
}

// unite makes the first level of a UNION speak for another one too.
func (r *reader) unite(first, other *level) {
	// ORDER BY and LIMIT stand after the last one, for all.
	first.query.OrderBy = first.query.OrderBy || other.query.OrderBy
	first.query.Limit = first.query.Limit || other.query.Limit
	first.many = true
	first.tables = first.tables || other.tables || other.query.Tables
	first.pure = first.pure && other.pure
	for i := range min(len(first.items), len(other.items)) {
		if !other.clean[other.itemName(other.items[i])] {
			delete(first.clean, first.itemName(first.items[i]))
		}
	}
}

func (r *reader) newLevel(l level) *level {
	l.query = &Query{}
	if l.parent != nil {
		l.query.Parent = l.parent.query
	}
	return &l
}

// with reads the CTEs after WITH and returns where the main query begins.
func (r *reader) with(i, hi int, around *level) int {
	if r.isWord(i, "recursive") {
		i++
	}
	for i < hi && r.isName(i) {
		l := level{parent: around, role: cte, name: r.name(i), lo: i}
		i++
		if r.is(i, "(") && !r.groupAt(i) {
			l.columns = r.nameList(i)
			i = r.toks[i].match + 1
		}
		for i < hi && !r.is(i, "(") && !r.is(i, ",") && !r.queryAt(i) {
			i++ // AS, NOT MATERIALIZED
		}
		if i >= hi || !r.is(i, "(") {
			return i
		}
		end := min(r.toks[i].match, hi)
		l.at, l.hi = i, end
		r.ctes[l.name] = nil // a recursive CTE reads itself
		r.ctes[l.name] = r.query(i+1, end, l)
		for i = end + 1; i < hi && !r.is(i, ",") && !r.queryAt(i) && !r.is(i, "("); i++ {
			// SEARCH and CYCLE clauses
		}
		if !r.is(i, ",") {
			break
		}
		i++
	}
	return i
}

// branch reads one SELECT, VALUES, INSERT, … of a query.
func (r *reader) branch(l *level, lo, hi int) {
	if lo >= hi {
		return
	}
	if r.is(lo, "(") {
		end := min(r.toks[lo].match, hi)
		*l = *r.query(lo+1, end, *l)
		r.clauses(l, clauseRest, end+1, hi)
		return
	}
	l.verb, l.verbAt = r.toks[lo].key, lo
	switch l.verb {
	case kInsert, kUpdate, kDelete, kMerge:
		l.writes, r.st.Writes = true, true
	}
	switch l.verb {
	case kSelect, kPerform:
		r.clauses(l, clauseItems, r.selectList(l, lo+1, hi), hi)
	case kValues:
		r.clauses(l, clauseValues, lo+1, hi)
	case kTable, kUpdate, kMerge:
		r.clauses(l, clauseFrom, lo+1, hi)
	case kInsert:
		r.insert(l, lo+1, hi)
	default:
		r.clauses(l, clauseRest, lo+1, hi)
	}
	r.judgeColumns(l)
	l.pure = l.pure && l.verb != kTable
}

// selectList returns where the select list begins after SELECT: behind DISTINCT ON (…), ALL, TOP (n).
func (r *reader) selectList(l *level, i, hi int) int {
	for i < hi {
		switch {
		case r.key(i) == kAll:
			i++
		case r.key(i) == kDistinct:
			if i++; r.key(i) == kOn && r.is(i+1, "(") {
				end := min(r.toks[i+1].match, hi)
				r.scan(i+2, end, scope{level: l})
				i = end + 1
			}
		case r.key(i) == kTop && (r.is(i+1, "(") || i+1 < hi && (r.toks[i+1].kind == number || r.toks[i+1].kind == param)):
			l.query.Limit = true
			i = max(i+1, r.toks[i+1].match) + 1
			if r.isWord(i, "percent") {
				i++
			}
		default:
			return i
		}
	}
	return i
}

// insert reads what follows INSERT. Its source is a query of its own.
func (r *reader) insert(l *level, lo, hi int) {
	i := lo
	for i < hi && !r.queryAt(i) && !r.groupAt(i) {
		i = max(i, r.toks[i].match) + 1
	}
	if i >= hi {
		r.clauses(l, clauseRest, lo, hi)
		return
	}
	end := i
	for end < hi && r.toks[end].key != kReturning && !(r.toks[end].key == kOn && r.key(end+1) == kConflict) {
		end = max(end, r.toks[end].match) + 1
	}
	end = min(end, hi)
	r.query(i, end, level{parent: l, lo: i, hi: end})
	r.clauses(l, clauseRest, end, hi)
}
