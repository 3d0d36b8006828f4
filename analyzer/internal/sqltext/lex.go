package sqltext

import "strings"

// flavor is what differs between the servers in the way a text falls into tokens. It follows from the names in the text.
type flavor struct {
	mysql     bool // "string", \ in strings, # comments; block comments do not nest
	sqlserver bool // [name]; statements need no semicolon between them
	oracle    bool
}

// flavorOf looks for the names of lock functions. A text with one of PostgreSQL's, or with none, is PostgreSQL's.
func flavorOf(text string) flavor {
	fl := flavor{mysql: strings.IndexByte(text, '`') >= 0}
	for _, letter := range letters {
		for d, at := nextStem(text, letter, 0); at >= 0; d, at = nextStem(text, letter, at+1) {
			switch d {
			case PostgreSQL:
				return flavor{}
			case MySQL:
				fl.mysql = true
			case SQLServer:
				fl.sqlserver = true
			case Oracle:
				fl.oracle = true
			}
		}
	}
	return fl
}

// lex splits a text into tokens.
func lex(src string, fl flavor) []token {
	l := lexer{src: src, flavor: fl, toks: make([]token, 0, len(src)/4+4)}
	for l.pos < len(src) {
		l.next()
	}
	l.pair()
	return l.toks
}

type lexer struct {
	flavor
	src  string
	pos  int
	toks []token
}

// next reads one token, comment, or stretch of white space.
func (l *lexer) next() {
	src, i := l.src, l.pos
	c, d := src[i], byte(' ')
	if i+1 < len(src) {
		d = src[i+1]
	}
	switch {
	case c <= ' ' && c != 0:
		l.pos++
	case c == '-' && d == '-', c == '#' && l.mysql:
		l.pos = endOf(src, i, "\n")
	case c == '/' && d == '*':
		l.pos = l.commentEnd()
	case c == 0:
		if n := len(l.toks); n > 0 && l.toks[n-1].kind == word && l.toks[n-1].end == i {
			l.toks[n-1].tainted = true
		}
		l.emit(hole, i+1)
	case c == '\'':
		l.emit(str, quoteEnd(src, i, c, l.mysql))
	case (c == 'e' || c == 'E') && d == '\'':
		l.emit(str, quoteEnd(src, i+1, d, true))
	case strings.IndexByte("nNbBxX", c) >= 0 && d == '\'':
		l.emit(str, quoteEnd(src, i+1, d, l.mysql))
	case (c == 'u' || c == 'U') && d == '&' && i+2 < len(src) && src[i+2] == '\'':
		l.emit(str, quoteEnd(src, i+2, '\'', false))
	case c == '"' && l.mysql:
		l.emit(str, quoteEnd(src, i, c, true))
	case c == '"' || c == '`':
		l.emit(quoted, quoteEnd(src, i, c, false))
	case c == '[' && l.sqlserver:
		l.emit(quoted, quoteEnd(src, i, ']', false))
	case isNameStart(c):
		l.name()
	case isDigit(c), c == '.' && isDigit(d):
		l.emit(number, numberEnd(src, i))
	case c == '$':
		l.dollar()
	case c == '?', c == '@' && (isNameStart(d) || d == '@'), c == ':' && (isNameStart(d) || isDigit(d)):
		end := i + 1
		if d == '@' {
			end++
		}
		l.emit(param, nameEnd(src, end))
	default:
		n := 1
		if i+1 < len(src) {
			switch src[i : i+2] {
			case "::", ":=", "=>", "<>", "!=", "<=", ">=", "||", "<<", ">>":
				n = 2
			}
		}
		l.emit(punct, i+n)
	}
}

func (l *lexer) emit(k kind, end int) {
	l.toks = append(l.toks, token{kind: k, start: l.pos, end: end})
	l.pos = end
}

func (l *lexer) name() {
	start, end := l.pos, nameEnd(l.src, l.pos)
	l.emit(word, end)
	t := &l.toks[len(l.toks)-1]
	if n := len(l.toks); n < 2 || l.src[l.toks[n-2].start] != '.' {
		t.key = keywordOf(l.src[start:end]) // after a dot it is a name
	}
	t.tainted = start > 0 && l.src[start-1] == 0
}

// dollar reads $1, $name, or a dollar-quoted string.
func (l *lexer) dollar() {
	i := l.pos
	tag := i + 1
	for tag < len(l.src) && isNameByte(l.src[tag]) && l.src[tag] != '$' {
		tag++
	}
	switch {
	case tag < len(l.src) && l.src[tag] == '$' && (tag == i+1 || isNameStart(l.src[i+1])):
		l.emit(str, endOf(l.src, tag+1, l.src[i:tag+1]))
	case tag == i+1:
		l.emit(punct, tag)
	default:
		l.emit(param, tag)
	}
}

// commentEnd returns the end of the block comment at the position.
func (l *lexer) commentEnd() int {
	if l.mysql {
		return endOf(l.src, l.pos+2, "*/")
	}
	depth := 0
	for i := l.pos; i+1 < len(l.src); i++ {
		switch l.src[i : i+2] {
		case "/*":
			depth++
			i++
		case "*/":
			depth--
			i++
			if depth == 0 {
				return i + 1
			}
		}
	}
	return len(l.src)
}

// pair finds the closing one for each opening parenthesis and bracket. One that does not close ends with the text.
func (l *lexer) pair() {
	var open []int
	for i := range l.toks {
		if l.toks[i].kind != punct {
			continue
		}
		switch c := l.src[l.toks[i].start]; c {
		case '(', '[':
			l.toks[i].match = len(l.toks)
			open = append(open, i)
		case ')', ']':
			want := byte('(')
			if c == ']' {
				want = '['
			}
			for n := len(open); n > 0; n-- {
				last := open[n-1]
				if l.src[l.toks[last].start] == want {
					l.toks[last].match = i
					open = open[:n-1]
					break
				}
				if c == ']' {
					break // a stray one must not unhinge the parentheses around it
				}
				open = open[:n-1]
				l.toks[last].match = i
			}
		}
	}
}

// endOf returns the index after the next mark in src[from:], or the end.
func endOf(src string, from int, mark string) int {
	if i := strings.Index(src[from:], mark); i >= 0 {
		return from + i + len(mark)
	}
	return len(src)
}

// quoteEnd returns the index after the quote that closes the one at src[i]. It is doubled to stand for itself.
func quoteEnd(src string, i int, quote byte, backslash bool) int {
	for i++; i < len(src); i++ {
		switch {
		case src[i] == '\\' && backslash:
			i++
		case src[i] != quote:
		case i+1 < len(src) && src[i+1] == quote:
			i++
		default:
			return i + 1
		}
	}
	return len(src)
}

func nameEnd(src string, i int) int {
	for i < len(src) && isNameByte(src[i]) {
		i++
	}
	return i
}

func numberEnd(src string, i int) int {
	for i++; i < len(src); i++ {
		switch c := src[i]; {
		case isNameByte(c):
		case c == '.' && (i+1 == len(src) || src[i+1] != '.'):
		case (c == '+' || c == '-') && lowerByte(src[i-1]) == 'e' && i+1 < len(src) && isDigit(src[i+1]):
		default:
			return i
		}
	}
	return i
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isNameStart(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c >= 0x80
}

func isNameByte(c byte) bool { return isNameStart(c) || isDigit(c) || c == '$' }
