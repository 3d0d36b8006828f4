// Package site finds the places of a package that take or free a lock.
//
// The analyzer in it is the pre-pass on which all rules stand. A package that
// mentions no lock function, and calls no helper that runs one, costs one look
// at its literals; only then is SSA built.
package site

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/pgadvisory/pgadvisory/analyzer/internal/flow"
	"github.com/pgadvisory/pgadvisory/analyzer/internal/sqltext"
)

// Analyzer is the pre-pass; its result is the package's [Result].
var Analyzer = &analysis.Analyzer{
	Name:       "locksites",
	Doc:        "locksites: find the calls that take or free database locks",
	Run:        run,
	ResultType: reflect.TypeFor[*Result](),
	FactTypes:  []analysis.Fact{new(Summary)},
}

// A Result is what a package does with locks.
type Result struct {
	// Sites are in the order of the source. There is none in a package that
	// does nothing with locks.
	Sites []*Site

	// Directives are the package's ignore comments.
	Directives []*Directive

	// Held are the session-level locks that are not freed as they should.
	Held []*Held
}

// A Site is one call of a lock function in the SQL that one Go call runs. A
// call that may run several texts, or a text with several lock calls in it,
// has several sites.
type Site struct {
	Lock      *sqltext.Call      // the lock function's call
	Statement *sqltext.Statement // around it; nil in a builder's fragment
	Alone     bool               // the text has no other statement
	Text      string

	Instr ssa.CallInstruction // the Go call: the one that runs the SQL, or that hands the handle or the text to a helper
	Fn    *ssa.Function       // the function around Instr
	Call  *ast.CallExpr       // Instr's syntax; nil if there is none
	Pos   token.Pos           // where to report
	End   token.Pos

	// Handles are what may run the SQL. Several are alternatives.
	Handles []Handle
	Name    string // of the handle, as the source spells it; "" if it does not
	Behind  bool   // Name is that of a value which has the handle in it

	// NameType is the type of the expression that Name spells, or nil if it is
	// not known. It may be there without a Name.
	NameType types.Type

	// Helper is the function that runs the SQL for Instr, or nil.
	Helper string

	// Deep reports that the handle's type told already, at a site within the
	// helper, what there is to say of the handle alone.
	Deep bool

	// Unsent reports that the text is never sent: gorm's Raw without a
	// finisher.
	Unsent bool

	Ctx    ssa.Value // the context of the call, or nil
	Answer Answer

	run *execution
}

// Is reports whether what the lock's function does is one of ops.
func (s *Site) Is(ops ...sqltext.Op) bool {
	for _, op := range ops {
		if s.Lock.Func.Op == op {
			return true
		}
	}
	return false
}

// On reports whether all the handles that may run the SQL are of these kinds.
func (s *Site) On(kinds ...Kind) bool {
	if len(s.Handles) == 0 {
		return false
	}
	for _, h := range s.Handles {
		ok := false
		for _, k := range kinds {
			ok = ok || h.Kind == k
		}
		if !ok {
			return false
		}
	}
	return true
}

// Kind says what a handle is.
type Kind uint8

// The kinds of handles.
const (
	Unknown Kind = iota // nothing in reach pins it down
	Pool                // statements may reach any of several sessions
	Single              // a pool of one, or one that the function opens and closes itself
	Conn                // one session
	Tx                  // one transaction
	Batch               // an implicit transaction
)

func (k Kind) String() string {
	return [...]string{"unknown", "pool", "single", "connection", "transaction", "batch"}[k]
}

// A Handle is something that runs SQL.
type Handle struct {
	Kind Kind
	Type string // as Go spells it

	// Base is what a transaction was begun on, or a connection taken from.
	Base Kind

	// Dedicated reports that a connection is closed, and does not go back to
	// a pool, when its owner is done with it.
	Dedicated bool

	// MayBegin reports that a transaction may be open on a connection, begun
	// with a statement of its own or by somebody else.
	MayBegin bool

	// Origin is where the handle comes from.
	Origin flow.Leaf

	// begun are the values that Base stands for.
	begun []Handle
	open  bool // a caller knows more
}

// An Answer is what becomes of a lock function's answer in the Go code.
type Answer struct {
	// Known reports that the rest is to be believed.
	Known bool

	// Read reports whether something looks at the answer.
	Read bool

	// Cells are the variables that it is scanned into.
	Cells []ssa.Value

	// Counted reports that the rows are counted. Unless a row is there only if
	// the lock was taken, that is not to look at the answer.
	Counted bool

	// Others are results of calls and variables that the answer may be in, in
	// some form.
	Others []ssa.Value

	// Errs are the errors that tell that the statement failed.
	Errs []ssa.Value
}

// A Directive is one //advisorylint:ignore comment, or one that is meant to be.
type Directive struct {
	Comment *ast.Comment
	Rules   []string
	Reason  string
	Spaced  bool // there is space before the word, which makes it no directive

	file       string
	first, end int // the lines it speaks of
}
