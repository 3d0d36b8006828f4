package sqltext

import (
	"slices"
	"strconv"
	"strings"
)

// parameters are the names of the parameters of functions which are called with arguments by name, in their order.
var parameters = map[string][]string{
	"sp_getapplock":     {"@resource", "@lockmode", "@lockowner", "@locktimeout", "@dbprincipal"},
	"sp_releaseapplock": {"@resource", "@lockowner", "@dbprincipal"},
	"DBMS_LOCK.REQUEST": {"id", "lockmode", "timeout", "release_on_commit"},
	"DBMS_LOCK.RELEASE": {"id"},
}

// args returns the arguments in [lo, hi) in the order of the function's parameters.
func (p *parser) args(f *Func, lo, hi int) []string {
	var args []string
	for i, part := range p.split(lo, hi) {
		at, lo, hi := i, part[0], part[1]
		if hi-lo > 2 && (p.is(lo+1, "=>") || p.is(lo+1, ":=") || p.is(lo+1, "=") && p.toks[lo].kind == param) {
			name := lower(p.text(lo))
			if name == "lockhandle" { // the overload of DBMS_LOCK
				name = "id"
			}
			if n := slices.Index(parameters[f.Name], name); n >= 0 {
				at = n
			}
			lo += 2
		}
		if hi-lo > 1 && (p.isWord(hi-1, "output") || p.isWord(hi-1, "out")) {
			hi--
		}
		for len(args) <= at {
			args = append(args, "")
		}
		args[at] = p.canonical(lo, hi, f.Dialect)
	}
	return args
}

// settle lets the arguments decide about the scope and the mode where the function leaves them open.
func (c *Call) settle() {
	arg := func(n int) string {
		if n < len(c.Args) {
			return lower(c.Args[n])
		}
		return ""
	}
	owner := -1
	switch c.Func.Name {
	case "sp_getapplock":
		owner = 2
		c.Shared = arg(1) == "'shared'" || arg(1) == "'intentshared'"
	case "sp_releaseapplock":
		owner = 1
	case "DBMS_LOCK.REQUEST":
		switch arg(1) {
		case "2", "4", "dbms_lock.ss_mode", "dbms_lock.s_mode":
			c.Shared = true
		}
		switch arg(3) {
		case "", "false":
		case "true":
			c.Scope = Transaction
		default:
			c.Scope = UnknownScope
		}
	}
	if owner < 0 {
		return
	}
	switch {
	case c.NameOnly:
		c.Scope = UnknownScope
	case arg(owner) == "'session'":
		c.Scope = Session
	case arg(owner) != "" && arg(owner) != "'transaction'":
		c.Scope = UnknownScope
	}
}

// canonical returns the text of an argument in the form that Call.Args promises.
func (p *parser) canonical(lo, hi int, d Dialect) string {
	for n := 0; n < maxShape && lo < hi; n++ {
		end := p.operandEnd(lo, hi)
		cast := end // the last one of a chain of casts
		for next := end; p.is(next, "::") && next < hi; next = p.typeEnd(next+1, hi) {
			cast = next
		}
		switch {
		case p.is(lo, "(") && p.toks[lo].match == hi-1 && !p.queryAt(lo+1):
			lo, hi = lo+1, hi-1
			continue
		case p.isWord(lo, "cast") && p.is(lo+1, "(") && end == hi && hi-lo > 4 && p.integerType(hi-2) && p.key(hi-3) == kAs:
			lo, hi = lo+2, hi-3
			continue
		case p.integerType(cast+1) && cast+2 == hi && p.is(cast, "::"):
			hi = cast
			continue
		case p.integerType(lo) && hi == lo+2 && p.toks[lo+1].kind == str: // bigint '7'
			lo++
		}
		break
	}
	switch {
	case hi-lo == 1 && p.toks[lo].kind == number:
		return integer("", p.text(lo))
	case hi-lo == 2 && p.signed(lo):
		return integer(p.text(lo), p.text(lo+1))
	case hi-lo == 1 && p.toks[lo].kind == str:
		s, _ := p.literal(lo)
		if digits := strings.TrimLeft(strings.TrimSpace(s), "+-"); d == PostgreSQL && digits != "" && strings.Trim(digits, "0123456789") == "" {
			return integer(strings.TrimSuffix(strings.TrimSpace(s), digits), digits)
		}
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	return p.join(lo, hi)
}

func (p *parser) signed(i int) bool {
	return (p.is(i, "-") || p.is(i, "+")) && i+1 < len(p.toks) && p.toks[i+1].kind == number
}

func (p *parser) integerType(i int) bool {
	for _, t := range [...]string{"bigint", "int8", "integer", "int", "int4", "smallint", "int2"} {
		if p.isWord(i, t) {
			return true
		}
	}
	return false
}

// integer returns a number as the server prints it. What is no integer stays as it is.
func integer(sign, digits string) string {
	clean := strings.ReplaceAll(digits, "_", "")
	if len(clean) > 2 && clean[0] == '0' && !isDigit(clean[1]) {
		if n, err := strconv.ParseUint(clean, 0, 64); err == nil {
			clean = strconv.FormatUint(n, 10)
		}
	}
	if strings.Trim(clean, "0123456789") == "" {
		if clean = strings.TrimLeft(clean, "0"); clean == "" {
			return "0"
		}
	}
	if sign == "-" {
		return "-" + clean
	}
	return clean
}

// join writes tokens with single spaces, and only where they would run together without.
func (p *parser) join(lo, hi int) string {
	var b strings.Builder
	for i := lo; i < hi; i++ {
		t, text := &p.toks[i], p.text(i)
		if t.kind == word {
			text = lower(text)
		}
		if i > lo && p.toks[i-1].end < t.start && (p.is(i-1, ")") || p.toks[i-1].kind != punct) == (t.kind != punct) {
			b.WriteByte(' ')
		}
		b.WriteString(text)
	}
	return b.String()
}

// literal returns what a string token says, and where that begins in src: -1 if escapes make its bytes differ.
func (p *parser) literal(i int) (string, int) {
	start, s := p.toks[i].start, p.text(i)
	open := strings.IndexAny(s, "'\"$")
	if s[open] == '$' {
		tag := s[:strings.IndexByte(s[1:], '$')+2]
		return strings.TrimSuffix(s[len(tag):], tag), start + len(tag)
	}
	quote := s[open : open+1]
	escapes := p.mysql || lowerByte(s[0]) == 'e'
	s = s[open+1:]
	if len(s) > 0 && s[len(s)-1] == quote[0] {
		s = s[:len(s)-1]
	}
	at := start + open + 1
	if strings.Contains(s, quote+quote) {
		s, at = strings.ReplaceAll(s, quote+quote, quote), -1
	}
	if escapes && strings.IndexByte(s, '\\') >= 0 {
		s, at = unescape(s), -1
	}
	return s, at
}

// unescape takes the backslashes off. Those which stand for white space become a space: no more matters here.
func unescape(s string) string {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '\\' && i+1 < len(s) {
			i++
			if c = s[i]; strings.IndexByte("bfnrt", c) >= 0 {
				c = ' '
			}
		}
		b = append(b, c)
	}
	return string(b)
}
