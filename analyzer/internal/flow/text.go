package flow

import (
	"go/constant"
	"go/token"
	"go/types"
	"strconv"
	"strings"

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
	return p.texts(v, "", frame, 0)
}

// TextsAt is [Program.Texts] for a part of a value.
func (p *Program) TextsAt(v ssa.Value, path Path, frame *Frame) []Text {
	return p.texts(v, path, frame, 0)
}

// ContentTexts is [Program.Texts] for the variable with an address.
func (p *Program) ContentTexts(addr ssa.Value) []Text {
	return p.leavesTexts(p.Content(addr, nil), 0)
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
	if l.Path != "" && depth < maxNesting {
		if field, rest := l.Field(); field != nil {
			if stores, ok := p.FieldStores(field, rest); ok {
				return p.leavesTexts(stores, depth+1)
			}
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
			out = addText(out, Text{x.S + y.S, x.Open || y.Open})
		}
	}
	return out
}

// callTexts knows the functions of the standard library that make SQL texts.
func (p *Program) callTexts(c *Call, depth int) []Text {
	if c.Method == nil || c.Method.Pkg() == nil {
		return nil
	}
	arg := func(i int) []Text {
		if i < len(c.Args) {
			return p.texts(c.Args[i], "", c.Frame, depth+1)
		}
		return hole
	}
	switch c.Method.Pkg().Path() + "." + c.Method.Name() {
	case "fmt.Sprintf":
		if len(c.Args) == 2 {
			return p.format(arg(0), p.Elements(c.Args[1]), c.Frame, depth)
		}
	case "fmt.Sprint", "fmt.Sprintln":
		if len(c.Args) == 1 {
			out := []Text{{}}
			for _, e := range p.Elements(c.Args[0]) {
				out = join(out, p.texts(e, "", c.Frame, depth+1))
			}
			return out
		}
	case "strings.Join":
		return p.joined(c, arg(1), depth)
	case "strings.TrimSpace", "strings.ToLower", "strings.ToUpper", "strings.Clone", "strings.Trim", "strings.TrimRight",
		"strings.TrimLeft", "strings.TrimSuffix", "strings.TrimPrefix":
		return arg(0)
	case "strings.ReplaceAll", "strings.Replace":
		return p.replaced(arg(0), arg(1), arg(2))
	case "strconv.Itoa", "strconv.FormatInt", "strconv.FormatUint":
		return arg(0)
	case "strings.String", "bytes.String": // of a Builder or Buffer
		return p.built(c, depth)
	}
	if p.ExternTexts != nil {
		return p.ExternTexts(c)
	}
	return nil
}

// Elements returns the values of a variadic argument, in order.
func (p *Program) Elements(slice ssa.Value) []ssa.Value {
	s, ok := slice.(*ssa.Slice)
	if !ok {
		return nil
	}
	array, ok := s.X.(*ssa.Alloc)
	if !ok {
		return nil
	}
	byIndex := map[int64]ssa.Value{}
	for _, r := range referrers(array) {
		at, ok := r.(*ssa.IndexAddr)
		if !ok {
			continue
		}
		i, ok := at.Index.(*ssa.Const)
		if !ok {
			return nil
		}
		for _, r := range referrers(at) {
			if store, ok := r.(*ssa.Store); ok && store.Addr == at {
				byIndex[i.Int64()] = store.Val
			}
		}
	}
	out := make([]ssa.Value, 0, len(byIndex))
	for i := range int64(len(byIndex)) {
		v := byIndex[i]
		if v == nil {
			return nil
		}
		out = append(out, v)
	}
	return out
}

// format does what Sprintf does, as far as the arguments are known.
func (p *Program) format(formats []Text, args []ssa.Value, frame *Frame, depth int) []Text {
	var out []Text
	for _, f := range formats {
		parts := []Text{{Open: f.Open}}
		next := 0
		for s := f.S; s != ""; {
			i := strings.IndexByte(s, '%')
			if i < 0 {
				parts = join(parts, []Text{{S: s}})
				break
			}
			parts = join(parts, []Text{{S: s[:i]}})
			s = s[i+1:]
			j := strings.IndexFunc(s, isVerb)
			if j < 0 {
				break
			}
			flags, verb := s[:j], s[j]
			s = s[j+1:]
			if verb == '%' {
				parts = join(parts, []Text{{S: "%"}})
				continue
			}
			if open, rest, ok := strings.Cut(flags, "["); ok && open == "" {
				if n, err := strconv.Atoi(strings.TrimSuffix(rest, "]")); err == nil {
					next = n - 1
				}
			}
			value := hole
			if next >= 0 && next < len(args) {
				value = p.texts(args[next], "", frame, depth+1)
			}
			next++
			parts = join(parts, printed(value, verb))
		}
		for _, t := range parts {
			out = addText(out, t)
		}
	}
	return out
}

func isVerb(r rune) bool {
	return r == '%' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}

// printed returns values as a verb prints them.
func printed(values []Text, verb byte) []Text {
	switch verb {
	case 's', 'v', 'd':
		return values
	case 'q':
		return join(join([]Text{{S: `"`}}, values), []Text{{S: `"`}})
	}
	return hole
}

func (p *Program) joined(c *Call, sep []Text, depth int) []Text {
	if len(c.Args) == 0 || len(sep) == 0 {
		return nil
	}
	parts := p.Elements(c.Args[0])
	if len(parts) == 0 {
		return nil
	}
	out := []Text{{}}
	for i, e := range parts {
		if i > 0 {
			out = join(out, sep[:1])
		}
		out = join(out, p.texts(e, "", c.Frame, depth+1))
	}
	return out
}

func (p *Program) replaced(in, old, new []Text) []Text {
	var out []Text
	for _, t := range in {
		for _, n := range new {
			if len(old) == 1 && old[0].S != "" {
				out = addText(out, Text{strings.ReplaceAll(t.S, old[0].S, n.S), t.Open || n.Open})
			}
		}
	}
	return out
}

// built returns what was written to a Builder, in the order of the source.
// What is written in loops and branches is taken once.
func (p *Program) built(c *Call, depth int) []Text {
	builder, ok := c.Recv.(*ssa.Alloc)
	if !ok {
		return nil
	}
	out := []Text{{}}
	for instr := range instructions(builder.Parent()) {
		call, ok := instr.(*ssa.Call)
		if !ok || call.Call.IsInvoke() || len(call.Call.Args) < 2 {
			continue
		}
		fn, _ := call.Call.Value.(*ssa.Function)
		if fn == nil {
			continue
		}
		switch target := call.Call.Args[0]; {
		case target == builder && fn.Name() == "WriteString":
			out = join(out, p.texts(call.Call.Args[1], "", c.Frame, depth+1))
		case target == builder && fn.Signature.Recv() != nil:
			out = join(out, hole)
		case isBuilder(target, builder) && fn.String() == "fmt.Fprintf" && len(call.Call.Args) == 3:
			args := p.Elements(call.Call.Args[2])
			out = join(out, p.format(p.texts(call.Call.Args[1], "", c.Frame, depth+1), args, c.Frame, depth))
		}
	}
	return out
}

func isBuilder(v ssa.Value, builder *ssa.Alloc) bool {
	m, ok := v.(*ssa.MakeInterface)
	return ok && m.X == builder
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
