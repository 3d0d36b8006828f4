package sqltext

import "strings"

// path is a name with its qualifiers: the tokens first to last, and the one after it.
type path struct{ first, last, end int }

// isName reports whether token i can begin a name of a column, table, or function.
func (p *parser) isName(i int) bool {
	if i < 0 || i >= len(p.toks) {
		return false
	}
	t := &p.toks[i]
	return t.kind == quoted || t.kind == word && !t.key.reserved()
}

// name returns a name as the server compares it: unquoted ones in lower case.
func (p *parser) name(i int) string {
	t := &p.toks[i]
	s := p.src[t.start:t.end]
	if t.kind != quoted {
		return lower(s)
	}
	closing := s[:1]
	if closing == "[" {
		closing = "]"
	}
	s = strings.TrimSuffix(s[1:], closing)
	if p.sqlserver {
		return lower(s) // collations of the system databases ignore case
	}
	return s
}

// path reads the name at i.
func (p *parser) path(i, hi int) path {
	pa := path{first: i, last: i, end: i + 1}
	for pa.end < hi && p.is(pa.end, ".") {
		next := pa.end + 1
		if p.sqlserver && p.is(next, ".") { // master..sp_getapplock
			next++
		}
		if next >= hi || p.toks[next].kind != word && p.toks[next].kind != quoted {
			break
		}
		pa.last, pa.end = next, next+1
	}
	return pa
}

// lockFunc returns the lock function that a path names, or nil. A function of the same name in another schema is
// somebody's own, and so is one whose name may go on in a hole.
func (p *parser) lockFunc(pa path) *Func {
	if p.is(pa.first-1, ".") || pa.first > 0 && p.toks[pa.first-1].kind == hole && p.toks[pa.first].tainted {
		return nil
	}
	for i := pa.first; i < pa.end; i++ {
		if p.toks[i].tainted {
			return nil
		}
	}
	name := p.name(pa.last)
	var of string // the qualifier
	if pa.last > pa.first {
		if before := pa.last - 2; !p.is(before, ".") {
			of = p.name(before)
		}
	}
	f := Lookup(name)
	if f == nil && of != "" {
		if f = Lookup(of + "." + name); f != nil && pa.last-2 > pa.first && p.name(pa.first) != "sys" {
			return nil
		}
		return f
	}
	if f == nil || p.toks[pa.last].kind == quoted && f.Dialect == PostgreSQL && name != f.Name {
		return nil
	}
	switch f.Dialect {
	case PostgreSQL:
		if pa.last > pa.first && of != "pg_catalog" {
			return nil
		}
	case MySQL:
		if pa.last > pa.first || p.toks[pa.last].kind == quoted {
			return nil
		}
	case SQLServer:
		if of != "" && of != "sys" && of != "dbo" {
			return nil
		}
	}
	return f
}
