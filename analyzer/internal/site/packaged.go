package site

import (
	"go/types"

	"github.com/pgadvisory/pgadvisory/analyzer/internal/flow"
)

// isSqlx reports whether a function is one of sqlx's.
func isSqlx(fn *types.Func) bool {
	return fn.Pkg() != nil && unversioned(fn.Pkg().Path()) == "github.com/jmoiron/sqlx"
}

// packaged is a call of a function of sqlx that has the handle as an argument:
// sqlx.GetContext(ctx, db, &dest, query).
func (f *finder) packaged(c *flow.Call) []*execution {
	form := forms[c.Method.Name()]
	text := textParam(c)
	if !isSqlx(c.Method) || form == noForm || text < 1 {
		return nil
	}
	handle := 0
	if isContext(c.Args[0].Type()) {
		handle = 1
	}
	if handle >= text {
		return nil
	}
	e := &execution{
		call:   c,
		form:   form,
		handle: operand{c.Args[handle], "", c.Frame},
		texts:  f.prog.Texts(c.Args[text], c.Frame),
		text:   operand{c.Args[text], "", c.Frame},
		args:   c.Args[text+1:],
	}
	if form == destForm && text-1 > handle {
		e.dests = c.Args[text-1 : text]
	}
	return []*execution{e}
}
