package advisory

import (
	"context"
	"errors"
	"fmt"
)

// errFinished is why a session is over that nobody needed any more.
var errFinished = errors.New("advisory: session was given back")

// finish gives the session back if nobody needs it, and reports whether it did.
func (s *session) finish() bool {
	l := s.locker
	l.mu.Lock()
	if s.over != nil || len(s.holds) > 0 || len(s.tasks) > 0 || s.users > 0 && !l.closed {
		l.mu.Unlock()
		return false
	}
	s.end(errFinished)
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), l.set.beat())
	defer cancel()
	result, err := s.conn.ExecContext(ctx, putBack(s.pid, s.nonce, s.old))
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		var rows int64
		if rows, err = result.RowsAffected(); err == nil && rows != granted {
			err = errors.New("its settings could not be put back")
		}
	}
	s.clean = err == nil
	if err != nil {
		l.discarded(err)
	}
	return true
}

// giveBack finishes the session, whoever still waits for a lock, and returns why it could not be given back.
func (s *session) giveBack() error {
	var finish func()
	finish = func() {
		if s.finish() {
			return
		}
		// Some task came in between.
		s.locker.mu.Lock()
		defer s.locker.mu.Unlock()
		s.enqueue(finish)
	}
	s.locker.mu.Lock()
	s.enqueue(finish)
	s.locker.mu.Unlock()
	<-s.gone
	s.locker.mu.Lock()
	defer s.locker.mu.Unlock()
	if s.over != errFinished {
		return fmt.Errorf("advisory: Close: %w", s.over)
	}
	return nil
}

// end marks the session as over. The locker's mutex must be held.
func (s *session) end(why error) {
	s.over = why
	s.deadline.Stop()
	close(s.gone)
	if s.locker.session == s {
		s.locker.session = nil
	}
}

// lose ends the session and all its leases. It does not wait for the driver. It may be called any number of times, by anybody who does not hold the locker's mutex.
func (s *session) lose(why error) {
	l := s.locker
	l.mu.Lock()
	if s.over != nil {
		l.mu.Unlock()
		return
	}
	s.end(why)
	s.tasks = nil
	var lost []*Lease
	for _, h := range s.holds {
		for lease := range h.leases {
			lease.err = fmt.Errorf("%w: %v: %w", ErrLost, h.key, why)
			// Before the line moves on: a holder must know before anybody else can have the lock.
			lease.cancel(lease.err)
			close(lease.unlocked)
			lost = append(lost, lease)
		}
		clear(h.leases)
		l.free(h)
	}
	for lease := range s.releasing {
		lease.failure = why
		close(lease.unlocked)
	}
	clear(s.releasing)
	l.mu.Unlock()
	s.cancel()
	l.set.logger.Warn("advisory: session with leases was lost", "pid", s.pid, "leases", len(lost), "error", why)
	for _, lease := range lost {
		if !lease.known.Load() {
			continue
		}
		l.stats.lost.Add(1)
		if f := l.set.hooks.Lost; f != nil {
			f(lease.key, lease.err)
		}
	}
	l.discarded(why)
}

// close gives the connection back, or closes it.
func (s *session) close() {
	s.cancel()
	if !s.clean {
		if errors.Is(s.over, ErrPooler) {
			s.freeStray()
		}
		discard(s.conn)
	}
	s.conn.Close()
	s.locker.unpin()
	s.locker.mu.Lock()
	delete(s.locker.all, s)
	s.locker.mu.Unlock()
	if s.clean {
		s.locker.set.logger.Debug("advisory: session went back to the pool", "pid", s.pid)
	}
}

// freeStray ends the session that a pooler has kept, with all the locks in it: while it is idle, so that no other client of the pooler is hit.
func (s *session) freeStray() {
	ctx, cancel := context.WithTimeout(context.Background(), strayLimit)
	defer cancel()
	var stray statement
	stray.add("SELECT 1 WHERE CASE WHEN pg_backend_pid()=")
	stray.digits(int64(s.pid))
	stray.add(" THEN pg_advisory_unlock_all() IS NOT NULL ELSE (SELECT bool_and(CASE WHEN state='idle' THEN pg_terminate_backend(pid) ELSE false END) IS NOT FALSE" +
		" FROM pg_stat_activity WHERE pid=")
	stray.digits(int64(s.pid))
	stray.add(") END")
	for attempt := 1; ; attempt++ {
		rows, err := stray.run(ctx, s.conn)
		if err == nil && rows == 1 {
			return
		}
		if err != nil || pause(ctx, attempt) != nil {
			s.locker.set.logger.Error("advisory: the pooler's session still holds locks", "pid", s.pid, "error", err)
			return
		}
	}
}
