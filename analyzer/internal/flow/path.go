package flow

import (
	"go/types"
	"strings"
)

// A Path says which part of a value is meant: the names of the fields that
// lead to it, with dots between them. Pointers are followed without a sign;
// [Element] stands for any element of a slice, an array or a map. The empty
// path is the value itself.
type Path string

// Element is the step to an element, which one is not told.
const Element = "[]"

// maxPath bounds the steps of a path, so that recursive types come to an end.
const maxPath = 6

// Under returns the path that leads through a field first.
func (p Path) Under(field string) Path {
	if p == "" {
		return Path(field)
	}
	return Path(field) + "." + p
}

// Join returns the path that leads along p, and then along rest.
func (p Path) Join(rest Path) Path {
	switch "" {
	case string(p):
		return rest
	case string(rest):
		return p
	}
	return p + "." + rest
}

// After returns what is left of a path that begins with first.
func (p Path) After(first Path) (rest Path, ok bool) {
	if first == "" {
		return p, true
	}
	r, ok := strings.CutPrefix(string(p), string(first))
	if !ok || r != "" && r[0] != '.' {
		return "", false
	}
	return Path(strings.TrimPrefix(r, ".")), true
}

func (p Path) cut() (field string, rest Path) {
	f, r, _ := strings.Cut(string(p), ".")
	return f, Path(r)
}

func (p Path) tooLong() bool { return strings.Count(string(p), ".") >= maxPath }

// TypeAt returns the type of the part of a t that the path leads to, or nil.
func TypeAt(t types.Type, p Path) types.Type {
	for p != "" && t != nil {
		var field string
		field, p = p.cut()
		if field == Element {
			t = elemOf(t)
			continue
		}
		f := Field(t, field)
		if f == nil {
			return nil
		}
		t = f.Type()
	}
	return t
}
