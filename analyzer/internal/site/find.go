package site

import (
	"go/ast"
	"go/token"
	"sort"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/pgadvisory/pgadvisory/analyzer/internal/flow"
	"github.com/pgadvisory/pgadvisory/analyzer/internal/sqltext"
)

// A finder looks for the sites of one package.
type finder struct {
	pass *analysis.Pass
	prog *flow.Program

	embeds    embeds
	summaries map[string]*FuncSummary // of imported packages' functions
	own       map[string]*FuncSummary // of this package's

	syntax  map[token.Pos]*ast.CallExpr // by the left parenthesis
	calls   []ssa.CallInstruction
	queues  []ssa.CallInstruction                   // of pgx's Batch
	closes  map[*ssa.Function][]ssa.CallInstruction // of pools, by the outermost function around them
	begins  map[*ssa.Function]bool                  // the outermost functions that begin a transaction by hand
	singles map[mark]bool

	ops     map[ssa.CallInstruction][]*op
	byInstr map[ssa.CallInstruction][]*Site
	kept    map[*ssa.Parameter]bool // whether the function stores it
	worked  map[*ssa.Function]int   // what its locks have cost
	freers  map[*ssa.Function]bool  // whether a function frees any lock
	freeing map[string]bool         // whether a text may free locks out of sight

	climbs     budget // callers that calls are looked at from
	expansions budget // parameters that are followed to the callers
	blind      bool   // some callers were not looked at

	parsed map[parseKey][]sqltext.Statement
	sites  []*Site
	seen   map[siteKey]bool
}

type siteKey struct {
	instr ssa.CallInstruction
	text  string
	lock  int
	param int
}

type parseKey struct {
	text string
	frag bool
}

func run(pass *analysis.Pass) (any, error) {
	res := new(Result)
	if libraries[unversioned(pass.Pkg.Path())] {
		return res, nil
	}
	f := &finder{
		pass:       pass,
		summaries:  imported(pass),
		own:        map[string]*FuncSummary{},
		parsed:     map[parseKey][]sqltext.Statement{},
		seen:       map[siteKey]bool{},
		ops:        map[ssa.CallInstruction][]*op{},
		kept:       map[*ssa.Parameter]bool{},
		worked:     map[*ssa.Function]int{},
		climbs:     budget{perCall: 4000, perPackage: 30_000},
		expansions: budget{perCall: 10_000, perPackage: 50_000},
		freers:     map[*ssa.Function]bool{},
		freeing:    map[string]bool{},
	}
	matters := scan(pass, res, &f.embeds)
	if !matters && !f.usesImported() {
		return res, nil
	}
	prog, err := flow.Build(pass)
	if err != nil {
		return nil, err
	}
	f.prog = prog
	prog.Extern = f.extern
	prog.ExternString = f.externString
	prog.ExternTexts = f.externTexts
	f.index()
	f.spreadBegins()
	f.findSingles()
	for _, call := range f.calls {
		f.next()
		f.visit(call, nil, call, nil, 0)
	}
	for _, call := range f.calls {
		f.next()
		f.visitOps(call, nil, call, 0)
	}
	res.Held = f.findHeld()
	f.summarize()
	sort.SliceStable(f.sites, func(i, j int) bool { return f.sites[i].Pos < f.sites[j].Pos })
	res.Sites = f.sites
	return res, nil
}

func (f *finder) index() {
	f.syntax = map[token.Pos]*ast.CallExpr{}
	for _, file := range f.pass.Files {
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				f.syntax[call.Lparen] = call
			}
			return true
		})
	}
	f.closes = map[*ssa.Function][]ssa.CallInstruction{}
	f.begins = map[*ssa.Function]bool{}
	for _, fn := range f.prog.Funcs {
		for _, b := range fn.Blocks {
			for _, instr := range b.Instrs {
				if call, ok := instr.(ssa.CallInstruction); ok {
					f.calls = append(f.calls, call)
					f.indexCall(call)
				}
			}
		}
	}
}

func (f *finder) indexCall(call ssa.CallInstruction) {
	if begins(call.Common()) {
		f.begins[outermost(call.Parent())] = true
	}
	callee := call.Common().StaticCallee()
	if callee == nil || callee.Signature.Recv() == nil {
		return
	}
	switch callee.Name() {
	case "Queue":
		if typeOf(callee.Signature.Recv().Type()).role == batchRole {
			f.queues = append(f.queues, call)
		}
	case "Close":
		if typeOf(callee.Signature.Recv().Type()).role == poolRole {
			f.closes[outermost(call.Parent())] = append(f.closes[outermost(call.Parent())], call)
		}
	}
}

// handles returns what may run an execution.
func (f *finder) handles(e *execution) []Handle {
	if e.fixed != nil {
		return []Handle{*e.fixed}
	}
	handles := f.handlesOf(e.handle.value, e.handle.path, e.handle.frame, 0)
	for i := range handles {
		h := &handles[i]
		switch h.Kind {
		case Unknown:
			if f.outside(e, h.Origin) {
				h.Kind = Pool
			}
		case Conn:
			h.MayBegin = f.mayBegin(h.Origin, 0)
		case Single:
			h.MayBegin = len(f.begins) > 0
		}
	}
	return handles
}

func locks(statements []sqltext.Statement) bool {
	for i := range statements {
		if len(statements[i].Calls) > 0 {
			return true
		}
	}
	return false
}

// parse parses a text that mentions a lock function.
func (f *finder) parse(text string, frag bool) []sqltext.Statement {
	if !sqltext.Mentions(text) {
		return nil
	}
	key := parseKey{text, frag}
	if s, ok := f.parsed[key]; ok {
		return s
	}
	var s []sqltext.Statement
	if frag {
		if calls := sqltext.ParseExpr(text); len(calls) > 0 {
			s = []sqltext.Statement{{Verb: "SELECT", Calls: calls, Open: true}}
		}
	} else {
		s = sqltext.Parse(text)
	}
	f.parsed[key] = s
	return s
}

// make makes the sites of one text.
func (f *finder) make(e *execution, t flow.Text, statements []sqltext.Statement, handles []Handle, at ssa.CallInstruction, was view, level int) {
	for i := range statements {
		for j := range statements[i].Calls {
			lock := &statements[i].Calls[j]
			key := siteKey{at, t.S, lock.Pos, was.param}
			if f.seen[key] {
				continue
			}
			f.seen[key] = true
			s := &Site{
				Lock:      lock,
				Statement: &statements[i],
				Alone:     len(statements) == 1,
				Text:      t.S,
				Instr:     at,
				Fn:        at.Parent(),
				Handles:   handles,
				Unsent:    e.unsent,
				Deep:      was.text && was.handle,
				run:       e,
			}
			if !was.text {
				s.Answer = f.answerOf(e, lock)
			}
			f.place(s, was, level)
			if lock.Scope == sqltext.Session && len(f.singles) > 0 {
				f.moveToHandIns(s)
			}
			f.sites = append(f.sites, s)
		}
	}
}
