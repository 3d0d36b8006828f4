package sqltext

// item reads an item of a select list.
func (r *reader) item(l *level, index, lo, hi int) {
	u := &unit{index: index, core: -1}
	if n := len(l.items); n > 0 && index > 0 {
		before := l.items[n-1]
		u.blur = before.blur || before.star || before.open
	}
	if lo >= hi {
		l.addItem(u)
		return
	}
	end := hi
	switch {
	case hi-lo > 2 && r.key(hi-2) == kAs:
		u.name, end = r.name(hi-1), hi-2
	case hi-lo > 1 && r.isName(hi-1) && r.endsOperand(lo, hi-2):
		u.name, end = r.name(hi-1), hi-1
	}
	u.star = r.is(end-1, "*") && (end-1 == lo || r.is(end-2, "."))
	u.open = r.toks[lo].kind == hole
	r.shape(u, lo, end)
	place := Select
	if l.query == nil {
		place = Other
	}
	r.scan(lo, end, scope{level: l, place: place, unit: u})
	if u.name == "" {
		u.name = r.defaultName(u, lo, end)
	}
	l.addItem(u)
}

// endsOperand reports whether token i can be the last one of an expression, so that a name after it is an alias.
func (r *reader) endsOperand(lo, i int) bool {
	switch t := &r.toks[i]; t.kind {
	case punct:
		return r.is(i, ")") || r.is(i, "]")
	case word:
		return !t.key.reserved() || t.key == kEnd || t.key == kTrue || t.key == kFalse || t.key == kNull
	case hole:
		return i > lo
	}
	return true
}

// defaultName returns the name which PostgreSQL gives a column without alias.
func (r *reader) defaultName(u *unit, lo, hi int) string {
	for lo < hi && r.is(lo, "(") {
		if r.queryAt(lo + 1) {
			if len(u.subs) > 0 && len(u.subs[0].items) > 0 {
				return u.subs[0].items[0].name
			}
			return ""
		}
		lo++
	}
	if lo < hi && r.isName(lo) {
		return r.name(r.path(lo, hi).last)
	}
	return ""
}

// condition reads a condition: what decides whether there is a row.
func (r *reader) condition(l *level, place Place, lo, hi int) {
	if r.deep++; r.deep > maxDeep {
		r.deep--
		return
	}
	defer func() { r.deep-- }()

	parts, ok := r.conjuncts(lo, hi)
	if !ok {
		r.scan(lo, hi, scope{level: l, place: place, unit: &unit{core: -1}})
		return
	}
	for _, part := range parts {
		lo, hi := part[0], part[1]
		if lo >= hi {
			continue
		}
		if r.is(lo, "(") && r.toks[lo].match == hi-1 && !r.groupAt(lo) {
			r.condition(l, place, lo+1, hi-1)
			continue
		}
		u := &unit{cond: true}
		r.shape(u, lo, hi)
		r.scan(lo, hi, scope{level: l, place: place, unit: u})
		l.addCond(u)
		if col := r.equal(lo, hi); col != "" && place == Where {
			l.query.Equal = append(l.query.Equal, col)
		}
	}
}

// conjuncts splits a condition at its ANDs. It fails if there is an OR.
func (r *reader) conjuncts(lo, hi int) (parts [][2]int, ok bool) {
	between := false
	for i := lo; i < hi; i++ {
		switch t := &r.toks[i]; {
		case t.match > i:
			i = t.match
		case t.key == kCase:
			i = r.caseEnd(i, hi) - 1
		case t.key == kBetween:
			between = true
		case t.key == kOr:
			return nil, false
		case t.key == kAnd && between:
			between = false
		case t.key == kAnd:
			parts = append(parts, [2]int{lo, i})
			lo = i + 1
		}
	}
	return append(parts, [2]int{lo, hi}), true
}

// equal returns the column that [lo, hi) compares with one value: id = $1, $1 = t.id. It returns "" for anything else.
func (r *reader) equal(lo, hi int) string {
	switch {
	case r.isName(lo):
		if p := r.path(lo, hi); p.end < hi && r.is(p.end, "=") && r.value(p.end+1, hi) {
			return lower(r.name(p.last))
		}
	case hi-lo >= 3 && r.isName(lo+2) && r.is(lo+1, "=") && r.value(lo, lo+1):
		if p := r.path(lo+2, hi); p.end == hi {
			return lower(r.name(p.last))
		}
	}
	return ""
}

// value reports whether [lo, hi) is one value which the caller gives.
func (r *reader) value(lo, hi int) bool {
	if hi-lo > 1 && r.is(lo, "%") { // %d
		lo++
	} else if lo >= hi || r.toks[lo].kind == word || r.toks[lo].kind == quoted || r.toks[lo].kind == punct {
		return false
	}
	if lo++; lo < hi && r.is(lo, "::") {
		lo = r.typeEnd(lo+1, hi)
	}
	return lo == hi
}
