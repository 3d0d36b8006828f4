package sqltext

// clause is a part of a query level which is read in one way.
type clause uint8

const (
	clauseRest  clause = iota // expressions of no further interest
	clauseItems               // select list, RETURNING
	clauseFrom
	clauseCond // WHERE, HAVING
	clauseValues
	clauseInto
)

// clauses reads the clauses of a level. The first one begins at lo, without a keyword.
func (r *reader) clauses(l *level, now clause, lo, hi int) {
	for i := lo; i < hi; i++ {
		if r.toks[i].match > i {
			i = r.toks[i].match
			continue
		}
		if next, ok := r.clauseAt(l, now, i); ok {
			r.clause(l, now, lo, i)
			now, lo = next, i+1
		}
	}
	r.clause(l, now, lo, hi)
}

func (r *reader) clause(l *level, c clause, lo, hi int) {
	if lo >= hi {
		return
	}
	switch c {
	case clauseItems:
		for i, s := range r.split(lo, hi) {
			r.item(l, i, s[0], s[1])
		}
	case clauseValues:
		rows := 0
		for i := lo; i < hi; i++ {
			if r.is(i, "(") {
				rows++
				end := min(r.toks[i].match, hi)
				for n, s := range r.split(i+1, end) {
					r.item(l, n, s[0], s[1])
				}
				i = end
			}
		}
		l.query.From = rows > 1
	case clauseFrom:
		r.from(l, lo, hi)
	case clauseCond:
		r.condition(l, Where, lo, hi)
	case clauseInto:
		if r.toks[lo].kind == param || r.body {
			l.assigns = true
		} else {
			r.st.Writes = true // SELECT … INTO makes a table
		}
	default:
		r.scan(lo, hi, scope{level: l})
	}
}

// clauseAt reports whether token i begins another clause of the level, and notes what the clause says about the level.
func (r *reader) clauseAt(l *level, now clause, i int) (clause, bool) {
	before := r.key(i - 1)
	if before == kAs {
		return 0, false // an alias
	}
	switch key := r.toks[i].key; key {
	case kFrom:
		if before == kDistinct && (r.key(i-2) == kIs || r.key(i-2) == kNot) {
			return 0, false
		}
		if now == clauseFrom && r.isWord(i-1, "rows") { // ROWS FROM (…)
			return 0, false
		}
		return clauseFrom, true
	case kWhere, kHaving:
		return clauseCond, true
	case kReturning:
		return clauseItems, true
	case kGroup, kOrder:
		if r.key(i+1) != kBy {
			return 0, false
		}
		if key == kOrder {
			l.query.OrderBy, r.st.OrderBy = true, true
		}
		return clauseRest, true
	case kLimit, kFetch:
		l.query.Limit = true
		return clauseRest, true
	case kOffset, kWindow:
		return clauseRest, true
	case kFor, kLock:
		if strength := r.rowLock(i); strength != "" {
			if l.query.RowLock == "" {
				l.query.RowLock = strength
			}
			return clauseRest, true
		}
	case kInto:
		if l.verb == kSelect || l.verb == kPerform {
			return clauseInto, true
		}
	case kUsing:
		if l.verb == kDelete && (!r.is(i+1, "(") || r.groupAt(i+1)) {
			return clauseFrom, true
		}
	case kSet:
		return clauseRest, l.verb == kUpdate || l.verb == kInsert
	case kWhen:
		return clauseRest, l.verb == kMerge
	}
	return 0, false
}

// rowLock returns the strength of the row-locking clause at i, or "" if there is none: FOR XML, LOCK TABLE.
func (r *reader) rowLock(i int) string {
	if r.key(i) == kLock {
		if r.key(i+1) == kIn && r.key(i+2) == kShare {
			return "SHARE"
		}
		return ""
	}
	switch {
	case r.key(i+1) == kUpdate:
		return "UPDATE"
	case r.key(i+1) == kShare:
		return "SHARE"
	case r.key(i+1) == kNo && r.key(i+2) == kKey && r.key(i+3) == kUpdate:
		return "NO KEY UPDATE"
	case r.key(i+1) == kKey && r.key(i+2) == kShare:
		return "KEY SHARE"
	}
	return ""
}

// split returns the parts between the commas in [lo, hi), those in parentheses left alone.
func (p *parser) split(lo, hi int) [][2]int {
	var parts [][2]int
	for i := lo; i < hi; i++ {
		switch {
		case p.toks[i].match > i:
			i = p.toks[i].match
		case p.is(i, ","):
			parts = append(parts, [2]int{lo, i})
			lo = i + 1
		}
	}
	if lo < hi {
		parts = append(parts, [2]int{lo, hi})
	}
	return parts
}
