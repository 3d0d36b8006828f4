package advisory

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// A waiting says when to try a lock again: after intervals that grow, and when a slice has found that the lock is free.
//
// A slice is a wait on the server, in a statement and a connection of its own, never on the session with the leases. It gets the lock as well, and gives it up at once, with its
// statement: it only says when to try. A statement that waits has a snapshot, which holds back vacuum, and which CREATE INDEX CONCURRENTLY waits for; so it does not
// wait for long, and another one follows.
type waiting struct {
	locker   *Locker
	request  *request
	interval time.Duration
	timer    *time.Timer
	slice    chan bool // nil if none is under way; gets whether the lock was free
	quick    int       // how many quick tries there were since the lock was free
}

const (
	// sliceLimit is below deadlock_timeout's default, so that a slice which holds up the lock's holder (with CREATE INDEX CONCURRENTLY) ends before
	// the server finds a deadlock.
	sliceLimit = 400 * time.Millisecond
	// quickTries is how often the lock is tried at short intervals after it was free. Whoever was told the same may be in the way with a slice, just for a moment.
	quickTries = 5
	quickPause = time.Millisecond
)

func (l *Locker) waiting(r *request) *waiting {
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	return &waiting{locker: l, request: r, interval: l.set.pollMin, timer: timer, quick: quickTries}
}

// await returns nil when it is time to try again.
func (w *waiting) await(ctx context.Context, s *session) error {
	pause := w.interval
	if w.quick < quickTries {
		pause = quickPause << w.quick
		w.quick++
	} else {
		w.interval = min(2*w.interval, w.locker.set.pollMax)
	}
	w.timer.Reset(pause - rand.N(pause/2+1))
	for {
		if w.slice == nil && w.quick == quickTries {
			w.slice = w.locker.slice(w.request)
		}
		select {
		case <-w.timer.C:
			return nil
		case free := <-w.slice:
			w.slice = nil
			if free {
				w.quick = 0
				return nil
			}
		case <-s.gone:
			return errGone
		case <-ctx.Done():
			return w.request.ended(ctx)
		case <-w.locker.closing:
			return fmt.Errorf("%w: %s %v", ErrClosed, w.request.call, w.request.key)
		}
	}
}

// stop ends the waiting. A slice that is under way goes on to its end, since to cancel it would cost the pool a connection.
func (w *waiting) stop() { w.timer.Stop() }

// slice begins a slice for a request, and returns nil if there is no connection for it.
func (l *Locker) slice(r *request) chan bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.slices >= l.set.waiters || l.pin() != nil {
		return nil
	}
	l.slices++
	free := make(chan bool, 1)
	statement := waitSlice(l.names(r.key).lease, r.set.shared)
	l.workers.Go(func() {
		soonest, cancel := context.WithTimeout(l.ctx, sliceLimit)
		defer cancel()
		granted := l.runSlice(statement)
		if !granted {
			<-soonest.Done() // whatever it failed by, not so fast again
		}
		l.mu.Lock()
		l.slices--
		l.mu.Unlock()
		l.unpin()
		free <- granted
	})
	return free
}

// runSlice reports whether the lock was free.
func (l *Locker) runSlice(statement string) bool {
	ctx, cancel := context.WithTimeout(l.ctx, 2*sliceLimit)
	defer cancel()
	conn, err := l.db.Conn(ctx)
	if err != nil {
		return false
	}
	defer conn.Close()
	_, err = conn.ExecContext(ctx, statement)
	if err == nil && ctx.Err() == nil {
		return true
	}
	if state := sqlState(err); ctx.Err() != nil || state != "55P03" && state != "57014" && state != "40P01" {
		discard(conn)
	}
	return false
}
