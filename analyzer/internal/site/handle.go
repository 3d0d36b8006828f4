package site

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/pgadvisory/pgadvisory/analyzer/internal/flow"
)

// maxHandleDepth bounds handles that come from handles.
const maxHandleDepth = 6

// handlesOf tells what a value, or a part of it, is that runs SQL.
func (f *finder) handlesOf(v ssa.Value, path flow.Path, frame *flow.Frame, depth int) []Handle {
	var out []Handle
	static := typeOf(flow.TypeAt(v.Type(), path))
	for _, l := range f.prog.Trace(v, path, frame) {
		if c, ok := l.Value.(*ssa.Const); ok && c.Value == nil {
			continue // nil runs nothing
		}
		if c := f.handedBy(l); c != nil && c.Method.Name() == "Raw" && c.Recv != nil {
			out = append(out, f.from(c, c.Recv, depth)...) // the driver's side of a connection
			continue
		}
		if embedding[l.Path] && isHandle((flow.Leaf{Value: l.Value, Result: l.Result}).Type()) {
			l.Path = "" // sqlx's and bun's own types have the handle in them
		}
		h := f.handle(l, static, depth)
		h.Origin = l
		if h.open {
			if stored := f.stored(l, depth); stored != nil {
				out = append(out, stored...)
				continue
			}
		}
		if h.Type == "" {
			h.Type = typeString(flow.TypeAt(v.Type(), path), f.pass.Pkg)
		}
		out = append(out, h)
	}
	return out
}

// handle tells what a leaf is. static is the type of the expression that led
// to it.
func (f *finder) handle(l flow.Leaf, static handleType, depth int) Handle {
	own := typeOf(l.Type())
	role := static.role
	if role == noRole || role == chainRole || role == carryRole || role == connRole && own.role == txRole {
		role = own.role
	}
	h := Handle{}
	if own.role != noRole {
		h.Type = typeString(l.Type(), f.pass.Pkg)
	}
	switch role {
	case poolRole:
		h.Kind = Pool
		if f.single(l, depth) || f.dedicated(l) {
			h.Kind = Single
		}
	case connRole:
		h.Kind = Conn
		f.connOrigin(&h, l, depth)
	case txRole:
		h.Kind = Tx
		f.txOrigin(&h, l, depth)
	case chainRole:
		f.chain(&h, l, depth)
	default:
		h.open = l.Param() != nil
	}
	return h
}

// from returns the handles that a call's operand is.
func (f *finder) from(c *flow.Call, v ssa.Value, depth int) []Handle {
	if v == nil || depth >= maxHandleDepth {
		return nil
	}
	return f.handlesOf(v, "", c.Frame, depth+1)
}

// kindOf returns the kind that all of several handles are.
func kindOf(handles []Handle) Kind {
	if len(handles) == 0 {
		return Unknown
	}
	for _, h := range handles[1:] {
		if h.Kind != handles[0].Kind {
			return Unknown
		}
	}
	return handles[0].Kind
}

// connOrigin fills in where a connection comes from.
func (f *finder) connOrigin(h *Handle, l flow.Leaf, depth int) {
	if call, ok := l.Value.(*ssa.Call); ok {
		c := f.prog.Resolve(call, l.Frame)
		if c.Method == nil {
			return
		}
		switch c.Method.Name() {
		case "Conn", "Connx", "Acquire": // from a pool
			h.begun = f.from(c, c.Recv, depth)
			h.Base = kindOf(h.begun)
		case "AcquireConn": // stdlib's
			h.Base = Pool
		case "Hijack", "Connect", "ConnectConfig", "ConnectWithOptions", "Construct":
			h.Dedicated = true
		}
		return
	}
	if c := f.handedBy(l); c != nil {
		switch c.Method.Name() {
		case "AcquireFunc", "Connection":
			h.begun = f.from(c, c.Recv, depth)
			h.Base = Pool
		}
	}
}

// txOrigin fills in what a transaction was begun on.
func (f *finder) txOrigin(h *Handle, l flow.Leaf, depth int) {
	if depth >= maxHandleDepth {
		return
	}
	if call, ok := l.Value.(*ssa.Call); ok {
		c := f.prog.Resolve(call, l.Frame)
		if c.Method != nil && c.Recv != nil {
			h.begun = f.base(f.from(c, c.Recv, depth))
			h.Base = kindOf(h.begun)
		}
		return
	}
	if c := f.handedBy(l); c != nil {
		// pgx.BeginFunc(ctx, db, fn), bun's db.RunInTx(ctx, opts, fn).
		from := c.Recv
		if from == nil && len(c.Args) > 1 {
			from = c.Args[1]
		}
		h.begun = f.base(f.from(c, from, depth))
		h.Base = kindOf(h.begun)
		return
	}
	h.begun = f.expanded(l, depth, func(h Handle) []Handle { return h.begun })
	h.Base = kindOf(h.begun)
}

// base returns what transactions among the handles were begun on, since a
// transaction in a transaction is a part of it.
func (f *finder) base(handles []Handle) []Handle {
	var out []Handle
	for _, h := range handles {
		if h.Kind == Tx {
			out = append(out, h.begun...)
			if len(h.begun) == 0 {
				out = append(out, Handle{})
			}
			continue
		}
		out = append(out, h)
	}
	return out
}

// expanded returns what the callers in the package, or the constructors that
// fill the field, make of a leaf that is a parameter. get picks from each.
// If one of them does not know, there is an unknown handle among the result.
func (f *finder) expanded(l flow.Leaf, depth int, get func(Handle) []Handle) []Handle {
	if depth >= maxHandleDepth || l.Value == nil {
		return nil
	}
	var out []Handle
	for _, e := range f.expand(l) {
		h := f.handle(e, typeOf(l.Type()), depth+1)
		h.Origin = e
		got := get(h)
		if len(got) == 0 {
			got = []Handle{{}}
		}
		out = append(out, got...)
	}
	return out
}

// expand follows a leaf that is a parameter, or a part of one, into the
// package's callers; a part that no caller tells, to the stores in its field.
func (f *finder) expand(l flow.Leaf) []flow.Leaf {
	if !f.expansions.take() {
		f.blind = true
		return nil
	}
	param := l.Param()
	if l.Path != "" {
		if field, rest := l.Field(); field != nil {
			if leaves, ok := f.prog.FieldStores(field, rest); ok {
				return leaves
			}
		}
	}
	if param == nil {
		return nil
	}
	i := paramIndex(param)
	if i < 0 {
		return nil
	}
	var out []flow.Leaf
	for _, e := range f.prog.Users(param.Parent()) {
		out = append(out, f.prog.Trace(e.Args[i], l.Path, e.Frame)...)
	}
	return out
}

// stored tells what a struct's field holds, which is all that is known of a
// part of a parameter: whatever the package stores there, in constructors. It
// returns nil unless all of that is of one kind.
func (f *finder) stored(l flow.Leaf, depth int) []Handle {
	field, rest := l.Field()
	if field == nil || depth >= maxHandleDepth {
		return nil
	}
	leaves, ok := f.prog.FieldStores(field, rest)
	if !ok {
		return nil
	}
	var out []Handle
	for _, e := range leaves {
		if c, ok := e.Value.(*ssa.Const); ok && c.Value == nil {
			continue
		}
		h := f.handle(e, handleType{}, depth+1)
		h.Origin = e
		if h.open && e.Path != "" {
			more := f.stored(e, depth+1)
			if more == nil {
				return nil
			}
			out = append(out, more...)
			continue
		}
		if h.open && typeOf(e.Type()).role == chainRole {
			// A constructor's parameter: its callers know.
			h.begun, h.Kind = nil, kindOf(f.expanded(e, depth, func(h Handle) []Handle { return []Handle{h} }))
		}
		out = append(out, h)
	}
	if kindOf(out) == Unknown {
		return nil
	}
	return out
}

func paramIndex(v *ssa.Parameter) int {
	for i, p := range v.Parent().Params {
		if p == v {
			return i
		}
	}
	return -1
}

func typeString(t types.Type, pkg *types.Package) string {
	if t == nil {
		return ""
	}
	return types.TypeString(t, func(p *types.Package) string {
		if p == pkg {
			return ""
		}
		return p.Name()
	})
}

// lexically reports whether inner is outer or a closure within it.
func lexically(inner, outer *ssa.Function) bool {
	for ; inner != nil; inner = inner.Parent() {
		if inner == outer {
			return true
		}
	}
	return false
}
