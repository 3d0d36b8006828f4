package advisory

import "slices"

// A line is the queue for one key within a locker. It stands before the server, to which all leases of one session are the same holder: it would grant
// them all.
//
// A turn in it is queued, then is the contender, which alone tries to get the lock from the server, and then either holds it or has left. All fields are guarded by
// the locker's mutex.
type line struct {
	queue     []*turn
	contender *turn
	hold      *lock
}

// A turn is one caller's place in a line.
type turn struct {
	key    Key
	shared bool
	ready  chan struct{} // closed when the turn is the contender, or has got a lease
	lease  *Lease        // a share in a lock that the locker has already
}

// A lock is a lock that a session has on the server: for one lease, or for any number of shared ones.
type lock struct {
	session *session
	key     Key
	names   names
	shared  bool
	passed  bool // the barrier is behind it; only then are there leases that somebody knows of
	leases  map[*Lease]bool
}

// join puts a turn into the line of its key. It reports whether the turn is ready; if it is not and must not wait, it is not in the line.
func (l *Locker) join(t *turn, wait bool) bool {
	ln := l.lines[t.key]
	if ln == nil {
		ln = &line{}
		l.lines[t.key] = ln
	}
	ln.queue = append(ln.queue, t)
	l.advance(t.key)
	select {
	case <-t.ready:
		return true
	default:
	}
	if !wait {
		l.leave(t)
	}
	return false
}

// advance makes those in the line ready who may be, first come, first served.
func (l *Locker) advance(key Key) {
	ln := l.lines[key]
	if ln == nil {
		return
	}
	for ln.contender == nil && len(ln.queue) > 0 {
		head := ln.queue[0]
		switch {
		case ln.hold == nil:
			ln.contender = head
		case ln.hold.shared && head.shared:
			head.lease = l.newLease(ln.hold)
		default:
			return
		}
		ln.queue = slices.Delete(ln.queue, 0, 1)
		close(head.ready)
	}
	if ln.contender == nil && ln.hold == nil {
		delete(l.lines, key)
	}
}

// leave takes a turn out of the line, wherever it stands, and lets the next one come up.
func (l *Locker) leave(t *turn) {
	ln := l.lines[t.key]
	if ln == nil {
		return
	}
	if ln.contender == t {
		ln.contender = nil
	} else if i := slices.Index(ln.queue, t); i >= 0 {
		ln.queue = slices.Delete(ln.queue, i, i+1)
	}
	l.advance(t.key)
}

// free takes away the line's hold.
func (l *Locker) free(h *lock) {
	delete(h.session.holds, h.key)
	if ln := l.lines[h.key]; ln != nil && ln.hold == h {
		ln.hold = nil
	}
	l.advance(h.key)
}
