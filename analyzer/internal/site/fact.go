package site

import (
	"go/constant"
	"go/types"

	"golang.org/x/tools/go/analysis"

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
