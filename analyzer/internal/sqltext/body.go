package sqltext

// do reads what follows DO: PostgreSQL's block in a string, or MySQL's expressions, whose results nobody sees.
func (r *reader) do(lo, hi int) {
	text, plpgsql, isBlock := -1, true, lo < hi
	for i := lo; i < hi; i++ {
		switch t := &r.toks[i]; {
		case t.key == kLanguage && i+1 < hi:
			i++
			plpgsql = r.isWord(i, "plpgsql") || lower(r.canonical(i, i+1, PostgreSQL)) == "'plpgsql'"
		case t.kind == str && text < 0:
			text = i
		default:
			isBlock = false
		}
	}
	switch {
	case isBlock && text >= 0 && plpgsql:
		r.inner(text, func(p *parser) { p.into(r).block(0, len(p.toks)) })
	case isBlock, r.toks[min(lo, hi-1)].kind == hole:
		r.st.Writes = true // another language, or not known
	default:
		r.discards = true
		for i, s := range r.split(lo, hi) {
			r.item(&level{role: main}, i, s[0], s[1])
		}
	}
}

// inner reads a body which token i holds as a string.
func (r *reader) inner(i int, read func(*parser)) {
	text, at := r.literal(i)
	if r.nest >= maxNest {
		r.st.Writes = true
		return
	}
	if at >= 0 && r.base >= 0 {
		at += r.base
	} else {
		at = -1
	}
	read(newParser(text, at, r.nest+1))
}

// into returns a reader of p's tokens that adds what it finds to the statement of r.
func (p *parser) into(r *reader) *blockReader { return &blockReader{parser: p, st: &r.st} }

// block reads the anonymous block in [lo, hi) of the same text.
func (r *reader) block(lo, hi int) { r.into(r).block(lo, hi) }

// blockReader reads the statements of a block in a procedural language: PL/pgSQL, or Oracle's PL/SQL.
type blockReader struct {
	*parser
	st *Statement
}

func (b *blockReader) block(lo, hi int) {
	declares := false
	for i := lo; i < hi; {
		switch b.key(i) {
		case kDeclare:
			declares = true
			i++
			continue
		case kBegin:
			declares = false
			i++
			continue
		case kElse, kLoop, kThen, kException:
			i++
			continue
		}
		if b.is(i, ";") {
			i++
			continue
		}
		if b.is(i, "<<") { // a label
			for i < hi && !b.is(i, ">>") {
				i++
			}
			i++
			continue
		}
		end := b.end(i, hi)
		if declares {
			b.expression(i, end)
		} else {
			b.statement(i, end)
		}
		i = end
	}
}

// end returns where the statement at lo, or the head of a compound one, ends.
func (b *blockReader) end(lo, hi int) int {
	closes := b.key(lo) == kEnd // END CASE, END LOOP
	for i := lo; i < hi; i++ {
		switch t := &b.toks[i]; {
		case t.match > i:
			i = t.match
		case b.is(i, ";"), i > lo && (t.key == kLoop || t.key == kThen) && !closes:
			return i
		case t.key == kCase && i > lo && !closes:
			i = b.caseEnd(i, hi) - 1
		}
	}
	return hi
}

func (b *blockReader) statement(lo, hi int) {
	switch b.key(lo) {
	case kEnd, kNull:
	case kIf, kCase, kWhen, kHead, kFetch:
		b.expression(lo+1, hi)
	case kFor:
		for i := lo; i < hi; i++ {
			if b.key(i) == kIn && (b.queryAt(i+1) || b.groupAt(i+1)) {
				b.add(i+1, hi)
				return
			}
		}
		b.expression(lo+1, hi)
	case kExec:
		b.dynamic(lo+1, hi)
	default:
		if b.assignment(lo, hi) {
			b.expression(lo, hi)
			return
		}
		b.add(lo, hi)
	}
}

// assignment reports whether a statement is variable := expression.
func (b *blockReader) assignment(lo, hi int) bool {
	i := lo
	switch {
	case b.isName(i):
		i = b.path(i, hi).end
	case b.toks[i].kind == param:
		i++
	default:
		return false
	}
	for i < hi && b.is(i, "[") {
		i = b.toks[i].match + 1
	}
	return i < hi && (b.is(i, ":=") || b.is(i, "="))
}

// dynamic reads what follows EXECUTE. Its text is known if it is a constant, or the format of one.
func (b *blockReader) dynamic(lo, hi int) {
	at := lo
	if b.isWord(lo, "format") && b.is(lo+1, "(") {
		at = lo + 2
	}
	into := false
	for i := lo; i < hi; i++ {
		into = into || b.key(i) == kInto
	}
	r := b.reader()
	if at < hi && b.toks[at].kind == str && !b.is(at+1, "||") {
		r.inner(at, func(p *parser) {
			for _, st := range p.statements() {
				for i := range st.Calls {
					if c := &st.Calls[i]; c.Answer == Returned && !into {
						c.Answer, c.Column, c.Negated = Dropped, -1, false
					}
				}
				b.merge(&st)
			}
		})
	} else {
		r.st.Writes = true
	}
	r.scan(at, hi, scope{})
	r.st.Calls = r.answers()
	b.merge(&r.st)
}

// expression reads an expression whose value the block uses.
func (b *blockReader) expression(lo, hi int) {
	r := b.reader()
	r.scan(lo, hi, scope{})
	r.st.Calls = r.answers()
	b.merge(&r.st)
}

// add reads a statement of SQL.
func (b *blockReader) add(lo, hi int) {
	r := b.reader()
	r.body = true
	r.st.Open = b.opens(lo, hi)
	r.read(lo, hi)
	r.st.Calls = append(r.st.Calls, r.answers()...)
	b.merge(&r.st)
}

// merge adds what a statement of the block does to the statement which the block is.
func (b *blockReader) merge(st *Statement) {
	for _, c := range st.Calls {
		if c.Answer == Returned || c.Answer == Filters {
			c.Answer, c.Negated, c.Column = Consumed, false, -1
		}
		b.st.Calls = append(b.st.Calls, c)
	}
	b.st.Settings = append(b.st.Settings, st.Settings...)
	b.st.Writes = b.st.Writes || st.Writes || st.Control != NoControl
	b.st.OtherCalls = b.st.OtherCalls || st.OtherCalls
	b.st.OrderBy = b.st.OrderBy || st.OrderBy
	b.st.Open = b.st.Open || st.Open
}
