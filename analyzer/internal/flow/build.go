// Package flow follows values through the functions of one package: from a
// use back to where the value came from, through variables, struct fields,
// closures, interfaces and calls.
//
// It knows nothing of locks. What a call of another package does with its
// operands is asked of [Program.Extern].
package flow

import (
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/buildssa"
	"golang.org/x/tools/go/analysis/passes/ctrlflow"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/ssa"
)

// A Program is the SSA form of one package with the indexes that following a
// value takes.
type Program struct {
	Pkg   *ssa.Package
	Funcs []*ssa.Function // with a body: declared functions, initializers, closures

	// Extern, if not nil, tells what a result of a call comes from whose body
	// is not in the package. See [Extern].
	Extern Extern

	// ExternString, if not nil, returns the values of a string variable that
	// the package does not set, or nil if they are not known.
	ExternString func(*types.Var) []Text

	// ExternTexts, if not nil, returns the values of a call that this package
	// does not know, or nil.
	ExternTexts func(*Call) []Text

	globals map[*ssa.Global][]ssa.Instruction // uses
	fields  map[*types.Var][]*ssa.Store       // by field of a struct type
	sites   []ssa.CallInstruction             // every call, in source order

	calls     *callIndex
	traced    map[traceKey][]Leaf
	resolving map[ssa.CallInstruction]bool
	nested    int // questions within questions
	steps     int // of the outermost question and all within
	cuts      int // how often something was not looked into

	readers    int // texts within texts
	reads      int // of the outermost text and all within
	fieldTexts map[*types.Var]bool
}

// An Extern tells what a result of an external call comes from, field by
// field: known is false if that is not known.
type Extern func(call *Call, result int, path Path) (from []Ref, known bool)

// A Ref names a part of a call's operand: 0 is the receiver, if there is one.
type Ref struct {
	Operand int
	Path    Path
}

// Build builds the SSA form of the pass's package.
//
// The analyzers buildssa and ctrlflow are run here and not required by the
// caller: ctrlflow has facts, so requiring it would build a control-flow graph
// of every function of every dependency, standard library included.
func Build(pass *analysis.Pass) (*Program, error) {
	inner := *pass
	inner.ImportObjectFact = func(obj types.Object, _ analysis.Fact) bool { return neverReturns(obj) }
	inner.ExportObjectFact = func(types.Object, analysis.Fact) {}
	inner.ResultOf = map[*analysis.Analyzer]any{inspect.Analyzer: inspector.New(pass.Files)}
	inner.Analyzer = ctrlflow.Analyzer
	graphs, err := ctrlflow.Analyzer.Run(&inner)
	if err != nil {
		return nil, err
	}
	inner.ResultOf[ctrlflow.Analyzer] = graphs
	inner.Analyzer = buildssa.Analyzer
	built, err := buildssa.Analyzer.Run(&inner)
	if err != nil {
		return nil, err
	}
	p := &Program{
		Pkg:       built.(*buildssa.SSA).Pkg,
		globals:   map[*ssa.Global][]ssa.Instruction{},
		fields:    map[*types.Var][]*ssa.Store{},
		traced:    map[traceKey][]Leaf{},
		resolving: map[ssa.CallInstruction]bool{},

		fieldTexts: map[*types.Var]bool{},
	}
	if init := p.Pkg.Func("init"); init != nil {
		p.add(init)
	}
	for _, fn := range built.(*buildssa.SSA).SrcFuncs {
		if fn.Parent() == nil {
			p.add(fn)
		}
	}
	return p, nil
}

func (p *Program) add(fn *ssa.Function) {
	if len(fn.Blocks) > 0 {
		p.Funcs = append(p.Funcs, fn)
		p.index(fn)
	}
	for _, anon := range fn.AnonFuncs {
		p.add(anon)
	}
}

func (p *Program) index(fn *ssa.Function) {
	var space [8]*ssa.Value
	for instr := range instructions(fn) {
		if call, ok := instr.(ssa.CallInstruction); ok {
			p.sites = append(p.sites, call)
		}
		if store, ok := instr.(*ssa.Store); ok {
			if at, ok := store.Addr.(*ssa.FieldAddr); ok {
				if field := fieldOf(at.X.Type(), at.Field); field != nil {
					p.fields[field] = append(p.fields[field], store)
				}
			}
		}
		for _, op := range instr.Operands(space[:0]) {
			if g, ok := (*op).(*ssa.Global); ok {
				p.globals[g] = append(p.globals[g], instr)
			}
		}
	}
}

// neverReturns stands in for the facts that ctrlflow would have had about the
// functions of other packages.
func neverReturns(obj types.Object) bool {
	fn, ok := obj.(*types.Func)
	if !ok || fn.Pkg() == nil {
		return false
	}
	switch fn.Pkg().Path() {
	case "os":
		return fn.Name() == "Exit"
	case "log":
		switch fn.Name() {
		case "Fatal", "Fatalf", "Fatalln", "Panic", "Panicf", "Panicln":
			return true
		}
	case "testing":
		switch fn.Name() {
		case "Fatal", "Fatalf", "FailNow", "Skip", "Skipf", "SkipNow":
			return true
		}
	case "github.com/sirupsen/logrus":
		switch fn.Name() {
		case "Fatal", "Fatalf", "Fatalln", "Panic", "Panicf", "Panicln", "Exit":
			return true
		}
	case "github.com/stretchr/testify/require":
		return fn.Name() == "FailNow" || fn.Name() == "Fail"
	}
	return false
}
