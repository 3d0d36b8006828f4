package site

import (
	"golang.org/x/tools/go/ssa"

	"github.com/pgadvisory/pgadvisory/analyzer/internal/flow"
)

// A handIn is a call that hands a pool to the code that locks on it.
type handIn struct {
	edge  flow.Edge
	param int
}

// handsIn tells apart the calls that hand a pool in: single reports whether
// one of them hands in a pool of one, many are those that hand in another.
// settled is false if the pool comes from elsewhere, too.
func (f *finder) handsIn(l flow.Leaf, depth int) (single bool, many []handIn, settled bool) {
	if depth >= maxHandleDepth || l.Value == nil {
		return false, nil, false
	}
	if field, rest := l.Field(); field != nil {
		stores, ok := f.prog.FieldStores(field, rest)
		if !ok {
			return false, nil, false
		}
		for _, e := range stores {
			if c, ok := e.Value.(*ssa.Const); ok && c.Value == nil {
				continue
			}
			if f.single(e, depth+1) {
				single = true
				continue
			}
			s, m, ok := f.handsIn(e, depth+1)
			if !ok {
				return false, nil, false
			}
			single, many = single || s, append(many, m...)
		}
		return single, many, true
	}
	param := l.Param()
	if param == nil {
		return false, nil, false
	}
	i := paramIndex(param)
	edges := f.prog.Users(param.Parent())
	if i < 0 || len(edges) == 0 {
		return false, nil, false
	}
	for _, e := range edges {
		one := true
		for _, h := range f.handlesOf(e.Args[i], l.Path, e.Frame, depth+1) {
			one = one && h.Kind == Single
		}
		if one {
			single = true
		} else {
			many = append(many, handIn{e, i})
		}
	}
	return single, many, true
}

// moveToHandIns reports on the calls that hand a pool in, if other calls hand
// in a pool of one: then the code that locks is right for these.
func (f *finder) moveToHandIns(s *Site) bool {
	if len(s.Handles) != 1 || s.Handles[0].Kind != Pool {
		return false
	}
	single, many, settled := f.handsIn(s.Handles[0].Origin, 0)
	if !settled || !single || len(many) == 0 {
		return false
	}
	for _, m := range many {
		moved := *s
		moved.Instr, moved.Fn, moved.Answer = m.edge.Instr, m.edge.Instr.Parent(), Answer{}
		f.place(&moved, view{param: m.param}, 1)
		f.sites = append(f.sites, &moved)
	}
	s.Handles = []Handle{{Kind: Single, Type: s.Handles[0].Type, Origin: s.Handles[0].Origin, MayBegin: true}}
	return true
}
