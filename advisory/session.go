package advisory

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// A session is one connection, pinned, whose session on the server holds the locks of leases.
//
// One goroutine, serve, runs all statements on it, in the order in which they were enqueued. So a lock that nobody wants any more is unlocked before the next one
// tries it, and nothing is ever locked twice. None of the statements waits for a lock. Nobody waits for that goroutine without looking at gone as well: a driver can block
// for as long as the network is silent.
//
// The fields below mu's line are guarded by the locker's mutex.
type session struct {
	locker *Locker
	conn   *sql.Conn
	pid    int
	nonce  Key
	old    string  // SQL that puts the old settings back
	socket *socket // nil if the driver does not show it

	ctx      context.Context // ends with the session
	cancel   context.CancelFunc
	signal   chan struct{} // holds one when there is a task
	gone     chan struct{} // closed when no more tasks are taken
	finished chan struct{} // closed when serve has ended

	// mu:
	tasks     []func()
	holds     map[Key]*lock
	releasing map[*Lease]bool // those whose unlock is not confirmed yet
	users     int             // callers who try to get locks
	sent      time.Time       // when the last statement was sent that was answered well
	deadline  *time.Timer     // runs when leases end because nothing was heard
	over      error           // why gone is closed: errFinished, or what the session was lost by
	clean     bool            // the connection may go back to the pool; only serve uses it
}

// begin makes a session out of a connection that is set up. sent is when the statement was sent that did so.
func (l *Locker) begin(conn *sql.Conn, pid int, nonce Key, old string, sent time.Time) *session {
	s := &session{locker: l, conn: conn, pid: pid, nonce: nonce, old: old, holds: make(map[Key]*lock), releasing: make(map[*Lease]bool), sent: sent,
		signal: make(chan struct{}, 1), gone: make(chan struct{}), finished: make(chan struct{})}
	s.socket = socketOf(conn)
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.deadline = time.AfterFunc(l.set.term()-time.Since(sent), s.check)
	return s
}

// enqueue adds a task for serve, and reports whether it will be run, or dropped together with the session. The locker's mutex must be held.
func (s *session) enqueue(task func()) bool {
	if s.over != nil {
		return false
	}
	s.tasks = append(s.tasks, task)
	select {
	case s.signal <- struct{}{}:
	default:
	}
	return true
}

// serve runs tasks and heartbeats until the session is over.
func (s *session) serve() {
	defer close(s.finished)
	defer s.close()
	beat := time.NewTimer(s.locker.set.beat())
	defer beat.Stop()
	stirred := false
	for {
		// What has been read for nothing once is not looked at again before the next heartbeat, lest it be for ever.
		stirred = s.watch(beat, !stirred)
		if task := s.next(); task != nil {
			task()
		} else if stirred || s.due() <= 0 {
			s.beat()
		}
		select {
		case <-s.gone:
			return
		default:
		}
		// After an error that the session has survived it is still due.
		beat.Reset(max(s.due(), s.locker.set.beat()/10))
	}
}

// watch waits for a task, the next heartbeat, or the end, and looks at the socket meanwhile. It reports whether the server has said something.
func (s *session) watch(beat *time.Timer, look bool) bool {
	var stirred chan bool
	if look && s.socket != nil {
		var stop func()
		stirred, stop = s.socket.watch()
		defer stop()
	}
	select {
	case <-s.signal:
	case <-beat.C:
	case <-s.gone:
	case <-stirred:
		return true
	}
	return false
}

// next returns the next task, or nil.
func (s *session) next() (task func()) {
	s.locker.mu.Lock()
	defer s.locker.mu.Unlock()
	if len(s.tasks) == 0 || s.over != nil {
		return nil
	}
	task, s.tasks = s.tasks[0], s.tasks[1:]
	if len(s.tasks) > 0 {
		select {
		case s.signal <- struct{}{}:
		default:
		}
	}
	return task
}

// due returns how long it is until the next heartbeat.
func (s *session) due() time.Duration {
	s.locker.mu.Lock()
	defer s.locker.mu.Unlock()
	return s.locker.set.beat() - elapsed(s.sent)
}

// elapsed returns how long ago t was, by whichever clock says more: the monotonic one stands still while the machine is suspended.
func elapsed(t time.Time) time.Duration {
	now := time.Now()
	return max(now.Sub(t), now.Round(0).Sub(t.Round(0)))
}

// check ends the session if it is not sure any more that it is there, and otherwise looks again in time.
func (s *session) check() {
	if s.expired() {
		s.lose(fmt.Errorf("no answer from the server within %v", s.locker.set.term()))
	}
}

// expired reports whether the session's leases have ended because nothing was heard. If not, the timer runs when they may have.
func (s *session) expired() bool {
	s.locker.mu.Lock()
	defer s.locker.mu.Unlock()
	if s.over != nil {
		return false
	}
	left := s.locker.set.term() - elapsed(s.sent)
	if left <= 0 {
		return true
	}
	s.deadline.Reset(left)
	return false
}

// exec runs a statement and returns its number of rows. Only serve may call it.
func (s *session) exec(query string) (rows int64, err error) {
	err = s.timed(func(ctx context.Context) error {
		result, err := s.conn.ExecContext(ctx, query)
		if err == nil {
			rows, err = result.RowsAffected()
		}
		return err
	})
	if err == nil && rows == otherSession {
		err = fmt.Errorf("%w: the statement has met another session than %d", ErrPooler, s.pid)
	}
	return rows, err
}

// timed runs a statement within the time in which the session is sure to be there. If it goes well, that is a sign of life, as of when it began.
func (s *session) timed(run func(ctx context.Context) error) error {
	s.check()
	l := s.locker
	l.mu.Lock()
	deadline := s.sent.Add(l.set.term())
	l.mu.Unlock()
	ctx, cancel := context.WithDeadline(s.ctx, deadline)
	defer cancel()
	sent := time.Now()
	err := run(ctx)
	if err == nil {
		err = ctx.Err() // some drivers answer nil for a statement that was cancelled halfway
	}
	if err != nil {
		return err
	}
	l.mu.Lock()
	if s.over == nil {
		s.sent = sent
	}
	l.mu.Unlock()
	s.check()
	return nil
}

// beat shows the server that the client is alive. A session without leases is given back instead.
func (s *session) beat() {
	if s.finish() {
		return
	}
	l := s.locker
	l.beats.Add(1)
	if _, err := s.exec(heartbeat(s.pid)); err != nil && !s.survives(err) {
		s.lose(err)
	}
}

// survives reports whether the session is still there after a statement of it failed. An error of the server says so, unless it is one that ends
// connections; but it does not say what the statement has done before it failed.
func (s *session) survives(err error) bool {
	switch state := sqlState(err); {
	case state == "", state[:2] == "08", state[:2] == "57" && state != "57014", state[:2] == "25" && state != "25006":
		return false
	}
	return s.ctx.Err() == nil
}
