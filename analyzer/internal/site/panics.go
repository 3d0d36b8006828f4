package site

import (
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// mayPanic reports whether a panic in a call is worth a thought. Calls that
// only log, format, or look at an error or a clock are not.
func mayPanic(call *ssa.Call) bool {
	common := &call.Call
	if common.IsInvoke() {
		return !harmless[common.Method.Name()]
	}
	if _, ok := common.Value.(*ssa.Builtin); ok {
		return false
	}
	fn := common.StaticCallee()
	if fn == nil {
		return true
	}
	if recovers(fn) {
		return false
	}
	obj, ok := fn.Object().(*types.Func)
	if !ok || obj.Pkg() == nil {
		return true
	}
	switch obj.Pkg().Path() {
	case "errors", "fmt", "log", "log/slog", "time", "context", "strings", "strconv", "sync", "sync/atomic", "bytes", "sort",
		"math", "slices", "maps":
		return false
	}
	return !harmless[obj.Name()]
}

// recovers reports whether a function defers one that calls recover.
func recovers(fn *ssa.Function) bool {
	for _, b := range fn.Blocks {
		for _, instr := range b.Instrs {
			d, ok := instr.(*ssa.Defer)
			if !ok || d.Call.StaticCallee() == nil {
				continue
			}
			for _, b := range d.Call.StaticCallee().Blocks {
				for _, instr := range b.Instrs {
					if call, ok := instr.(*ssa.Call); ok {
						if builtin, ok := call.Call.Value.(*ssa.Builtin); ok && builtin.Name() == "recover" {
							return true
						}
					}
				}
			}
		}
	}
	return false
}

// harmless are the names of methods that report, log, or end something.
var harmless = map[string]bool{
	"Error": true, "String": true, "Err": true, "Done": true, "Close": true, "Release": true, "Scan": true, "Next": true,
	"RowsAffected": true, "Debug": true, "Info": true, "Warn": true, "Debugf": true, "Infof": true, "Warnf": true,
	"Errorf": true, "Debugw": true, "Infow": true, "Warnw": true, "Errorw": true, "Print": true, "Printf": true,
	"Println": true, "DebugContext": true, "InfoContext": true, "WarnContext": true, "ErrorContext": true, "Log": true,
	"Logf": true, "Helper": true, "Lock": true, "Unlock": true, "RLock": true, "RUnlock": true,
	"Commit": true, "Rollback": true, "WithContext": true, "Value": true,
}
