package site

import (
	"golang.org/x/tools/go/ssa"

	"github.com/pgadvisory/pgadvisory/analyzer/internal/flow"
)

// opKind is what a call does to a connection besides running SQL.
type opKind uint8

const (
	noOp       opKind = iota
	giveBack          // the connection goes back to its pool, with its locks
	destroy           // the session ends, and its locks with it
	mayDestroy        // a callback decides
	mayFree           // SQL that is not known, or a function in it, may free locks
)

// An op is such a call, or one that reaches it through helpers.
type op struct {
	instr   ssa.CallInstruction
	kind    opKind
	handles []Handle
}

// opOf tells what a call does to its receiver.
func (f *finder) opOf(c *flow.Call) opKind {
	if c.Method == nil || c.Recv == nil || c.Fn != nil {
		return noOp
	}
	recv := typeOf(c.Recv.Type())
	if recv.role != connRole && recv.role != carryRole {
		return noOp
	}
	name, _ := nameOf(c.Recv.Type())
	switch c.Method.Name() {
	case "Release":
		return giveBack
	case "Hijack":
		return destroy
	case "Close":
		if recv.family == pgxFamily {
			return destroy // pgx.Conn, PgConn and stdlib.Conn are the session itself
		}
		return giveBack
	case "Raw":
		if name.name != "Conn" || len(c.Args) != 1 {
			return noOp
		}
		return f.rawOp(c)
	}
	return noOp
}

// rawOp tells whether the function given to (*sql.Conn).Raw makes the pool
// drop the connection.
func (f *finder) rawOp(c *flow.Call) opKind {
	fn := f.prog.Written(c.Args[0])
	if fn == nil {
		for _, l := range f.prog.Trace(c.Args[0], "", c.Frame) {
			fn = f.prog.Written(l.Value)
		}
	}
	if fn == nil {
		return mayDestroy
	}
	for _, b := range fn.Blocks {
		for _, instr := range b.Instrs {
			switch instr := instr.(type) {
			case *ssa.Return:
				for _, r := range instr.Results {
					for _, l := range f.prog.Trace(r, "", nil) {
						if g, ok := l.Value.(*ssa.Global); ok && g.Name() == "ErrBadConn" {
							return destroy
						}
					}
				}
			case ssa.CallInstruction:
				inner := f.prog.Resolve(instr, nil)
				if inner.Method != nil && inner.Method.Name() == "Close" && inner.Recv != nil {
					return destroy // of the driver's connection
				}
			}
		}
	}
	return noOp
}

// opsOf tells what a call does to connections: to its receiver, or as a helper
// of another package to its operands.
func (f *finder) opsOf(c *flow.Call) []pending {
	if kind := f.opOf(c); kind != noOp {
		return []pending{{kind, operand{c.Recv, "", c.Frame}}}
	}
	if c.Method == nil || c.Fn != nil {
		return nil
	}
	if out := f.unknownSQL(c); len(out) > 0 {
		return out
	}
	if c.Recv == nil && c.Method.Name() == "ReleaseConn" && len(c.Args) == 2 && libraries[unversioned(c.Method.Pkg().Path())] {
		return []pending{{giveBack, operand{c.Args[1], "", c.Frame}}} // stdlib's
	}
	sum := f.summaryOf(c.Method)
	if sum == nil {
		return nil
	}
	var out []pending
	operands := c.Operands()
	for _, o := range sum.Ops {
		if o.On.Operand < len(operands) {
			out = append(out, pending{opKind(o.Kind), operand{operands[o.On.Operand], o.On.Path, c.Frame}})
		}
	}
	return out
}

type pending struct {
	kind opKind
	on   operand
}

// visitOps looks for what a call does to a connection, seen from at.
func (f *finder) visitOps(call ssa.CallInstruction, frame *flow.Frame, at ssa.CallInstruction, level int) {
	fn := at.Parent()
	if frame != nil {
		fn = frame.Outermost().Call.Parent()
	}
	up, gives := false, false
	for _, o := range f.opsOf(f.prog.Resolve(call, frame)) {
		gives = gives || o.kind == giveBack
		handles := f.handlesOf(o.on.value, o.on.path, o.on.frame, 0)
		f.ops[at] = append(f.ops[at], &op{instr: at, kind: o.kind, handles: handles})
		for _, h := range handles {
			up = up || h.Origin.Param() != nil
		}
		f.exportOp(o, fn)
	}
	if !up || level >= maxLevels {
		return
	}
	for _, edge := range f.prog.Callers(fn) {
		if gives && dynamicCall(edge.Instr) {
			continue // one of many callbacks
		}
		if outer := flow.Enter(edge.Instr, edge.Args, fn, edge.Frame); outer != nil && f.climb() {
			f.visitOps(call, frame.Within(outer), edge.Instr, level+1)
		}
	}
}

// dynamicCall reports whether a call is that of a function value.
func dynamicCall(instr ssa.CallInstruction) bool {
	return !instr.Common().IsInvoke() && instr.Common().StaticCallee() == nil
}
