package sqltext

import "strings"

// parser holds the tokens of one text, or of one body within a text.
type parser struct {
	flavor
	src  string
	base int // where src begins in the caller's text; -1 if their bytes do not correspond
	nest int // bodies around this one
	toks []token
}

// maxNest bounds bodies in bodies (DO in EXECUTE in DO …), which would otherwise be read once for each level.
const maxNest = 4

func newParser(src string, base, nest int) *parser {
	fl := flavorOf(src)
	return &parser{flavor: fl, src: src, base: base, nest: nest, toks: lex(src, fl)}
}

// Parse returns the statements of a whole SQL text, which semicolons separate. Empty statements are left out.
func Parse(text string) []Statement {
	return newParser(text, 0, 0).statements()
}

func (p *parser) statements() []Statement {
	var all []Statement
	for i := 0; i < len(p.toks); {
		if p.is(i, ";") || p.sqlserver && p.separates(i) {
			i++
			continue
		}
		end := p.statementEnd(i)
		all = append(all, p.statement(i, end))
		i = end
	}
	return all
}

// statementEnd returns where the statement at lo ends: at its semicolon, or where the next one begins.
func (p *parser) statementEnd(lo int) int {
	if p.toks[lo].key == kCreate && (p.sqlserver || p.oracle) && p.definesRoutine(lo) {
		return p.batchEnd(lo)
	}
	if p.blockAt(lo) {
		return p.blockEnd(lo)
	}
	cases := 0
	for i := lo; i < len(p.toks); i++ {
		switch t := &p.toks[i]; {
		case t.match > i:
			i = t.match
		case p.is(i, ";"):
			return i
		case t.key == kBegin && p.toks[lo].key == kCreate && p.key(i+1) != kTransaction:
			i = p.blockEnd(i) - 1
		case !p.sqlserver:
		case t.key == kCase:
			cases++
		case t.key == kEnd && cases > 0:
			cases--
		case i > lo && cases == 0 && (p.separates(i) || p.startsStatement(lo, i)):
			return i
		}
	}
	return len(p.toks)
}

// separates reports whether the token is GO on a line of its own, which ends a batch in SQL Server's tools.
func (p *parser) separates(i int) bool {
	return p.toks[i].key == kGo &&
		(i == 0 || strings.IndexByte(p.src[p.toks[i-1].end:p.toks[i].start], '\n') >= 0)
}

// startsStatement reports whether, in Transact-SQL, where semicolons are optional, a statement begins at i inside what
// began at lo.
func (p *parser) startsStatement(lo, i int) bool {
	switch p.toks[i].key {
	case kExec:
		return p.toks[lo].key != kInsert
	case kDeclare, kIf, kBegin, kElse, kEnd:
		return true
	case kSelect, kInsert, kUpdate, kDelete, kMerge, kSet, kWith:
		switch p.toks[lo].key {
		case kSelect, kInsert, kUpdate, kDelete, kMerge, kWith, kCreate:
			return false
		}
		return true
	}
	return p.isWord(i, "commit") || p.isWord(i, "rollback") || p.isWord(i, "print") || p.isWord(i, "raiserror") ||
		p.isWord(i, "throw") || p.isWord(i, "return") || p.isWord(i, "while") || p.isWord(i, "save")
}

// definesRoutine reports whether a CREATE defines a routine, whose body then holds statements.
func (p *parser) definesRoutine(lo int) bool {
	for i := lo + 1; i < len(p.toks) && i < lo+8; i++ {
		for _, w := range [...]string{"function", "procedure", "proc", "trigger", "package", "type"} {
			if p.isWord(i, w) {
				return true
			}
		}
	}
	return false
}

func (p *parser) batchEnd(lo int) int {
	for i := lo + 1; i < len(p.toks); i++ {
		if p.sqlserver && p.separates(i) {
			return i
		}
	}
	return len(p.toks)
}

// blockAt reports whether an anonymous block (Oracle's DECLARE … BEGIN … END) begins at lo, rather than a transaction, a
// cursor, or Transact-SQL.
func (p *parser) blockAt(lo int) bool {
	if p.sqlserver || lo+1 >= len(p.toks) {
		return false
	}
	next := &p.toks[lo+1]
	switch p.toks[lo].key {
	case kBegin:
		return !p.is(lo+1, ";") && next.kind != hole && next.key != kTransaction && next.key != kNot
	case kDeclare:
		if next.kind == param {
			return false
		}
		for i := lo + 2; i < len(p.toks) && i < lo+8 && !p.is(i, ";"); i++ {
			if p.toks[i].key == kCursor {
				return false
			}
		}
		return true
	}
	return false
}

// blockEnd returns the semicolon after the END which closes the block at lo.
func (p *parser) blockEnd(lo int) int {
	depth := 0
	for i := lo; i < len(p.toks); i++ {
		switch p.toks[i].key {
		case kBegin:
			if p.key(i+1) != kTransaction {
				depth++
			}
		case kCase:
			depth++
		case kEnd:
			switch next := p.key(i + 1); {
			case next == kIf || next == kLoop || next == kFor || p.isWord(i+1, "while") || p.isWord(i+1, "repeat"):
				i++
				continue
			case next == kCase:
				i++
			}
			if depth--; depth <= 0 {
				for i < len(p.toks) && !p.is(i, ";") {
					i++
				}
				return i
			}
		}
	}
	return len(p.toks)
}

// The accessors take any index; beyond the tokens nothing matches.

func (p *parser) text(i int) string { return p.src[p.toks[i].start:p.toks[i].end] }

func (p *parser) key(i int) keyword {
	if i < 0 || i >= len(p.toks) {
		return none
	}
	return p.toks[i].key
}

// is reports whether token i is this operator or punctuation.
func (p *parser) is(i int, op string) bool {
	return i >= 0 && i < len(p.toks) && p.toks[i].kind == punct && p.text(i) == op
}

// isWord reports whether token i is this lower-case word.
func (p *parser) isWord(i int, w string) bool {
	return i >= 0 && i < len(p.toks) && p.toks[i].kind == word && equalFold(p.text(i), w)
}

// offset turns a byte of src into one of the caller's text.
func (p *parser) offset(at int) int {
	if p.base < 0 {
		return -1
	}
	return p.base + at
}
