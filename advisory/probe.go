package advisory

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"time"
)

// A probe looks for a pooler in transaction or statement mode, which gives statements of one connection to several sessions of the server. It works with any driver, and
// before anything is locked.
//
// The connection's session is marked, by a setting of a name that no server knows. A second connection looks, in a transaction, whether it has met the marked session, or
// whether somebody else has used it; then the first one looks whether it still meets it. An idle pooler gives the second connection the session that was
// used last. A busy one gives it to others, but by luck it may happen that they leave it alone, so this is repeated.
type probe struct {
	token string
	pid   int
}

const (
	probeRounds = 5
	// probeLimit is how long the probe waits for a second connection of the pool.
	probeLimit = 5 * time.Second
)

var errPoolerFound = fmt.Errorf("%w: statements of one connection reach several sessions; connect without the pooler, or in its session mode", ErrPooler)

// set makes the statement that marks a session, if the server is one whose locks mean something.
func (p *probe) set() string {
	return "SELECT set_config('advisory.probe','" + p.token + "',false) WHERE " + string(serverGuard)
}

// same makes the statement that has one row in the marked session.
func (p *probe) same() string {
	return "SELECT 1 WHERE current_setting('advisory.probe',true)='" + p.token + "' AND pg_backend_pid()=" + strconv.Itoa(p.pid)
}

// touched makes the statement that has one row in the marked session, and in others if somebody else has run a statement in it. Text of statements
// which this role may not see, or which the server does not keep, proves nothing.
func (p *probe) touched() string {
	return "SELECT 1 WHERE current_setting('advisory.probe',true)='" + p.token + "' OR EXISTS (SELECT FROM pg_stat_get_activity(" + strconv.Itoa(p.pid) +
		") WHERE query NOT IN ('','<insufficient privilege>') AND query NOT LIKE '%" + p.token + "%')"
}

// probe runs one round.
func (l *Locker) probe(ctx context.Context, conn *sql.Conn, p *probe) error {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	if same, err := rowsOf(ctx, conn, p.same()); err != nil {
		return fmt.Errorf("look for a pooler: %w", err)
	} else if same != 1 {
		return errPoolerFound
	}
	other, err := l.probeOther(ctx, p)
	if err != nil {
		return err
	}
	defer other.Close()
	same, err := rowsOf(ctx, conn, p.same())
	if err != nil {
		discard(other)
		return fmt.Errorf("look for a pooler: %w", err)
	}
	if _, err := rowsOf(ctx, other, "ROLLBACK"); err != nil {
		discard(other)
	}
	if same != 1 {
		return errPoolerFound
	}
	return nil
}

// probeOther returns a second connection with a transaction that does not meet the marked session.
func (l *Locker) probeOther(ctx context.Context, p *probe) (*sql.Conn, error) {
	begins := 0
	for attempt := 1; ; attempt++ {
		other, err := l.db.Conn(ctx)
		if err != nil {
			if ctx.Err() == context.DeadlineExceeded {
				return nil, fmt.Errorf("%w: none became free within %v to look for a pooler: %w", ErrPoolTooSmall, probeLimit, err)
			}
			return nil, fmt.Errorf("look for a pooler: %w", err)
		}
		touched, err := rowsOf(ctx, other, p.touched())
		if err == nil && touched == 0 {
			begins++
			touched, err = rowsOf(ctx, other, "BEGIN;"+p.touched())
		}
		if err == nil && touched == 0 {
			return other, nil
		}
		discard(other)
		other.Close()
		switch {
		case err == nil:
			return nil, errPoolerFound
		case sqlState(err) == "08P01", sqlState(err) == "" && begins >= 2 && ctx.Err() == nil:
			// lib/pq does not say why a connection broke; one that was alive breaks at BEGIN in statement mode, again and again.
			return nil, fmt.Errorf("%w: it refuses transactions: %w", ErrPooler, err)
		case attempt == staleLimit || ctx.Err() != nil:
			return nil, fmt.Errorf("look for a pooler: %w", err)
		}
	}
}

func rowsOf(ctx context.Context, conn *sql.Conn, query string) (int64, error) {
	result, err := conn.ExecContext(ctx, query)
	if err != nil {
		return 0, err
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	return result.RowsAffected()
}
