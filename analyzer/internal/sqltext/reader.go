package sqltext

import "strings"

// reader reads one statement.
type reader struct {
	*parser
	st    Statement
	calls []*found

	ctes      map[string]*level   // nil for one that is still being read
	consumers map[string][]*level // which levels read a CTE
	mentions  map[string][]int    // where a name stands as a column's
	run       map[*level]bool     // whether the server runs a level

	blind    bool // a hole may hold the name of a column or of a table
	deep     int
	body     bool // a statement in a DO block
	discards bool // nobody sees its result: PERFORM, MySQL's DO
	explains bool // nor does the statement itself use it: EXPLAIN
}

func (p *parser) reader() *reader {
	return &reader{
		parser: p, ctes: map[string]*level{}, consumers: map[string][]*level{},
		mentions: map[string][]int{}, run: map[*level]bool{},
	}
}

// statement reads the statement in [lo, hi).
func (p *parser) statement(lo, hi int) Statement {
	r := p.reader()
	r.st.Open = p.opens(lo, hi)
	r.read(lo, hi)
	r.st.Calls = append(r.st.Calls, r.answers()...)
	r.st.Pos, r.st.End = p.offset(p.toks[lo].start), p.offset(p.toks[hi-1].end)
	return r.st
}

// opens reports whether a hole in [lo, hi) stands where it may hold more than an operand.
func (p *parser) opens(lo, hi int) bool {
	for i := lo; i < hi; i++ {
		if p.toks[i].kind != hole {
			continue
		}
		if i == lo {
			return true
		}
		switch before := &p.toks[i-1]; before.kind {
		case punct:
			if p.is(i-1, ")") || p.is(i-1, "]") || p.is(i-1, "*") {
				return true
			}
		case word:
			if before.key.reserved() && before.key != kEnd && before.key != kNull && before.key != kTrue && before.key != kFalse {
				continue
			}
			switch before.key {
			case kInsert, kUpdate, kMerge, kSet, kValues, kIf, kExec, kCall, kPerform, kTop:
				continue
			}
			if !before.tainted || before.end != p.toks[i].start || i+1 == hi {
				return true
			}
		default:
			return true
		}
	}
	return false
}

// read reads a statement whose first token is lo.
func (r *reader) read(lo, hi int) {
	for lo < hi && r.toks[lo].kind == hole {
		lo++
	}
	if lo == hi {
		r.st.Writes = true
		return
	}
	if r.toks[lo].kind == word {
		r.st.Verb = strings.ToUpper(r.text(lo))
	}
	switch r.toks[lo].key {
	case kPerform, kSelect, kWith, kUpdate, kDelete, kMerge, kInsert, kValues, kTable:
		r.main(lo, hi)
	case kExplain:
		r.explain(lo+1, hi)
	case kCreate:
		r.create(lo+1, hi)
	case kDo:
		r.do(lo+1, hi)
	case kExec, kCall:
		r.procedure(lo+1, hi)
	case kSet:
		r.set(lo+1, hi)
	case kDeclare:
		r.declare(lo, hi)
	case kBegin, kEnd:
		r.control(lo, hi)
	case kFetch:
	default:
		if r.sqlserver && (r.key(lo) == kIf || r.key(lo) == kElse || r.key(lo) == kHead) {
			r.scan(lo+1, hi, scope{})
			return
		}
		r.readOther(lo, hi)
	}
}

// readOther reads a statement whose first token is no keyword.
func (r *reader) readOther(lo, hi int) {
	switch {
	case r.groupAt(lo):
		r.main(lo, hi)
		return
	case r.is(lo, "{"): // {call p(…)}, {? = call p(…)}
		for i := lo + 1; i < hi && i < lo+4; i++ {
			if r.key(i) == kCall {
				r.st.Verb = "CALL"
				r.callProcedure(i+1, hi, r.is(i-1, "="))
				return
			}
		}
	case r.isName(lo):
		if p := r.path(lo, hi); r.sqlserver && !r.is(p.end, "(") {
			if r.lockFunc(p) != nil { // EXEC may be left out
				r.callProcedure(lo, hi, false)
				return
			}
		}
	}
	switch r.st.Verb {
	case "START", "COMMIT", "ROLLBACK", "ABORT", "SAVEPOINT", "SAVE", "RELEASE", "PREPARE":
		r.control(lo, hi)
	case "COPY":
		if r.groupAt(lo + 1) {
			r.subquery(lo+1, min(r.toks[lo+1].match, hi), scope{})
			return
		}
		for i := lo; i < hi; i++ {
			r.st.Writes = r.st.Writes || r.key(i) == kFrom
		}
	case "SHOW", "RESET", "DISCARD", "DEALLOCATE", "USE", "DESC", "DESCRIBE", "LOCK", "CLOSE", "MOVE":
	default:
		if lo > 0 && r.toks[lo-1].kind == hole {
			r.st.Verb = ""
			r.scan(lo, hi, scope{})
		}
		r.st.Writes = true
	}
}

// main reads a query.
func (r *reader) main(lo, hi int) {
	r.discards = r.discards || r.key(lo) == kPerform
	first := r.query(lo, hi, level{role: main})
	if first.verb != none {
		r.st.Verb = strings.ToUpper(r.text(first.verbAt))
	}
	r.st.Query = first.query
	r.st.OtherColumns = !first.pure
}

// explain reads what follows EXPLAIN. Without ANALYZE nothing is run.
func (r *reader) explain(lo, hi int) {
	analyze, i := false, lo
	if r.is(i, "(") {
		end := min(r.toks[i].match, hi)
		for ; i < end; i++ {
			if r.key(i) == kAnalyze {
				analyze = r.key(i+1) != kFalse && !r.isWord(i+1, "off") && r.text(min(i+1, end-1)) != "0"
			}
		}
		i++
	}
	for ; i < hi && !r.queryAt(i) && !r.groupAt(i) && r.key(i) != kCreate && r.key(i) != kExec && r.key(i) != kDeclare; i++ {
		analyze = analyze || r.key(i) == kAnalyze
	}
	if !analyze || i >= hi {
		return
	}
	r.discards, r.explains = true, true
	r.read(i, hi)
	r.st.OtherColumns = true // the plan
}

// create reads what follows CREATE. A table or a materialized view made AS a query runs it; all else is for later.
func (r *reader) create(lo, hi int) {
	r.st.Writes = true
	table := false
	for i := lo; i < hi; i++ {
		switch {
		case r.toks[i].match > i:
			i = r.toks[i].match
		case i < lo+5 && (r.key(i) == kTable || r.isWord(i, "materialized")):
			table = true
		case table && r.key(i) == kAs && (r.queryAt(i+1) || r.groupAt(i+1)):
			if !(r.isWord(hi-1, "data") && r.key(hi-2) == kNo) {
				r.query(i+1, hi, level{lo: i + 1, hi: hi})
			}
			return
		}
	}
}

// declare reads a cursor, a Transact-SQL variable, or an anonymous block.
func (r *reader) declare(lo, hi int) {
	if r.blockAt(lo) {
		r.block(lo, hi)
		return
	}
	for i := lo + 1; i < hi; i++ {
		if r.key(i) == kFor && (r.queryAt(i+1) || r.groupAt(i+1)) {
			r.query(i+1, hi, level{lo: i + 1, hi: hi})
			return
		}
	}
	r.scan(lo+1, hi, scope{})
}
