package flow

import (
	"strconv"
	"strings"

	"golang.org/x/tools/go/ssa"
)

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
		if c.Recv != nil {
			return arg(0) // a Replacer's: names in it are most often not replaced
		}
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
			if len(old) != 1 || old[0].S == "" {
				continue
			}
			if strings.Count(t.S, old[0].S)*len(n.S) > maxText {
				return hole
			}
			out = addText(out, Text{strings.ReplaceAll(t.S, old[0].S, n.S), t.Open || n.Open})
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
