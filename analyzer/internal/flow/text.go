package flow

import (
	"go/constant"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/pgadvisory/pgadvisory/analyzer/internal/sqltext"
)

// A Text is one value that a string expression may have, with a
// [sqltext.Hole] for each part that is not known.
type Text struct {
	S string

	// Open reports that a part is a parameter of the function where the
	// question was asked: a caller may know it.
	Open bool
}

// maxTexts bounds the values of one expression.
const maxTexts = 24

// Texts returns the values that a string expression may have.
func (p *Program) Texts(v ssa.Value, frame *Frame) []Text {
	return p.TextsAt(v, "", frame)
}

// TextsAt is [Program.Texts] for a part of a value.
func (p *Program) TextsAt(v ssa.Value, path Path, frame *Frame) (out []Text) {
	p.reading(func() { out = p.texts(v, path, frame, 0) })
	return out
}

// ContentTexts is [Program.Texts] for the variable with an address.
func (p *Program) ContentTexts(addr ssa.Value) (out []Text) {
	p.reading(func() { out = p.leavesTexts(p.Content(addr, nil), 0) })
	return out
}

// maxReads bounds what one text is put together from, and maxText its length.
const (
	maxReads = 1000
	maxText  = 1 << 20
)

// reading puts a text together. Texts within texts share one bound.
func (p *Program) reading(f func()) {
	if p.readers == 0 {
		p.reads = 0
	}
	p.readers++
	f()
	p.readers--
}

var hole = []Text{{S: sqltext.Hole}}

// maxNesting bounds concatenations and calls within each other.
const maxNesting = 40

func (p *Program) texts(v ssa.Value, path Path, frame *Frame, depth int) []Text {
	if depth > maxNesting {
		return hole
	}
	return p.leavesTexts(p.Trace(v, path, frame), depth)
}

func (p *Program) leavesTexts(leaves []Leaf, depth int) []Text {
	var out []Text
	for _, l := range leaves {
		for _, t := range p.leafTexts(l, depth) {
			out = addText(out, t)
		}
	}
	if len(out) == 0 {
		return hole
	}
	return out
}

func addText(out []Text, t Text) []Text {
	for _, o := range out {
		if o == t {
			return out
		}
	}
	if len(out) >= maxTexts {
		return out
	}
	return append(out, t)
}

func (p *Program) leafTexts(l Leaf, depth int) []Text {
	if p.reads++; p.reads > maxReads {
		return hole
	}
	if field, rest := l.Field(); field != nil && !p.fieldTexts[field] {
		if stores, ok := p.FieldStores(field, rest); ok {
			p.fieldTexts[field] = true // it may be set from itself
			defer delete(p.fieldTexts, field)
			return p.leavesTexts(stores, depth+1)
		}
	}
	switch v := l.Value.(type) {
	case *ssa.Const:
		return constText(v)
	case *ssa.Parameter:
		return []Text{{S: sqltext.Hole, Open: true}}
	case *ssa.BinOp:
		if v.Op == token.ADD {
			return join(p.texts(v.X, "", l.Frame, depth+1), p.texts(v.Y, "", l.Frame, depth+1))
		}
	case *ssa.Global:
		if obj, ok := v.Object().(*types.Var); ok && l.Path == "" && p.ExternString != nil {
			if out := p.ExternString(obj); out != nil {
				return out
			}
		}
	case *ssa.Call:
		if l.Result != 0 {
			return hole
		}
		if out := p.callTexts(p.Resolve(v, l.Frame), depth); out != nil {
			return out
		}
	}
	return hole
}

func constText(c *ssa.Const) []Text {
	if c.Value == nil {
		return hole
	}
	switch c.Value.Kind() {
	case constant.String:
		return []Text{{S: constant.StringVal(c.Value)}}
	case constant.Int, constant.Bool:
		return []Text{{S: c.Value.ExactString()}}
	}
	return hole
}

// join returns every concatenation of one of a and one of b.
func join(a, b []Text) []Text {
	var out []Text
	for _, x := range a {
		for _, y := range b {
			if len(x.S)+len(y.S) > maxText {
				return hole
			}
			out = addText(out, Text{x.S + y.S, x.Open || y.Open})
		}
	}
	return out
}

// ConstInt returns the integer that a value always has.
func ConstInt(v ssa.Value) (n int64, ok bool) {
	c, isConst := v.(*ssa.Const)
	if !isConst || c.Value == nil || c.Value.Kind() != constant.Int {
		return 0, false
	}
	return constant.Int64Val(c.Value)
}

// IsString reports whether a type is a string type.
func IsString(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}
