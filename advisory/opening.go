package advisory

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/binary"
	"fmt"
	"time"
)

// An opening is the attempt to open a session, for all who wait for it. When nobody does any more it is given up.
type opening struct {
	ctx     context.Context
	cancel  context.CancelFunc
	callers int           // guarded by the locker's mutex
	done    chan struct{} // closed when session or err is set
	session *session
	err     error
}

// connect returns the session that takes new locks, and opens one if there is none. The caller is a user of it until quit.
func (l *Locker) connect(ctx context.Context) (*session, error) {
	for {
		l.mu.Lock()
		if l.closed {
			l.mu.Unlock()
			return nil, ErrClosed
		}
		if s := l.session; s != nil {
			s.users++
			l.mu.Unlock()
			return s, nil
		}
		o := l.opening
		if o == nil {
			o = &opening{done: make(chan struct{})}
			o.ctx, o.cancel = context.WithCancel(l.ctx)
			l.opening = o
			l.sessions.Go(func() { l.run(o) })
		}
		o.callers++
		l.mu.Unlock()
		var err error
		select {
		case <-o.done:
			err = o.err
		case <-ctx.Done():
			err = ctx.Err()
		case <-l.closing:
			err = ErrClosed
		}
		l.mu.Lock()
		if o.callers--; o.callers == 0 && l.opening == o {
			// A driver may not care, so others need not wait for it.
			o.cancel()
			l.opening = nil
		}
		l.mu.Unlock()
		if err != nil {
			return nil, err
		}
	}
}

func (l *Locker) quit(s *session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.users--
}

// run opens a session and serves it.
func (l *Locker) run(o *opening) {
	s, err := l.open(o.ctx)
	l.mu.Lock()
	wanted := l.opening == o
	if wanted {
		l.opening = nil
	}
	o.session, o.err = s, err
	if err == nil {
		l.all[s] = true
		if wanted && !l.closed {
			l.session = s
		}
	}
	close(o.done)
	l.mu.Unlock()
	o.cancel()
	if err != nil {
		l.set.logger.Warn("advisory: no session for leases", "error", err)
		return
	}
	l.stats.opened.Add(1)
	l.set.logger.Debug("advisory: session for leases opened", "pid", s.pid)
	if !wanted {
		s.finish()
	}
	s.serve()
}

// pin notes that a connection of the pool is to be kept, unless that leaves none for the work.
func (l *Locker) pin() error {
	most := int64(l.db.Stats().MaxOpenConnections)
	if n := l.srv.pinned.Add(1); most > 0 && n >= most {
		l.unpin()
		return fmt.Errorf("%w: MaxOpenConns is %d, and %d would be kept: SetMaxOpenConns to %d or more", ErrPoolTooSmall, most, n, n+1)
	}
	return nil
}

func (l *Locker) unpin() { l.srv.pinned.Add(-1) }

// staleLimit is how many connections in a row may turn out to be dead before opening a session fails. A pool may be full of them after a restart of the server, and
// not every driver notices.
const staleLimit = 20

func (l *Locker) open(ctx context.Context) (*session, error) {
	if err := l.pin(); err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		conn, err := l.db.Conn(ctx)
		if err != nil {
			l.unpin()
			return nil, fmt.Errorf("connect: %w", err)
		}
		s, stale, err := l.prepare(ctx, conn)
		if err == nil {
			return s, nil
		}
		discard(conn)
		conn.Close()
		if !stale || attempt == staleLimit || ctx.Err() != nil {
			l.unpin()
			return nil, err
		}
	}
}

// prepare checks that a connection is good for locks and makes a session out of it. If it fails, stale reports that another connection may do better.
func (l *Locker) prepare(ctx context.Context, conn *sql.Conn) (s *session, stale bool, err error) {
	nonce := randomKey()
	mark := probe{token: nonce.String()}
	if _, err := conn.ExecContext(ctx, mark.set()); err != nil {
		state := sqlState(err)
		return nil, state == "" || state[:2] == "57" || state[:2] == "08", refusedSession(ctx, err)
	}
	// pgx prepares statements that return something. It must not before it is known that there is no pooler, but for this one, which tells as well.
	if err := conn.QueryRowContext(ctx, "SELECT pg_backend_pid()").Scan(&mark.pid); err != nil {
		if preparedElsewhere(err) {
			err = errPoolerFound
		}
		return nil, false, refusedSession(ctx, err)
	}
	for range probeRounds {
		if err := l.probe(ctx, conn, &mark); err != nil {
			return nil, false, err
		}
	}
	sent := time.Now()
	var pid int
	var old string
	if err := conn.QueryRowContext(ctx, setUp(nonce, l.set.ttl)).Scan(&pid, &old); err != nil {
		return nil, false, refusedSession(ctx, err)
	}
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	s = l.begin(conn, pid, nonce, old, sent)
	if pid != mark.pid {
		s.lose(errPoolerFound)
		s.freeStray()
		return nil, false, errPoolerFound
	}
	return s, false, nil
}

// refusedSession makes the error of a statement that opens a session.
func refusedSession(ctx context.Context, err error) error {
	if reason := endOf(ctx); reason != nil {
		return because(reason, err)
	}
	switch sqlState(err) {
	case "42704":
		return fmt.Errorf("%w: leases need PostgreSQL 14 or later, whose idle_session_timeout ends the session of a holder that is gone: %w", ErrUnsupported, err)
	case "0A000", "42883":
		return fmt.Errorf("%w: %w", ErrUnsupported, err)
	case "22P02":
		if refused := refusal("session for leases", nil, err); refused != nil {
			return refused
		}
	}
	return err
}

func randomKey() Key {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return ID(int64(binary.BigEndian.Uint64(b[:])))
}
