package leader

import "fmt"

// A State says what an [Elector] does. The package's documentation has the transitions.
type State int

const (
	Stopped     State = iota // Run is not running
	Campaigning              // it waits for the lease
	Leading                  // it has the lease, and the function runs
	Leaving                  // the term is over, and the function has not returned or the lease is not released yet
	Waiting                  // it keeps out of the election for a while
)

// String returns the state's name in lower case, as in "leading".
func (s State) String() string {
	switch s {
	case Stopped:
		return "stopped"
	case Campaigning:
		return "campaigning"
	case Leading:
		return "leading"
	case Leaving:
		return "leaving"
	case Waiting:
		return "waiting"
	}
	return fmt.Sprintf("State(%d)", int(s))
}

// A Change is a transition of an [Elector] from one state to another.
type Change struct {
	From, To State
	Term     Term // the one that begins (to Leading) or ends (from Leading or Leaving); else, and if the function panicked, the zero Term

	// Err says why, if not by the ordinary way of things. From Leading to Leaving it is why the context of the term's function has ended, and nil if the function
	// returned first. To Waiting it is what the campaign failed by, or what the function and the release of the lease returned. To
	// Stopped it is what Run returns, and nil if the function panicked.
	Err error
}

// change makes a transition and tells of it. Transitions are told one after the other, in their order.
func (e *Elector) change(to State, term Term, err error) {
	e.telling.Lock()
	defer e.telling.Unlock()
	e.mu.Lock()
	from := e.state
	e.state = to
	e.mu.Unlock()
	if e.set.onChange != nil {
		e.set.onChange(Change{From: from, To: to, Term: term, Err: err})
	}
}
