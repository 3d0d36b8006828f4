package sqltext

// from reads a FROM list, or the group of joins in its parentheses.
func (r *reader) from(l *level, lo, hi int) {
	for i := lo; i < hi; {
		switch t := &r.toks[i]; {
		case t.key == kOn:
			end := i + 1
			for end < hi && !r.is(end, ",") && r.toks[end].key != kJoin && r.toks[end].key != kUsing {
				end = max(end, r.toks[end].match) + 1
			}
			end = min(end, hi)
			r.condition(l, On, i+1, end)
			i = end
		case t.key == kUsing && r.is(i+1, "(") && !r.groupAt(i+1):
			i = r.toks[i+1].match + 1
		case r.is(i, "("):
			i = r.group(l, i, hi)
		case r.isWord(i, "tablesample"):
			if i++; i < hi && r.isName(i) {
				i = r.path(i, hi).end
			}
			if i < hi && r.is(i, "(") {
				i = r.toks[i].match + 1
			}
		case t.kind == hole:
			l.query.From, l.query.Tables, r.blind = true, true, true
			l.sources = append(l.sources, &source{})
			i++
		case r.isName(i):
			i = r.element(l, i, hi)
		default:
			i++ // commas, JOIN, LATERAL, ROWS FROM, WITH ORDINALITY
		}
	}
}

// group reads parentheses in FROM: a derived table or a group of joins. It returns what follows them and the alias.
func (r *reader) group(l *level, i, hi int) int {
	end := min(r.toks[i].match, hi)
	alias, cols, next := r.alias(end+1, hi)
	if !r.groupAt(i) {
		if r.deep++; r.deep <= maxDeep {
			r.from(l, i+1, end)
		}
		r.deep--
		return next
	}
	sub := r.query(i+1, end, level{parent: l, role: derived, at: i, lo: i, hi: next, name: alias, columns: cols})
	l.query.From = l.query.From || sub.many
	l.query.Tables = l.query.Tables || sub.tables
	l.sources = append(l.sources, &source{alias: alias, cols: cols, level: sub})
	return next
}

// element reads a table, a CTE, or a function in FROM. It returns what follows it and its alias.
func (r *reader) element(l *level, i, hi int) int {
	p := r.path(i, hi)
	if r.isWord(i, "rows") && r.key(p.end) == kFrom && r.is(p.end+1, "(") && p.end+1 < hi {
		return r.rowsFrom(l, p.end+1, hi)
	}
	src := &source{name: r.name(p.last)}
	l.sources = append(l.sources, src)
	if !r.is(p.end, "(") || p.end >= hi {
		src.alias, src.cols, i = r.alias(p.end, hi)
		if src.alias == "" {
			src.alias = src.name
		}
		sub, isCTE := r.ctes[src.name]
		switch {
		case isCTE && p.first == p.last:
			r.consumers[src.name] = append(r.consumers[src.name], l)
			src.level = sub
			l.query.From = l.query.From || sub == nil || sub.many
			l.query.Tables = l.query.Tables || sub != nil && sub.tables
		case src.name != "dual":
			l.query.From, l.query.Tables = true, true
		}
		return i
	}

	end := min(r.toks[p.end].match, hi)
	src.alias, src.cols, i = r.alias(end+1, hi)
	if src.alias == "" {
		src.alias = src.name
	}
	if f := r.lockFunc(p); f != nil {
		src.lock = r.call(f, p, scope{level: l, place: From})
		src.lock.src, src.lock.srcEnd = src, i
		r.scan(p.end+1, end, scope{level: l, place: From, key: true})
		return i
	}
	l.query.From = true
	src.clean = r.harmless(p)
	if !src.clean {
		r.st.OtherCalls = true
	}
	r.scan(p.end+1, end, scope{level: l, place: From})
	return i
}

// rowsFrom reads ROWS FROM (f(), g()) AS alias (columns), which lays the functions' rows side by side.
func (r *reader) rowsFrom(l *level, open, hi int) int {
	before, end := len(l.sources), min(r.toks[open].match, hi)
	r.from(l, open+1, end)
	alias, cols, next := r.alias(end+1, hi)
	for i, s := range l.sources[before:] {
		s.alias = alias
		if i < len(cols) {
			s.cols = cols[i : i+1]
		}
		if s.lock != nil {
			s.lock.srcEnd = next
		}
	}
	return next
}

// alias reads [AS] name [(columns)] at i, and WITH ORDINALITY before it.
func (r *reader) alias(i, hi int) (name string, cols []string, end int) {
	if r.key(i) == kWith && r.isWord(i+1, "ordinality") {
		i += 2
	}
	at := i
	if r.key(at) == kAs {
		at++
	}
	if at < hi && r.isName(at) {
		name = r.name(at)
		at++
	}
	if at > i && at < hi && r.is(at, "(") && !r.groupAt(at) {
		cols = r.nameList(at)
		at = r.toks[at].match + 1
	}
	return name, cols, min(at, hi)
}

// nameList returns the names which the parts in parentheses begin with.
func (r *reader) nameList(open int) []string {
	var names []string
	for _, s := range r.split(open+1, r.toks[open].match) {
		name := ""
		if r.isName(s[0]) {
			name = r.name(s[0])
		}
		names = append(names, name)
	}
	return names
}
