package site

import (
	"go/constant"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/pgadvisory/pgadvisory/analyzer/internal/flow"
)

// begins reports whether a call begins a transaction on a connection: with
// BeginTx, or with a text of its own, which may be handed to a helper.
func begins(common *ssa.CallCommon) bool {
	if fn := common.StaticCallee(); fn != nil && (strings.HasPrefix(fn.Name(), "Begin") || fn.Name() == "RunInTx" || fn.Name() == "Transaction") {
		for _, a := range common.Args { // the receiver too, and pgx.BeginFunc's argument
			if typeOf(dynamic(a).Type()).role == connRole {
				return true
			}
		}
	}
	for _, a := range common.Args {
		c, ok := a.(*ssa.Const)
		if !ok || c.Value == nil || c.Value.Kind() != constant.String {
			continue
		}
		text := strings.ToUpper(strings.TrimSpace(constant.StringVal(c.Value)))
		if strings.HasPrefix(text, "BEGIN") || strings.HasPrefix(text, "START TRANSACTION") {
			return true
		}
	}
	return false
}

// spreadBegins marks the functions that call one which begins a transaction.
func (f *finder) spreadBegins() {
	for changed := len(f.begins) > 0; changed; {
		changed = false
		for _, call := range f.calls {
			fn := outermost(call.Parent())
			callee := call.Common().StaticCallee()
			if callee == nil || f.begins[fn] || !f.begins[outermost(callee)] {
				continue
			}
			f.begins[fn], changed = true, true
		}
	}
}

// mayBegin reports whether a transaction may be open on a connection.
func (f *finder) mayBegin(l flow.Leaf, depth int) bool {
	if l.Value == nil || depth >= maxHandleDepth {
		return true
	}
	if l.Path != "" {
		if len(f.begins) > 0 {
			return true
		}
	} else if parent := l.Value.Parent(); parent != nil && f.begins[outermost(parent)] {
		return true
	}
	if _, ok := l.Value.(*ssa.Call); ok {
		return false
	}
	if l.Param() == nil {
		return true
	}
	if f.handedBy(l) != nil {
		return false
	}
	from := f.expand(l)
	for _, e := range from {
		if f.mayBegin(e, depth+1) {
			return true
		}
	}
	return len(from) == 0
}

// outside reports whether an execution within a closure that was handed a
// transaction runs on the handle which the transaction was begun on.
func (f *finder) outside(e *execution, handle flow.Leaf) bool {
	for fn := e.call.Instr.Parent(); fn.Parent() != nil; fn = fn.Parent() {
		for _, h := range f.prog.Handed(fn) {
			if h.Call.Recv == nil || h.Call.Method.Name() != "Transaction" {
				continue
			}
			for _, l := range f.prog.Trace(h.Call.Recv, "", nil) {
				if l.Value != nil && l.Value == handle.Value && l.Path == handle.Path {
					return true
				}
			}
		}
	}
	return false
}

func outermost(fn *ssa.Function) *ssa.Function {
	for fn.Parent() != nil {
		fn = fn.Parent()
	}
	return fn
}
