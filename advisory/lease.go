package advisory

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// A Lease is a lock that is held in a session of a [Locker], from [Locker.Acquire] to [Lease.Release], or until it is lost. It may be used by several goroutines at a
// time.
//
// A session that the server has ended is noticed at once with pgx, and at the next heartbeat with other drivers; a network that is silent, before the [TTL] is over.
type Lease struct {
	locker *Locker
	key    Key
	hold   *lock
	since  time.Time
	ctx    context.Context
	cancel context.CancelCauseFunc
	values context.Context // Acquire's, without its end
	known  atomic.Bool     // Acquire has returned it
	token  atomic.Int64

	// Guarded by the locker's mutex.
	err      error         // why it ended; nil while it is held
	failure  error         // why the unlock is not confirmed
	unlocked chan struct{} // closed when the lock is free, or the lease was lost
}

// newLease adds a lease to a hold. The locker's mutex must be held.
func (l *Locker) newLease(h *lock) *Lease {
	lease := &Lease{locker: l, key: h.key, hold: h, since: time.Now(), unlocked: make(chan struct{})}
	lease.ctx, lease.cancel = context.WithCancelCause(context.Background())
	h.leases[lease] = true
	return lease
}

// Key returns the key that Acquire was called with.
func (le *Lease) Key() Key { return le.key }

// Shared reports whether others may hold shared leases at the same time.
func (le *Lease) Shared() bool { return le.hold.shared }

// Err returns nil while the lease is held, and after that why it ended: an error that wraps [ErrLost], [ErrReleased], or [ErrClosed]. It looks at the clock, so that it tells
// the truth at once when the process was stopped or the machine suspended.
func (le *Lease) Err() error {
	le.hold.session.check()
	le.locker.mu.Lock()
	defer le.locker.mu.Unlock()
	return le.err
}

// Context returns a context that ends when the lease ends, with the cause that [Lease.Err] has then: do the work under it. Its Err looks at the
// clock as Lease.Err does. It carries the values of Acquire's ctx, and not its end.
func (le *Lease) Context() context.Context { return leaseContext{le.ctx, le} }

type leaseContext struct {
	context.Context
	lease *Lease
}

func (c leaseContext) Err() error {
	if err := c.Context.Err(); err != nil {
		return err
	}
	c.lease.hold.session.check()
	return c.Context.Err()
}

// Value returns the values of Acquire's ctx. The context's own come first: by them package context finds what it derives from.
func (c leaseContext) Value(key any) any {
	if v := c.Context.Value(key); v != nil {
		return v
	}
	return c.lease.values.Value(key)
}

// Release gives the lock back, and returns when the server has confirmed it. The lease's context ends first.
//
// Release works although ctx has ended, so that it can be deferred: it waits for another second at most, and if the server has not answered by then it returns ctx's error, while
// the Locker goes on to unlock. Without that it returns, at the latest, when the lease ends by itself.
//
// Release returns an error that wraps [ErrLost] if the lease was lost before, which means that others may have held the lock meanwhile. It does nothing but
// that, however often it is called, and nothing after [Locker.Close].
func (le *Lease) Release(ctx context.Context) error {
	le.hold.session.check()
	le.end(ErrReleased)
	select {
	case <-le.unlocked:
		return le.outcome()
	case <-ctx.Done():
	}
	grace := time.NewTimer(releaseGrace)
	defer grace.Stop()
	select {
	case <-le.unlocked:
		return le.outcome()
	case <-grace.C:
		return fmt.Errorf("advisory: Release %v: not confirmed by the server yet: %w", le.key, ctx.Err())
	}
}

// releaseGrace is how long Release waits after its ctx has ended.
const releaseGrace = time.Second

// outcome returns what Release returns.
func (le *Lease) outcome() error {
	le.locker.mu.Lock()
	defer le.locker.mu.Unlock()
	switch {
	case le.failure != nil:
		return fmt.Errorf("advisory: Release %v: not confirmed by the server, whose session was lost meanwhile; it frees the lock within %v: %w",
			le.key, le.locker.set.ttl, le.failure)
	case le.err == ErrReleased || le.err == ErrClosed:
		return nil
	}
	return le.err
}

// end ends the lease, because it was released or its locker closed, if it has not ended before. The lock is freed when no other shared lease is left.
func (le *Lease) end(why error) {
	l := le.locker
	l.mu.Lock()
	if le.err != nil {
		l.mu.Unlock()
		return
	}
	le.err = why
	le.cancel(why) // before the lock can be free
	h := le.hold
	delete(h.leases, le)
	if len(h.leases) > 0 {
		close(le.unlocked)
	} else {
		// The line moves on only after this, so that whoever tries next on this session finds the lock unlocked.
		h.session.releasing[le] = true
		h.session.enqueue(func() { h.session.unlock(h, le) })
		l.free(h)
	}
	l.mu.Unlock()
	if !le.known.Load() {
		return
	}
	held := time.Since(le.since)
	l.stats.released.Add(1)
	if f := l.set.hooks.Released; f != nil {
		f(le.key, held)
	}
}

// unlock frees a lock on the server. When it cannot be sure that the lock is free it ends the session.
func (s *session) unlock(h *lock, le *Lease) {
	statement := unlockLease(s.pid, h.names, h.shared)
	rows, err := s.exec(statement)
	if err != nil && s.survives(err) {
		// Cancelled by somebody, before or after the lock was freed: if it is not held now, that is as well.
		if rows, err = s.exec(statement); err == nil {
			rows = granted
		}
	}
	if err == nil && rows != granted {
		err = fmt.Errorf("the session did not hold the lock on %v any more", h.key)
	}
	if err != nil {
		s.lose(err)
		return
	}
	s.locker.mu.Lock()
	defer s.locker.mu.Unlock()
	if s.releasing[le] {
		delete(s.releasing, le)
		close(le.unlocked)
	}
}
