package advisory

import (
	"context"
	"errors"
	"fmt"
)

// An attempt is one try of the server's lock, on behalf of a caller who may leave before it is done. The fields but the first ones are guarded by the locker's mutex until answered is closed.
type attempt struct {
	turn     *turn
	answered chan struct{}

	left  bool   // the caller does not wait any more
	done  bool   // lease and err are known
	lease *Lease // nil if the lock was not free
	err   error
}

// contend gets the lock from the server for the contender of a line.
func (l *Locker) contend(ctx context.Context, r *request) (*Lease, error) {
	for again := 1; ; again++ {
		s, err := l.connect(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return nil, r.ended(ctx)
			}
			return nil, fmt.Errorf("advisory: %s %v: %w", r.call, r.key, err)
		}
		lease, err := l.wait(ctx, r, s)
		l.quit(s)
		if err != errGone {
			return lease, err
		}
		l.mu.Lock()
		why := s.over
		l.mu.Unlock()
		if errors.Is(why, ErrPooler) {
			return nil, fmt.Errorf("advisory: %s %v: %w", r.call, r.key, why)
		}
		if why != errFinished && pause(ctx, again) != nil {
			return nil, r.ended(ctx)
		}
	}
}

// errGone means that the session was lost before it had the lock.
var errGone = errors.New("advisory: session is gone")

// wait tries the lock on one session until it is granted.
func (l *Locker) wait(ctx context.Context, r *request, s *session) (*Lease, error) {
	w := l.waiting(r)
	defer w.stop()
	for {
		lease, err := l.attempt(ctx, r, s)
		if err == nil && lease != nil && !lease.hold.passed {
			err = l.pass(ctx, r, s, lease)
		}
		if err != nil || lease != nil {
			return lease, err
		}
		if !r.waits() {
			return nil, r.notAcquired()
		}
		if err := w.await(ctx, s); err != nil {
			return nil, err
		}
	}
}

// attempt tries the lock once. It returns no lease and no error if the lock is not free.
func (l *Locker) attempt(ctx context.Context, r *request, s *session) (*Lease, error) {
	a := &attempt{turn: r.turn, answered: make(chan struct{})}
	l.mu.Lock()
	queued := s.enqueue(func() { s.try(a) })
	l.mu.Unlock()
	if !queued {
		return nil, errGone
	}
	err := errGone
	select {
	case <-a.answered:
	case <-s.gone:
	case <-ctx.Done():
		err = r.ended(ctx)
	case <-l.closing:
		err = fmt.Errorf("%w: %s %v", ErrClosed, r.call, r.key)
	}
	l.mu.Lock()
	a.left = true
	lease, failure, done := a.lease, a.err, a.done
	if lease != nil && lease.err != nil && s.over != nil {
		failure = errGone // it was lost before anybody knew of it
	}
	l.mu.Unlock()
	switch {
	case !done:
		return nil, err
	case failure == errGone:
		return nil, errGone
	case failure != nil && ctx.Err() != nil:
		return nil, r.ended(ctx)
	case failure != nil:
		return nil, failed(ctx, r.call, []Key{r.key}, failure)
	case lease != nil && ctx.Err() != nil:
		lease.end(ErrReleased)
		return nil, r.ended(ctx)
	}
	return lease, nil
}

// try runs an attempt on the session.
func (s *session) try(a *attempt) {
	l := s.locker
	defer close(a.answered)
	l.mu.Lock()
	left := a.left
	l.mu.Unlock()
	if left {
		return
	}
	n := l.names(a.turn.key)
	rows, err := s.exec(tryLease(s.pid, n, a.turn.shared))
	if err != nil {
		// An error never proves that the lock is not held.
		if s.survives(err) {
			if _, undo := s.exec(unlockLease(s.pid, n, a.turn.shared)); undo == nil {
				a.answer(l, err)
				return
			}
		}
		s.lose(err)
		a.answer(l, errGone)
		return
	}
	if rows == refused {
		a.answer(l, nil)
		return
	}
	l.mu.Lock()
	taken := !a.left && !l.closed && s.over == nil
	if taken {
		h := &lock{session: s, key: a.turn.key, names: n, shared: a.turn.shared, passed: rows == grantedFenced, leases: make(map[*Lease]bool)}
		s.holds[h.key] = h
		l.lines[h.key].hold = h
		a.lease = l.newLease(h)
		a.done = true
		if h.passed {
			l.lines[h.key].contender = nil
			l.advance(h.key)
		}
	}
	l.mu.Unlock()
	if taken {
		return
	}
	if rows, err := s.exec(unlockLease(s.pid, n, a.turn.shared)); err != nil || rows != granted {
		if err == nil {
			err = fmt.Errorf("the session did not hold the lock on %v that it had just got", a.turn.key)
		}
		s.lose(err)
	}
}

func (a *attempt) answer(l *Locker, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a.done, a.err = true, err
}
