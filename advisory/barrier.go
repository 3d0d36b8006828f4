package advisory

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// pass waits until no transaction is left that an earlier holder has fenced. The session has the lock already, and lease is not known to anybody yet. Transactions that take too long are ended: their
// queries are cancelled after half of the TTL, their sessions terminated after the whole.
func (l *Locker) pass(ctx context.Context, r *request, s *session, lease *Lease) error {
	if !r.waits() {
		lease.end(ErrReleased)
		return r.notAcquired()
	}
	began, escalation := time.Now(), &escalation{lock: lease.hold}
	interval := time.Millisecond
	timer := time.NewTimer(interval)
	defer timer.Stop()
	var reason error
	for {
		select {
		case <-timer.C:
		case <-s.gone:
			return errGone
		case <-ctx.Done():
			reason = r.ended(ctx)
		case <-l.closing:
			reason = fmt.Errorf("%w: %s %v", ErrClosed, r.call, r.key)
		}
		if reason != nil {
			lease.end(ErrReleased)
			l.mu.Lock()
			defer l.mu.Unlock()
			if escalation.err != nil {
				return fmt.Errorf("%w: a transaction that an earlier holder has fenced cannot be ended: %w", reason, escalation.err)
			}
			return fmt.Errorf("%w: waited for a transaction that an earlier holder has fenced", reason)
		}
		passed := false
		err := s.ask(ctx, func() {
			passed = s.passed(lease.hold)
			if waited := time.Since(began); !passed && waited > l.set.ttl/2 {
				s.escalate(escalation, waited > l.set.ttl)
			}
		})
		if err == errGone {
			return errGone
		}
		if err == nil && passed {
			l.mu.Lock()
			defer l.mu.Unlock()
			if lease.err != nil {
				return errGone
			}
			lease.hold.passed = true
			l.lines[r.key].contender = nil
			l.advance(r.key)
			return nil
		}
		interval = min(2*interval, 25*time.Millisecond)
		timer.Reset(interval)
	}
}

// ask has serve run a function, and waits for it unless ctx or the session ends.
func (s *session) ask(ctx context.Context, run func()) error {
	done := make(chan struct{})
	s.locker.mu.Lock()
	queued := s.enqueue(func() {
		defer close(done)
		if ctx.Err() == nil {
			run()
		}
	})
	s.locker.mu.Unlock()
	if !queued {
		return errGone
	}
	select {
	case <-done:
		return ctx.Err()
	case <-s.gone:
		return errGone
	case <-ctx.Done():
		return ctx.Err()
	}
}

// passed tries the barrier.
func (s *session) passed(h *lock) bool {
	rows, err := s.exec(tryBarrier(s.pid, h.names, h.shared))
	if err != nil && !s.undoBarrier(err, h) {
		s.lose(err)
	}
	return err == nil && rows == grantedFenced
}

// undoBarrier makes sure that a barrier which failed has left no lock.
func (s *session) undoBarrier(err error, h *lock) bool {
	if !s.survives(err) {
		return false
	}
	for _, key := range h.names.barriers(h.shared) {
		if _, err := s.exec(unlockLease(s.pid, names{lease: key}, false)); err != nil {
			return false
		}
	}
	return true
}

// An escalation is what a new holder did about fenced transactions in its way. Only serve uses it, but for err.
type escalation struct {
	lock       *lock
	cancelled  bool
	terminated time.Time // when it was last done
	err        error     // why it failed, for example for want of privileges; guarded by the locker's mutex
}

// escalate ends the fenced transactions, once by cancelling their queries, and then again and again by terminating their sessions.
func (s *session) escalate(e *escalation, terminate bool) {
	l := s.locker
	if terminate && time.Since(e.terminated) < l.set.ttl/4 || !terminate && e.cancelled {
		return
	}
	function := "pg_cancel_backend"
	if terminate {
		function, e.terminated = "pg_terminate_backend", time.Now()
	}
	e.cancelled = true
	var pids sql.NullString
	err := s.timed(func(ctx context.Context) error {
		return s.conn.QueryRowContext(ctx, endFenced(function, e.lock.names.barriers(e.lock.shared))).Scan(&pids)
	})
	l.mu.Lock()
	e.err = err
	l.mu.Unlock()
	if err != nil {
		l.set.logger.Error("advisory: a fenced transaction of an earlier holder cannot be ended", "key", e.lock.key, "error", err)
		if !s.survives(err) {
			s.lose(err)
		}
		return
	}
	for _, text := range strings.Fields(pids.String) {
		pid, _ := strconv.Atoi(text)
		l.stats.escalated.Add(1)
		l.set.logger.Warn("advisory: a fenced transaction of an earlier holder was ended", "key", e.lock.key, "pid", pid, "terminated", terminate)
		if f := l.set.hooks.Escalated; f != nil {
			f(e.lock.key, pid, terminate)
		}
	}
}
