package advisory

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"
)

// handOver runs the transaction at REPEATABLE READ or above, with a snapshot that is younger than the lock.
//
// At these levels the first statement takes the snapshot, a lock statement before it waits. So the lock is taken before BEGIN, at
// session level, and the transaction's first statement takes it at transaction level, too, which needs no wait, and gives the
// session's one up. From then on all is as in any other transaction: COMMIT and ROLLBACK free the lock, and there is nothing left to unlock.
//
// A connection that died in the pool is tried another one for, which database/sql does by itself only where it chooses the connection for each
// statement. After a restart of the server all idle ones are dead.
func (d *do) handOver(ctx context.Context, held *held) (ran bool, err error) {
	for spare := d.db.Stats().OpenConnections; ; spare-- {
		ran, err = d.handOverOnce(ctx, held)
		if ran || spare <= 0 || !errors.Is(err, driver.ErrBadConn) {
			return ran, err
		}
	}
}

// handOverOnce is handOver on one connection, which goes back to the pool only once the session's lock is given up. On any error before
// that it is closed instead, because an error does not prove that a session-level lock was not granted.
func (d *do) handOverOnce(ctx context.Context, held *held) (ran bool, err error) {
	conn, err := d.db.Conn(ctx)
	if err != nil {
		return false, d.failed(ctx, err)
	}
	defer conn.Close()
	clean := false
	defer func() {
		if !clean {
			discard(conn)
		}
	}()

	pid, err := d.lockSession(ctx, conn)
	switch {
	case err == nil:
		err = ctx.Err() // some drivers answer nil for a statement that was cancelled halfway
	case err == sql.ErrNoRows:
		clean = true
		return false, nil
	case d.try && d.set.timeout > 0 && sqlState(err) == "55P03" && endOf(ctx) == nil:
		return false, nil // not clean: the lock can have been granted all the same
	}
	if err != nil {
		return false, d.failed(ctx, err)
	}

	tx, err := conn.BeginTx(held, &sql.TxOptions{Isolation: d.set.isolation, ReadOnly: d.set.readOnly})
	if err != nil {
		return false, d.beginFailed(ctx, err)
	}
	var s statement
	s.exchange(d.key, d.set.shared)
	rows, err := s.run(ctx, tx)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil || rows != 1 {
		tx.Rollback() // before discard, which waits for the transaction
	}
	if err != nil {
		return false, d.failed(ctx, err)
	}
	if rows != 1 {
		return false, d.lost(ctx, conn, pid)
	}
	clean = true
	return d.work(ctx, held, tx)
}

// lockSession takes the lock at session level, and returns which session of the server now has it, or [sql.ErrNoRows] if a try has failed.
func (d *do) lockSession(ctx context.Context, conn *sql.Conn) (pid int, err error) {
	s := statement{placeholders: serverOf(d.db).placeholders()}
	s.sessionLock(d.key, &d.set, d.try)
	// The number of rows would do, but for the pid: without arguments pgx would cache one prepared statement per key here.
	err = conn.QueryRowContext(ctx, s.text.String(), s.args...).Scan(&pid)
	return pid, err
}

// sessionLock makes the statement that takes a key at session level, outside of a transaction, and returns the session's pid, or no row if a try
// fails. As the statement is a transaction of its own, a lock_timeout that is local to it needs no putting back.
func (s *statement) sessionLock(key Key, set *settings, try bool) {
	s.add("SELECT pg_catalog.pg_backend_pid() WHERE CASE WHEN ")
	s.add(string(serverGuard))
	ms := set.milliseconds()
	if ms > 0 {
		s.add(" AND pg_catalog.set_config('lock_timeout',")
		s.setting(ms)
		s.add(",true) IS NOT NULL")
	}
	s.add(" THEN ")
	if try && ms == 0 {
		s.call("pg_try_advisory_lock", key, set.shared)
	} else {
		s.call("pg_advisory_lock", key, set.shared)
		s.add(" IS NOT NULL")
	}
	s.add(" END")
}

// exchange makes the statement that turns the session's lock into the transaction's. It must not wait: if another session than this one has
// the lock, that one is this call's own, behind a pooler, and would be waited for for ever.
func (s *statement) exchange(key Key, shared bool) {
	s.add("SELECT 1 WHERE CASE WHEN ")
	s.call("pg_try_advisory_xact_lock", key, shared)
	s.add(" THEN ")
	s.call("pg_advisory_unlock", key, shared)
	s.add(" END")
}

// discard closes the physical connection, and so ends its session with all locks. No transaction may be open on it.
func discard(conn *sql.Conn) {
	conn.Raw(func(any) error { return driver.ErrBadConn })
}

// strayLimit is how long a lock that a pooler has kept is looked for.
const strayLimit = 5 * time.Second

// lost makes the error for a transaction that found itself in another session than the one which took the lock. That session belongs to
// the pooler and goes on with the lock, so it has to be found again.
func (d *do) lost(ctx context.Context, conn *sql.Conn, pid int) error {
	err := fmt.Errorf("%w: %s %v with Isolation: the transaction is in another session than the lock; connect without the pooler, or in its session mode",
		ErrPooler, d.call, d.key)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), strayLimit)
	defer cancel()
	if strayErr := d.freeStray(ctx, conn, pid); strayErr != nil {
		return fmt.Errorf("%w; session %d of the server still holds the lock: %w", err, pid, strayErr)
	}
	return err
}

// freeStray frees the lock that was left in session pid: by unlocking when the pooler hands out that session, and by ending the session
// while it is idle. A session that is gone has freed it.
func (d *do) freeStray(ctx context.Context, conn *sql.Conn, pid int) error {
	unlock := statement{}
	unlock.add("SELECT 1 WHERE CASE WHEN pg_catalog.pg_backend_pid()=")
	unlock.number(int64(pid), "integer")
	unlock.add(" THEN ")
	unlock.call("pg_advisory_unlock", d.key, d.set.shared)
	unlock.add(" ELSE (SELECT pg_catalog.bool_and(CASE WHEN state='idle' THEN pg_catalog.pg_terminate_backend(pid) ELSE false END) IS NOT FALSE" +
		" FROM pg_catalog.pg_stat_activity WHERE pid=")
	unlock.number(int64(pid), "integer")
	unlock.add(") END")
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		// On the one pinned connection: it must not wait for a free one of the pool.
		rows, err := unlock.run(ctx, conn)
		if err != nil || rows == 1 {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
