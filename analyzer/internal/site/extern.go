package site

import (
	"go/types"

	"github.com/pgadvisory/pgadvisory/analyzer/internal/flow"
)

// extern tells what a result of another package's function is a part of: the
// libraries' ways to the same session by another name, and what the summaries
// of packages say.
func (f *finder) extern(c *flow.Call, result int, path flow.Path) ([]flow.Ref, bool) {
	if result == 0 && (path == "" || embedding[path]) {
		if i, ok := sameSession(c); ok {
			return []flow.Ref{{Operand: i}}, true
		}
	}
	sum := f.summaryOf(c.Method)
	if sum == nil {
		return nil, false
	}
	var out []flow.Ref
	for _, p := range sum.Parts {
		if p.Result != result {
			continue
		}
		rest, ok := path.After(p.Path)
		if !ok {
			continue
		}
		for _, ref := range p.From {
			out = append(out, flow.Ref{Operand: ref.Operand, Path: ref.Path.Join(rest)})
		}
	}
	return out, len(out) > 0
}

// embedding are the handles that sqlx and bun embed in theirs.
var embedding = map[flow.Path]bool{"DB": true, "Conn": true, "Tx": true}

// sameSession reports whether a call of a library only gives one of its
// operands another name or type, and which.
func sameSession(c *flow.Call) (operand int, ok bool) {
	name := c.Method.Name()
	if c.Recv == nil {
		if c.Method.Pkg() == nil {
			return 0, false
		}
		switch unversioned(c.Method.Pkg().Path()) + "." + name {
		case "github.com/jmoiron/sqlx.NewDb", "github.com/uptrace/bun.NewDB", "github.com/jackc/pgx/stdlib.OpenDBFromPool":
			return 0, true
		}
		return 0, false
	}
	recv := typeOf(c.Recv.Type())
	switch recv.role {
	case chainRole:
		if name == "DB" {
			return 0, true
		}
		results := c.Method.Signature().Results()
		return 0, name != "Begin" && results.Len() == 1 && typeOf(results.At(0).Type()).role == chainRole
	case connRole, txRole:
		// pgxpool's Conn.Conn, Tx.Conn, pgx's Conn.PgConn.
		return 0, recv.family == pgxFamily && (name == "Conn" || name == "PgConn")
	case carryRole:
		return 0, name == "Conn"
	case poolRole:
		switch name {
		case "Unsafe", "WithNamedArg", "WithQueryHook":
			return 0, true
		}
	}
	return 0, false
}

// externString returns the values of a string variable that the package does
// not set: another package's, or one that a file is embedded in.
func (f *finder) externString(v *types.Var) []flow.Text {
	if text, ok := f.embeds.vars[v]; ok {
		return []flow.Text{{S: text}}
	}
	if len(f.summaries) == 0 || v.Pkg() == nil {
		return nil
	}
	sum := f.summaries[v.Pkg().Path()+"."+v.Name()]
	if sum == nil {
		return nil
	}
	var out []flow.Text
	for _, r := range sum.Runs {
		for _, t := range r.Texts {
			out = append(out, flow.Text{S: t})
		}
	}
	return out
}
