package site

import (
	"go/constant"
	"go/types"
	"sort"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/pgadvisory/pgadvisory/analyzer/internal/flow"
	"github.com/pgadvisory/pgadvisory/analyzer/internal/sqltext"
)

// A Summary is the fact about a package that its importers need. Only a
// package in which something mentions locks has one.
type Summary struct {
	Funcs   []FuncSummary
	Strings []StringSummary
}

// AFact makes Summary a fact.
func (*Summary) AFact() {}

func (*Summary) String() string { return "locks" }

// A FuncSummary is what callers have to know of a function.
type FuncSummary struct {
	Name   string // as types.Func.FullName has it
	Runs   []Run
	Ops    []Op
	Parts  []Part
	Single bool // its first result is a pool of one
}

// An Op is what a function does to a connection of its caller besides running
// SQL: it closes it, or ends its session.
type Op struct {
	Kind uint8
	On   flow.Ref
}

// A Run is SQL that a function runs for its caller: the caller decides on the
// handle, or on the text.
type Run struct {
	Handle flow.Ref
	Kind   Kind // of a handle that is not the caller's
	Fixed  bool // the handle is not the caller's
	Typed  bool // the handle's type says what it is, and its package has been told
	Texts  []string
	Text   flow.Ref // if Texts is empty
}

// A Part is a part of a result that comes from the function's operands.
type Part struct {
	Result int
	Path   flow.Path
	From   []flow.Ref
}

// A StringSummary is a package-level string that mentions a lock function.
type StringSummary struct {
	Name  string
	Texts []string // empty for a constant, whose value is no secret
}

// imported returns what is known of the functions of other packages.
func imported(pass *analysis.Pass) map[string]*FuncSummary {
	var all map[string]*FuncSummary
	for _, fact := range pass.AllPackageFacts() {
		sum, ok := fact.Fact.(*Summary)
		if !ok || fact.Package == pass.Pkg {
			continue
		}
		if all == nil {
			all = map[string]*FuncSummary{}
		}
		for i := range sum.Funcs {
			all[sum.Funcs[i].Name] = &sum.Funcs[i]
		}
		for _, s := range sum.Strings {
			key := fact.Package.Path() + "." + s.Name
			all[key] = &FuncSummary{Name: key, Runs: []Run{{Texts: s.Texts}}}
		}
	}
	return all
}

// summaryOf returns what is known of a function of another package, or nil.
func (f *finder) summaryOf(fn *types.Func) *FuncSummary {
	if len(f.summaries) == 0 || fn.Pkg() == f.pass.Pkg {
		return nil
	}
	return f.summaries[fn.Origin().FullName()]
}

// usesImported reports whether the package uses something of another one that
// has to do with locks.
func (f *finder) usesImported() bool {
	if len(f.summaries) == 0 {
		return false
	}
	for _, obj := range f.pass.TypesInfo.Uses {
		if obj.Pkg() == nil || obj.Pkg() == f.pass.Pkg {
			continue
		}
		switch obj := obj.(type) {
		case *types.Func:
			if s := f.summaryOf(obj); s != nil && len(s.Runs) > 0 {
				return true
			}
		case *types.Const:
			if obj.Val().Kind() == constant.String && sqltext.Mentions(constant.StringVal(obj.Val())) {
				return true
			}
		case *types.Var:
			if !obj.IsField() && f.summaries[obj.Pkg().Path()+"."+obj.Name()] != nil {
				return true
			}
		}
	}
	return false
}

// helperRuns returns what a helper of another package runs for a call.
func (f *finder) helperRuns(c *flow.Call, sum *FuncSummary) []*execution {
	operands := c.Operands()
	var out []*execution
	for i := range sum.Runs {
		r := &sum.Runs[i]
		e := &execution{call: c, form: freeForm, helper: r}
		switch {
		case r.Fixed:
			e.fixed = &Handle{Kind: r.Kind}
		case r.Handle.Operand < len(operands):
			e.handle = operand{operands[r.Handle.Operand], r.Handle.Path, c.Frame}
		default:
			continue
		}
		for _, t := range r.Texts {
			e.texts = append(e.texts, flow.Text{S: t})
		}
		if len(r.Texts) == 0 && r.Text.Operand < len(operands) {
			e.text = operand{operands[r.Text.Operand], r.Text.Path, c.Frame}
			e.texts = f.prog.TextsAt(e.text.value, e.text.path, c.Frame)
		}
		out = append(out, e)
	}
	return out
}

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
