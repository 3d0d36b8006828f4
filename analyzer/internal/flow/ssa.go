package flow

import (
	"go/types"
	"iter"

	"golang.org/x/tools/go/ssa"
)

// instructions ranges over a function's instructions, block by block.
func instructions(fn *ssa.Function) iter.Seq[ssa.Instruction] {
	return func(yield func(ssa.Instruction) bool) {
		for _, b := range fn.Blocks {
			for _, instr := range b.Instrs {
				if !yield(instr) {
					return
				}
			}
		}
	}
}

// referrers returns the instructions that use v. It is empty where SSA does
// not track them.
func referrers(v ssa.Value) []ssa.Instruction {
	if refs := v.Referrers(); refs != nil {
		return *refs
	}
	return nil
}

// body returns the function whose body is the one to look at: a generic
// function stands for its instances.
func body(fn *ssa.Function) *ssa.Function {
	if fn == nil {
		return nil
	}
	if o := fn.Origin(); o != nil && len(fn.TypeArgs()) > 0 {
		return o
	}
	return fn
}

// structOf returns the struct type that t is, or points to.
func structOf(t types.Type) *types.Struct {
	if t == nil {
		return nil
	}
	t = t.Underlying()
	if ptr, ok := t.(*types.Pointer); ok {
		t = ptr.Elem().Underlying()
	}
	s, _ := t.(*types.Struct)
	return s
}

// fieldOf returns field i of the struct type that t is, or points to.
func fieldOf(t types.Type, i int) *types.Var {
	s := structOf(t)
	if s == nil || i < 0 || i >= s.NumFields() {
		return nil
	}
	return s.Field(i).Origin()
}

// Field returns the field of that name of the struct type that t is, or points
// to. Fields of embedded structs are not looked for.
func Field(t types.Type, name string) *types.Var {
	s := structOf(t)
	for i := range numFields(s) {
		if s.Field(i).Name() == name {
			return s.Field(i)
		}
	}
	return nil
}

func numFields(s *types.Struct) int {
	if s == nil {
		return 0
	}
	return s.NumFields()
}

// elemOf returns what a slice, array, map or channel holds.
func elemOf(t types.Type) types.Type {
	switch t := t.Underlying().(type) {
	case *types.Slice:
		return t.Elem()
	case *types.Array:
		return t.Elem()
	case *types.Map:
		return t.Elem()
	case *types.Chan:
		return t.Elem()
	case *types.Pointer:
		if a, ok := t.Elem().Underlying().(*types.Array); ok {
			return a.Elem()
		}
	}
	return nil
}
