package site

import (
	"go/token"

	"golang.org/x/tools/go/ssa"

	"github.com/pgadvisory/pgadvisory/analyzer/internal/flow"
	"github.com/pgadvisory/pgadvisory/analyzer/internal/sqltext"
)

// Loss is the way in which a lock is lost.
type Loss uint8

// The ways to lose a lock, the worst first.
const (
	NeverFreed  Loss = iota // on a way out nothing frees it
	NeverSent               // so, and an unlock is built but never sent
	ClosedFirst             // the connection goes back to its pool before the unlock
	PanicSkips              // it is freed on every way out, but not by a defer
)

// A Held is a session-level lock that stays on a connection which its function
// took from a pool.
type Held struct {
	Site *Site
	Loss Loss
	At   token.Pos // the return, the close, or the call that may panic
}

// A holder looks at one lock on one connection in one function.
type holder struct {
	*finder
	fn   *ssa.Function
	conn ssa.Value // what pins the connection
	lock *Site

	carry   map[ssa.Value]bool
	closure map[*ssa.Function]effect
	effects map[ssa.CallInstruction]effect // of the function's own calls
	atoms   map[ssa.Value]bool
	errs    map[ssa.Value]bool
	cells   map[ssa.Value]bool
	trues   map[ssa.Value]bool
	others  map[ssa.Value]bool // results with the answer in them
	stowed  bool               // the connection is put into a struct or a list
	unsent  bool
	losses  map[Loss]token.Pos
}

// findHeld looks at every session-level lock on a connection that its function
// pins.
func (f *finder) findHeld() []*Held {
	if f.blind {
		return nil
	}
	f.byInstr = map[ssa.CallInstruction][]*Site{}
	for _, s := range f.sites {
		f.byInstr[s.Instr] = append(f.byInstr[s.Instr], s)
	}
	var out []*Held
	done := map[heldKey]bool{}
	for _, s := range f.sites {
		if s.Lock.Scope != sqltext.Session || !s.Is(sqltext.Lock, sqltext.TryLock) || s.Unsent || f.pairedText(s) {
			continue
		}
		if s.Helper == "" && s.run.call.Instr != s.Instr {
			continue // one of many callbacks, which is judged itself
		}
		conn, fn := f.pinned(s)
		if conn == nil || done[heldKey{s.Instr, conn}] {
			continue
		}
		done[heldKey{s.Instr, conn}] = true
		if h := f.hold(s, conn, fn); h != nil {
			out = append(out, h)
		}
	}
	return out
}

type heldKey struct {
	instr ssa.CallInstruction
	conn  ssa.Value
}

// pairedText reports whether the text that takes the lock frees it, too.
func (f *finder) pairedText(s *Site) bool {
	for _, o := range f.byInstr[s.Instr] {
		if o.Text == s.Text && o.Is(sqltext.Unlock, sqltext.UnlockAll) {
			return true
		}
	}
	return false
}

// pinned returns the connection that a lock is taken on, and the function that
// took it from its pool, if it is the site's, or one around it.
func (f *finder) pinned(s *Site) (ssa.Value, *ssa.Function) {
	conns := connections(s.Handles)
	if len(conns) != 1 {
		return nil, nil
	}
	h := conns[0]
	if h.Kind != Conn || h.Dedicated || h.Base == Single || h.Origin.Path != "" {
		return nil, nil
	}
	switch h.Origin.Value.(type) {
	case *ssa.Call:
		if h.Base == Unknown && len(h.begun) == 0 && !f.pins(h) {
			return nil, nil
		}
	case *ssa.Parameter:
		if c := f.handedBy(h.Origin); c != nil && !lends[c.Method.Name()] || c == nil && !f.lent(h.Origin) {
			return nil, nil
		}
	default:
		return nil, nil
	}
	for fn := s.Fn; fn != nil; fn = fn.Parent() {
		if v := h.Origin.In(fn); v != nil && v.Parent() == fn {
			return v, fn
		}
	}
	return nil, nil
}

// lends are the methods that lend a connection to a function.
var lends = map[string]bool{"AcquireFunc": true, "Connection": true}

// lent reports whether a connection is the parameter of a callback: functions
// of the package pin one, call the callback with it, and free nothing.
func (f *finder) lent(l flow.Leaf) bool {
	param := l.Param()
	if param == nil || l.Path != "" || l.Frame != nil {
		return false
	}
	i := paramIndex(param)
	edges := f.prog.Callers(param.Parent())
	for _, e := range edges {
		if i < 0 || !dynamicCall(e.Instr) || f.freesAny(e.Instr.Parent()) {
			return false
		}
		for _, h := range f.handlesOf(e.Args[i], "", e.Frame, 0) {
			if _, ok := h.Origin.Value.(*ssa.Call); !ok || h.Kind != Conn || h.Dedicated || h.Base == Single || !f.pins(h) {
				return false
			}
		}
	}
	return len(edges) > 0
}

// pins reports whether a connection comes fresh from a call that takes it from
// a pool.
func (f *finder) pins(h Handle) bool {
	c := f.prog.Resolve(h.Origin.Value.(*ssa.Call), h.Origin.Frame)
	if c.Method == nil {
		return false
	}
	switch c.Method.Name() {
	case "Conn", "Connx", "Acquire", "AcquireConn":
		return true
	}
	return false
}

// connections returns the connections among handles, and those that the
// transactions among them were begun on.
func connections(handles []Handle) []Handle {
	var out []Handle
	for _, h := range handles {
		if h.Kind == Tx {
			out = append(out, connections(h.begun)...)
			continue
		}
		out = append(out, h)
	}
	return out
}

func (f *finder) hold(s *Site, conn ssa.Value, fn *ssa.Function) *Held {
	w := &holder{
		finder:  f,
		fn:      fn,
		conn:    conn,
		lock:    s,
		closure: map[*ssa.Function]effect{},
		effects: map[ssa.CallInstruction]effect{},
		losses:  map[Loss]token.Pos{},
	}
	w.carriers()
	if w.outlives() {
		return nil
	}
	w.answers()
	if !w.walk() {
		return nil
	}
	for _, loss := range []Loss{NeverFreed, ClosedFirst, PanicSkips} {
		at, ok := w.losses[loss]
		if !ok || loss == PanicSkips && f.prog.InTest(s.Pos) {
			continue // a test that panics is over, and so is its database
		}
		if loss == NeverFreed && w.unsent {
			loss = NeverSent
		}
		return &Held{Site: s, Loss: loss, At: at}
	}
	return nil
}

// on reports whether one of the handles is the connection, or may be.
func (w *holder) on(handles []Handle) (is, may bool) {
	for _, h := range connections(handles) {
		if h.Origin.Value == nil || h.Kind == Unknown {
			may = true
			continue
		}
		if h.Origin.In(w.fn) == w.conn {
			is = true
		}
	}
	return is, may || len(handles) == 0
}
