package site

import (
	"golang.org/x/tools/go/ssa"

	"github.com/pgadvisory/pgadvisory/analyzer/internal/flow"
)

// chain tells what a *gorm.DB is: its type does not.
func (f *finder) chain(h *Handle, l flow.Leaf, depth int) {
	switch v := l.Value.(type) {
	case *ssa.Call:
		c := f.prog.Resolve(v, l.Frame)
		if c.Method == nil {
			return
		}
		switch c.Method.Name() {
		case "Begin":
			h.Kind = Tx
			h.begun = f.base(f.from(c, c.Recv, depth))
			h.Base = kindOf(h.begun)
		case "Open":
			h.Kind = Pool
			if f.single(l, depth) || f.dedicated(l) {
				h.Kind = Single
			}
		}
		return
	case *ssa.Global:
		if l.Path == "" { // nobody keeps a transaction in a package's variable
			h.Kind = Pool
			if f.single(l, depth) {
				h.Kind = Single
			}
		}
		return
	case *ssa.Parameter:
		if c := f.handedBy(l); c != nil {
			switch c.Method.Name() {
			case "Transaction":
				h.Kind = Tx
				h.begun = f.base(f.from(c, c.Recv, depth))
				// A transaction is begun on a pool, unless it is known to be one
				// within another, or on a connection.
				if h.Base = kindOf(h.begun); h.Base == Unknown {
					h.begun, h.Base = []Handle{{Kind: Pool}}, Pool
				}
			case "Connection":
				h.Kind, h.Base = Conn, Pool
			}
			return
		}
	}
	h.open = h.Kind == Unknown && l.Param() != nil
}

// handedBy returns the call of a library that a closure was handed to, if the
// leaf is that closure's handle parameter and there is one such call.
func (f *finder) handedBy(l flow.Leaf) *flow.Call {
	param := l.Param()
	if param == nil || l.Path != "" {
		return nil
	}
	handed := f.prog.Handed(param.Parent())
	if len(handed) != 1 || len(f.prog.Callers(param.Parent())) != 0 {
		return nil
	}
	return handed[0].Call
}
