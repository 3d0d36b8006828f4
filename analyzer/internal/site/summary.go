package site

import (
	"go/constant"
	"go/types"
	"sort"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/pgadvisory/pgadvisory/analyzer/internal/flow"
	"github.com/pgadvisory/pgadvisory/analyzer/internal/sqltext"
)

// export notes an execution in the summary of the function where it is seen.
func (f *finder) export(e *execution, statements []sqltext.Statement, handles []Handle, fn *ssa.Function, was view) {
	sum := f.ownSummary(fn)
	if sum == nil {
		return
	}
	r := Run{Typed: true}
	var refs []flow.Ref
	if e.fixed != nil {
		r.Fixed, r.Kind = true, e.fixed.Kind
	} else {
		var ok bool
		if refs, ok = f.refs(fn, f.prog.Trace(e.handle.value, e.handle.path, e.handle.frame)); ok && len(refs) == 1 {
			r.Handle = refs[0]
		} else if handles == nil {
			handles = f.handlesOf(e.handle.value, e.handle.path, e.handle.frame, 0)
			r.Fixed, r.Kind = true, kindOf(handles)
		} else {
			return // its package has been told
		}
	}
	matters := len(statements) == 0
	for _, h := range handles {
		r.Typed = r.Typed && h.Kind != Unknown
		matters = matters || h.Kind == Unknown || h.Kind == Conn || h.Kind == Tx
	}
	if !matters {
		return // its package has been told all
	}
	if len(statements) > 0 {
		for _, t := range e.texts {
			if locks(f.parse(t.S, e.frags)) {
				r.Texts = append(r.Texts, t.S)
			}
		}
		if e.frags { // a fragment is a statement's select list
			for i := range r.Texts {
				r.Texts[i] = "SELECT " + r.Texts[i]
			}
		}
	} else {
		if e.text.value == nil {
			return
		}
		refs, ok := f.refs(fn, f.prog.Trace(e.text.value, e.text.path, e.text.frame))
		if !ok || len(refs) != 1 {
			return
		}
		r.Text = refs[0]
	}
	for _, have := range sum.Runs {
		if have.Handle == r.Handle && have.Text == r.Text && equal(have.Texts, r.Texts) {
			return
		}
	}
	sum.Runs = append(sum.Runs, r)
}

// exportOp notes what a function does to a connection of its caller.
func (f *finder) exportOp(o pending, fn *ssa.Function) {
	sum := f.ownSummary(fn)
	if sum == nil {
		return
	}
	refs, ok := f.refs(fn, f.prog.Trace(o.on.value, o.on.path, o.on.frame))
	if !ok || len(refs) != 1 {
		return
	}
	for _, have := range sum.Ops {
		if have.On == refs[0] && have.Kind == uint8(o.kind) {
			return
		}
	}
	sum.Ops = append(sum.Ops, Op{Kind: uint8(o.kind), On: refs[0]})
}

func equal(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// refs returns the leaves as parts of fn's operands; ok is false if one is
// not.
func (f *finder) refs(fn *ssa.Function, leaves []flow.Leaf) (out []flow.Ref, ok bool) {
	for _, l := range leaves {
		param := l.Param()
		if param == nil || param.Parent() != fn {
			return nil, false
		}
		i := paramIndex(param)
		if i < 0 {
			return nil, false
		}
		out = append(out, flow.Ref{Operand: i, Path: l.Path})
	}
	return out, len(out) > 0
}

// ownSummary returns the summary of a function that other packages can call.
func (f *finder) ownSummary(fn *ssa.Function) *FuncSummary {
	obj, ok := fn.Object().(*types.Func)
	if !ok || fn.Parent() != nil || obj.Pkg() != f.pass.Pkg {
		return nil
	}
	name := obj.Origin().FullName()
	sum := f.own[name]
	if sum == nil {
		sum = &FuncSummary{Name: name}
		f.own[name] = sum
	}
	return sum
}

// summarize exports the package's summary, if there is something to say.
func (f *finder) summarize() {
	for _, fn := range f.prog.Funcs {
		if obj, ok := fn.Object().(*types.Func); ok && fn.Parent() == nil && obj.Exported() {
			f.results(fn)
		}
	}
	sum := &Summary{Strings: f.strings()}
	runs := len(sum.Strings) > 0
	for _, s := range f.own {
		if len(s.Runs) > 0 || len(s.Ops) > 0 || len(s.Parts) > 0 || s.Single {
			sum.Funcs = append(sum.Funcs, *s)
			runs = runs || len(s.Runs) > 0 || len(s.Ops) > 0 || s.Single
		}
	}
	if !runs {
		return
	}
	sort.Slice(sum.Funcs, func(i, j int) bool { return sum.Funcs[i].Name < sum.Funcs[j].Name })
	f.pass.ExportPackageFact(sum)
}

// results notes which parts of a function's results are parts of its operands.
func (f *finder) results(fn *ssa.Function) {
	sum := f.ownSummary(fn)
	if sum == nil {
		return
	}
	results := fn.Signature.Results()
	for i := range results.Len() {
		t := results.At(i).Type()
		paths := []flow.Path{""}
		if !isHandle(t) && !isRunner(t) {
			paths = handleFields(t)
		}
		for _, path := range paths {
			var leaves []flow.Leaf
			for _, b := range fn.Blocks {
				if ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return); ok && i < len(ret.Results) {
					for _, l := range f.prog.Trace(ret.Results[i], path, nil) {
						if c, ok := l.Value.(*ssa.Const); !ok || c.Value != nil {
							leaves = append(leaves, l)
						}
					}
				}
			}
			if refs, ok := f.refs(fn, leaves); ok {
				sum.Parts = append(sum.Parts, Part{Result: i, Path: path, From: refs})
			}
			if i == 0 && path == "" && len(leaves) > 0 {
				sum.Single = true
				for _, l := range leaves {
					sum.Single = sum.Single && l.Param() == nil && f.single(l, 0)
				}
			}
		}
	}
}

// isHandle reports whether a value of a type may run SQL.
func isHandle(t types.Type) bool { return typeOf(t).role != noRole }

// isRunner reports whether a type is an interface with methods that run SQL.
func isRunner(t types.Type) bool {
	i, ok := t.Underlying().(*types.Interface)
	if !ok {
		return false
	}
	for m := range i.Methods() {
		if forms[m.Name()] != noForm && takesString(m.Signature()) || strings.HasPrefix(m.Name(), "New") && isHandle(resultOf(m)) {
			return true
		}
	}
	return false
}

func takesString(sig *types.Signature) bool {
	for v := range sig.Params().Variables() {
		if flow.IsString(v.Type()) {
			return true
		}
	}
	return false
}

func resultOf(m *types.Func) types.Type {
	if r := m.Signature().Results(); r.Len() == 1 {
		return r.At(0).Type()
	}
	return nil
}

// handleFields returns the fields of a struct that may run SQL.
func handleFields(t types.Type) []flow.Path {
	t = t.Underlying()
	if ptr, ok := t.(*types.Pointer); ok {
		t = ptr.Elem().Underlying()
	}
	s, ok := t.(*types.Struct)
	if !ok {
		return nil
	}
	var out []flow.Path
	for i := range s.NumFields() {
		field := s.Field(i)
		if isHandle(field.Type()) || isRunner(field.Type()) {
			out = append(out, flow.Path(field.Name()))
		}
	}
	return out
}

// strings returns the package's exported strings that mention locks.
func (f *finder) strings() []StringSummary {
	var out []StringSummary
	scope := f.pass.Pkg.Scope()
	for _, name := range scope.Names() {
		switch obj := scope.Lookup(name).(type) {
		case *types.Const:
			if obj.Exported() && obj.Val().Kind() == constant.String && sqltext.Mentions(constant.StringVal(obj.Val())) {
				out = append(out, StringSummary{Name: name})
			}
		case *types.Var:
			g := f.prog.Pkg.Var(name)
			if !obj.Exported() || g == nil || !flow.IsString(obj.Type()) {
				continue
			}
			s := StringSummary{Name: name}
			for _, t := range f.prog.ContentTexts(g) {
				if sqltext.Mentions(t.S) {
					s.Texts = append(s.Texts, t.S)
				}
			}
			if len(s.Texts) > 0 {
				out = append(out, s)
			}
		}
	}
	return out
}
