package site

import (
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/pgadvisory/pgadvisory/analyzer/internal/flow"
)

// A mark names the origin of a pool: a value and a part of it, or a variable.
type mark struct {
	value ssa.Value
	path  flow.Path
	obj   types.Object
}

// findSingles marks the pools that the package limits to one connection.
func (f *finder) findSingles() {
	f.singles = map[mark]bool{}
	for _, instr := range f.calls {
		c := f.prog.Resolve(instr, nil)
		if c.Method == nil || c.Recv == nil || len(c.Args) != 1 || c.Method.Name() != "SetMaxOpenConns" {
			continue
		}
		if n, ok := flow.ConstInt(c.Args[0]); !ok || n != 1 {
			continue
		}
		f.markSingle(c.Recv)
	}
	for _, fn := range f.prog.Funcs {
		for _, b := range fn.Blocks {
			for _, instr := range b.Instrs {
				f.singleConfig(instr)
			}
		}
	}
}

// singleConfig marks pgxpool's configurations with MaxConns = 1.
func (f *finder) singleConfig(instr ssa.Instruction) {
	store, ok := instr.(*ssa.Store)
	if !ok {
		return
	}
	at, ok := store.Addr.(*ssa.FieldAddr)
	if !ok {
		return
	}
	if n, ok := flow.ConstInt(store.Val); !ok || n != 1 {
		return
	}
	name, ok := nameOf(at.X.Type())
	if !ok || name.name != "Config" && name.name != "ConnPoolConfig" || !strings.HasPrefix(name.path, "github.com/jackc/pgx") {
		return
	}
	if field := fieldAt(at); field == "MaxConns" || field == "MaxConnections" {
		f.markSingle(at.X)
	}
}

func fieldAt(at *ssa.FieldAddr) string {
	t := at.X.Type().Underlying()
	if ptr, ok := t.(*types.Pointer); ok {
		t = ptr.Elem().Underlying()
	}
	if s, ok := t.(*types.Struct); ok && at.Field < s.NumFields() {
		return s.Field(at.Field).Name()
	}
	return ""
}

func (f *finder) markSingle(v ssa.Value) {
	for _, l := range f.prog.Trace(v, "", nil) {
		if l.Value == nil {
			continue
		}
		f.singles[mark{value: l.Value, path: l.Path}] = true
		for _, obj := range l.Via {
			f.singles[mark{obj: obj}] = true
		}
		if field, _ := l.Field(); field != nil {
			f.singles[mark{obj: field}] = true
		}
	}
}

// single reports whether a pool has one connection.
func (f *finder) single(l flow.Leaf, depth int) bool {
	if l.Value == nil || depth >= maxHandleDepth {
		return false
	}
	if f.singles[mark{value: l.Value, path: l.Path}] {
		return true
	}
	for _, obj := range l.Via {
		if f.singles[mark{obj: obj}] {
			return true
		}
	}
	if field, _ := l.Field(); field != nil && f.singles[mark{obj: field}] {
		return true
	}
	if call, ok := l.Value.(*ssa.Call); ok && l.Path == "" {
		return f.singleCall(f.prog.Resolve(call, l.Frame), depth)
	}
	from := f.expand(l)
	for _, e := range from {
		if !f.single(e, depth+1) {
			return false
		}
	}
	return len(from) > 0
}

// singleCall reports whether a call opens a pool of one: by its configuration,
// its connection string, or because another package says so.
func (f *finder) singleCall(c *flow.Call, depth int) bool {
	if c.Method == nil {
		return false
	}
	if sum := f.summaryOf(c.Method); sum != nil && sum.Single {
		return true
	}
	for _, arg := range c.Operands() {
		if name, ok := nameOf(arg.Type()); ok && strings.HasPrefix(name.path, "github.com/jackc/pgx") && name.name != "Pool" {
			for _, l := range f.prog.Trace(arg, "", c.Frame) {
				if f.singles[mark{value: l.Value, path: l.Path}] {
					return true
				}
			}
		}
		if !flow.IsString(arg.Type()) {
			continue
		}
		for _, t := range f.prog.Texts(arg, c.Frame) {
			if singleDSN(t.S) {
				return true
			}
		}
	}
	return false
}

// singleDSN reports whether a connection string asks pgxpool for one
// connection.
func singleDSN(s string) bool {
	_, rest, ok := strings.Cut(s, "pool_max_conns=1")
	return ok && (rest == "" || rest[0] < '0' || rest[0] > '9')
}

// dedicated reports whether the function that opens a pool closes it too.
func (f *finder) dedicated(l flow.Leaf) bool {
	call, ok := l.Value.(*ssa.Call)
	if !ok || l.Frame != nil || l.Path != "" {
		return false
	}
	for _, instr := range f.closes[outermost(call.Parent())] {
		c := f.prog.Resolve(instr, nil)
		for _, o := range f.prog.Trace(c.Recv, "", nil) {
			if o.Value == l.Value && o.Path == "" {
				return true
			}
		}
	}
	return false
}
