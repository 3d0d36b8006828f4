package site

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/pgadvisory/pgadvisory/analyzer/internal/flow"
	"github.com/pgadvisory/pgadvisory/analyzer/internal/sqltext"
)

// answerOf tells what becomes of the answer of a lock call.
func (f *finder) answerOf(e *execution, lock *sqltext.Call) Answer {
	a := Answer{}
	v := e.call.Value()
	switch e.form {
	case execForm:
		a.Known, a.Read = true, !lost(e, lock)
		a.Errs = errorsOf(v)
		if v == nil {
			break
		}
		counts, escapes := rowsCounted(v)
		a.Counted = len(counts) > 0
		if lock.Answer == sqltext.Filters {
			a.Read = a.Read || escapes || a.Counted
			a.Others = append(a.Others, counts...)
		}
	case rowForm, rowsForm:
		if e.answer != nil {
			v = e.answer
		}
		f.scanned(&a, v, e.form, lock)
	case destForm:
		a.Errs = errorsOf(v)
		if e.answer == nil && len(e.dests) > 0 {
			f.filled(&a, e.dests, lock, e.call.Instr)
		}
	default:
		a.Errs = errorsOf(v)
	}
	return a
}

// lost reports whether running a statement for its effect alone loses the
// answer.
func lost(e *execution, lock *sqltext.Call) bool {
	switch lock.Answer {
	case sqltext.Returned, sqltext.Filters:
		return true
	case sqltext.Dropped:
		return true
	case sqltext.Status:
		return !hasPointer(e.args) // go-mssqldb fills a *ReturnStatus
	}
	return false
}

// hasPointer reports whether one of the variadic arguments is a pointer.
func hasPointer(args []ssa.Value) bool {
	for _, a := range args {
		elements := []ssa.Value{a}
		if s, ok := a.(*ssa.Slice); ok {
			elements = (*flow.Program)(nil).Elements(s)
			if elements == nil {
				return true // not known
			}
		}
		for _, e := range elements {
			if _, ok := dynamic(e).Type().Underlying().(*types.Pointer); ok {
				return true
			}
			if name, ok := nameOf(dynamic(e).Type()); ok && name == (typeName{"database/sql", "Out"}) {
				return true
			}
			if name, ok := nameOf(dynamic(e).Type()); ok && name == (typeName{"database/sql", "NamedArg"}) {
				return true
			}
		}
	}
	return false
}

// errorsOf returns the errors among the results of a call, and of the results'
// Error field.
func errorsOf(v ssa.Value) []ssa.Value {
	if v == nil {
		return nil
	}
	var out []ssa.Value
	if isError(v.Type()) {
		out = append(out, v)
	}
	if v.Referrers() == nil {
		return out
	}
	for _, r := range *v.Referrers() {
		switch r := r.(type) {
		case *ssa.Extract:
			if isError(r.Type()) {
				out = append(out, r)
			}
		case *ssa.FieldAddr:
			if fieldAt(r) != "Error" || r.Referrers() == nil {
				continue
			}
			for _, load := range *r.Referrers() {
				if u, ok := load.(*ssa.UnOp); ok && isError(u.Type()) {
					out = append(out, u)
				}
			}
		}
	}
	return out
}

var errorType = types.Universe.Lookup("error").Type()

func isError(t types.Type) bool { return types.Identical(t, errorType) }

// rowsCounted returns the calls that ask a result how many rows there were. It
// reports as well whether the result goes where nothing is known.
func rowsCounted(v ssa.Value) (counts []ssa.Value, escapes bool) {
	results(v, func(r ssa.Value) {
		flow.Uses(r, func(use ssa.Instruction, _ ssa.Value) {
			switch use := use.(type) {
			case ssa.CallInstruction:
				switch calledName(use) {
				case "Close", "LastInsertId":
				case "RowsAffected":
					if v := use.Value(); v != nil {
						counts = append(counts, v)
					}
				default:
					escapes = true
				}
			case *ssa.FieldAddr: // gorm's RowsAffected
				escapes = escapes || fieldAt(use) == "RowsAffected"
			default:
				escapes = true
			}
		})
	})
	return counts, escapes
}

func calledName(call ssa.CallInstruction) string {
	common := call.Common()
	if common.IsInvoke() {
		return common.Method.Name()
	}
	if fn := common.StaticCallee(); fn != nil {
		return fn.Name()
	}
	return ""
}

// results calls f with the results of a call, errors left out.
func results(v ssa.Value, f func(ssa.Value)) {
	if _, ok := v.Type().(*types.Tuple); !ok {
		if !isError(v.Type()) {
			f(v)
		}
		return
	}
	for _, r := range *v.Referrers() {
		if x, ok := r.(*ssa.Extract); ok && !isError(x.Type()) {
			f(x)
		}
	}
}

// scanned follows a row, or rows, to the Scan that reads the answer.
func (f *finder) scanned(a *Answer, v ssa.Value, form form, lock *sqltext.Call) {
	a.Known = true
	if v == nil { // defer db.QueryRow(…)
		return
	}
	a.Errs = append(a.Errs, errorsOf(v)...)
	results(v, func(row ssa.Value) {
		flow.Uses(row, func(use ssa.Instruction, _ ssa.Value) {
			call, ok := use.(ssa.CallInstruction)
			if !ok {
				a.Read = true // it goes where nothing is known
				return
			}
			c := f.prog.Resolve(call, nil)
			if c.Method == nil || c.Recv == nil || !refersTo(c.Recv, row) {
				a.Read = a.Read || !collectsUnread(c)
				a.Errs = append(a.Errs, errorsOf(c.Value())...)
				if v := c.Value(); v != nil {
					a.Others = append(a.Others, v)
				}
				return
			}
			switch c.Method.Name() {
			case "Scan":
				a.Errs = append(a.Errs, errorsOf(c.Value())...)
				if len(c.Args) == 1 {
					f.filled(a, f.prog.Elements(c.Args[0]), lock, call)
				}
			case "Err", "Close":
				a.Errs = append(a.Errs, errorsOf(c.Value())...)
			case "Next":
				if lock.Answer == sqltext.Filters {
					a.Read = true
				}
			case "NextResultSet", "Columns", "ColumnTypes", "FieldDescriptions", "CommandTag", "Conn", "RawValues":
			default: // ScanStruct, Values, MapScan, …
				a.Read = true
				a.Errs = append(a.Errs, errorsOf(c.Value())...)
			}
		})
	})
	if form == rowForm && lock.Answer == sqltext.Filters && len(a.Errs) > 0 {
		a.Read = true // no row is an error
	}
}

// collectsUnread reports whether a call is one of pgx's that read rows into a
// result, and nothing looks at that.
func collectsUnread(c *flow.Call) bool {
	if c.Method == nil || c.Recv != nil || c.Method.Pkg() == nil || unversioned(c.Method.Pkg().Path()) != "github.com/jackc/pgx" {
		return false
	}
	switch c.Method.Name() {
	case "CollectOneRow", "CollectExactlyOneRow", "CollectRows":
	default:
		return false
	}
	read := false
	if v := c.Value(); v != nil {
		results(v, func(r ssa.Value) { read = read || len(*r.Referrers()) > 0 })
	}
	return !read
}

// refersTo reports whether v is another name of row.
func refersTo(v, row ssa.Value) bool {
	for range 8 {
		if v == row {
			return true
		}
		switch x := v.(type) {
		case *ssa.ChangeInterface:
			v = x.X
		case *ssa.MakeInterface:
			v = x.X
		case *ssa.ChangeType:
			v = x.X
		case *ssa.Phi, *ssa.UnOp:
			return true // found by following row
		default:
			return false
		}
	}
	return false
}

// filled tells whether the variable that the answer is written to is read.
func (f *finder) filled(a *Answer, dests []ssa.Value, lock *sqltext.Call, fill ssa.Instruction) {
	a.Known = true
	if lock.Answer != sqltext.Returned {
		a.Read = a.Read || lock.Answer != sqltext.Dropped
		for _, d := range dests {
			cell := flow.Variable(dynamic(d))
			if len(dests) == 1 && lock.Func.Dialect != sqltext.PostgreSQL {
				a.Cells = append(a.Cells, cell) // SELECT of the variable with the status
			} else {
				a.Others = append(a.Others, cell)
			}
		}
		return
	}
	if lock.Column >= 0 && lock.Column < len(dests) {
		dests = dests[lock.Column : lock.Column+1]
	}
	if len(dests) == 0 {
		a.Read = true
		return
	}
	for _, d := range dests {
		cell := dynamic(d)
		a.Cells = append(a.Cells, cell)
		if v := flow.Variable(cell); v != cell {
			a.Cells = append(a.Cells, v)
		}
		if flow.Read(cell, map[ssa.Instruction]bool{fill: true}) {
			a.Read = true
		}
	}
}
