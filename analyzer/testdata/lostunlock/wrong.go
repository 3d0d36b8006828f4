// Package lostunlock takes session-level locks on connections that go back to
// their pool with the lock on them, and beside them some that do not.
package lostunlock

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
)

var errBusy = errors.New("busy")

func earlyReturn(ctx context.Context, db *sql.DB, dig func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil { // want `pg_advisory_lock on conn is not freed on the way out at line \d+, .* \(lostunlock\)$`
		return err
	}
	if err := dig(); err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, "SELECT pg_advisory_unlock(1)")
	return err
}

func closeIsNoRelease(ctx context.Context, db *sql.DB, dig func(context.Context, *sql.Conn) error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil { // want `lostunlock`
		return err
	}
	return dig(ctx, conn)
}

func releaseIsNone(ctx context.Context, pool *pgxpool.Pool, dig func(context.Context) error) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	var ok bool
	if err := conn.QueryRow(ctx, "SELECT pg_try_advisory_lock(1)").Scan(&ok); err != nil { // want `lostunlock`
		return err
	}
	if !ok {
		return errBusy
	}
	return dig(ctx)
}

func lateDefer(ctx context.Context, db *sql.DB, check func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil { // want `lostunlock`
		return err
	}
	if err := check(); err != nil {
		return err
	}
	defer conn.ExecContext(ctx, "SELECT pg_advisory_unlock(1)")
	return check()
}

func wrongOrder(ctx context.Context, db *sql.DB, dig func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil { // want `is given back \(line \d+\) before the unlock is run.*lostunlock`
		return errors.Join(err, conn.Close())
	}
	defer conn.ExecContext(ctx, "SELECT pg_advisory_unlock(1)")
	defer conn.Close()
	return dig()
}

func wrongOrderInOne(ctx context.Context, db *sql.DB, dig func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil { // want `is given back .* before the unlock.*lostunlock`
		return errors.Join(err, conn.Close())
	}
	defer func() {
		conn.Close()
		conn.ExecContext(ctx, "SELECT pg_advisory_unlock(1)")
	}()
	return dig()
}

func notDeferred(ctx context.Context, db *sql.DB, dig func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil { // want `is freed, but not by a defer: a panic in between \(line \d+\).*lostunlock`
		return err
	}
	workErr := dig()
	_, err = conn.ExecContext(ctx, "SELECT pg_advisory_unlock(1)")
	return errors.Join(workErr, err)
}

func inLoop(ctx context.Context, db *sql.DB, jobs []int64, dig func(int64) error) error {
	for _, job := range jobs {
		conn, err := db.Conn(ctx)
		if err != nil {
			return err
		}
		if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock($1)", job); err != nil { // want `lostunlock`
			conn.Close()
			return err
		}
		if err := dig(job); err != nil {
			conn.Close()
			continue
		}
		conn.ExecContext(ctx, "SELECT pg_advisory_unlock($1)", job)
		conn.Close()
	}
	return nil
}

func labelled(ctx context.Context, db *sql.DB, next func() (int, error)) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil { // want `lostunlock`
		return err
	}
poll:
	for {
		n, err := next()
		switch {
		case err != nil:
			return err
		case n == 0:
			break poll
		}
	}
	_, err = conn.ExecContext(ctx, "SELECT pg_advisory_unlock(1)")
	return err
}

func selected(ctx context.Context, db *sql.DB, done <-chan error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil { // want `lostunlock`
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err := <-done:
		if err != nil {
			return err
		}
	case <-time.After(time.Minute):
	}
	_, err = conn.ExecContext(ctx, "SELECT pg_advisory_unlock(1)")
	return err
}

func typeSwitched(ctx context.Context, db *sql.DB, v any) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil { // want `lostunlock`
		return err
	}
	switch v := v.(type) {
	case error:
		return v
	case fmt.Stringer:
		_ = v.String()
	}
	_, err = conn.ExecContext(ctx, "SELECT pg_advisory_unlock(1)")
	return err
}

// through helpers.

func take(ctx context.Context, conn *sql.Conn, key int64) error {
	_, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock($1)", key)
	return err
}

func free(ctx context.Context, conn *sql.Conn, key int64) error {
	_, err := conn.ExecContext(ctx, "SELECT pg_advisory_unlock($1)", key)
	return err
}

func helpers(ctx context.Context, db *sql.DB, dig func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := take(ctx, conn, 1); err != nil { // want `pg_advisory_lock, run by take, on conn is not freed.*lostunlock`
		return err
	}
	if err := dig(); err != nil {
		return err
	}
	return free(ctx, conn, 1)
}

type mine struct{ db *sql.DB }

func (m *mine) pin(ctx context.Context) (*sql.Conn, error) { return m.db.Conn(ctx) }

func (m *mine) pinnedByHelper(ctx context.Context, dig func() error) error {
	conn, err := m.pin(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil { // want `lostunlock`
		return err
	}
	return dig()
}

func inRetry(ctx context.Context, db *sql.DB, retry func(func() error) error, dig func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := retry(func() error {
		_, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)") // want `lostunlock`
		return err
	}); err != nil {
		return err
	}
	return dig()
}

func flagOnOnePath(ctx context.Context, db *sql.DB, wanted bool, dig func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	locked := false
	if wanted {
		if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil { // want `lostunlock`
			return err
		}
		locked = true
	}
	if err := dig(); err != nil {
		return err
	}
	if locked {
		_, err = conn.ExecContext(ctx, "SELECT pg_advisory_unlock(1)")
	}
	return err
}

func lostBeforeEscape(ctx context.Context, db *sql.DB, check func() error) (*lease, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil { // want `lostunlock`
		conn.Close()
		return nil, err
	}
	if err := check(); err != nil {
		conn.Close()
		return nil, err
	}
	return &lease{conn}, nil
}

func acquireFunc(ctx context.Context, pool *pgxpool.Pool, dig func() error) error {
	return pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error {
		if _, err := c.Exec(ctx, "SELECT pg_advisory_lock(1)"); err != nil { // want `lostunlock`
			return err
		}
		return dig()
	})
}

func inTransactionOfConn(ctx context.Context, db *sql.DB, dig func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil { // want `lostunlock`
		return err
	}
	if err := dig(); err != nil {
		return err
	}
	return tx.Commit()
}

// a callback that is lent a connection.

func (m *mine) with(ctx context.Context, fn func(*sql.Conn) error) error {
	conn, err := m.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return fn(conn)
}

func (m *mine) lent(ctx context.Context, dig func() error) error {
	return m.with(ctx, func(c *sql.Conn) error {
		if _, err := c.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil { // want `lostunlock`
			return err
		}
		return dig()
	})
}

func triedAndLost(ctx context.Context, db *sql.DB, dig func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	ok, err := try(ctx, conn) // want `pg_try_advisory_lock, run by try, on conn is not freed.*lostunlock`
	if err != nil || !ok {
		return err
	}
	return dig()
}

func sqlServerLost(ctx context.Context, db *sql.DB, dig func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	var status int
	const text = "DECLARE @r int; EXEC @r = sp_getapplock @Resource = 'x', @LockMode = 'Exclusive', @LockOwner = 'Session'; SELECT @r"
	if err := conn.QueryRowContext(ctx, text).Scan(&status); err != nil { // want `lostunlock`
		return err
	}
	if status < 0 {
		return errBusy
	}
	return dig()
}

func lostInRaw(ctx context.Context, db *sql.DB, dig func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.Raw(func(c any) error {
		_, err := c.(*stdlib.Conn).Conn().Exec(ctx, "SELECT pg_advisory_lock(1)") // want `lostunlock`
		return err
	}); err != nil {
		return err
	}
	return dig()
}
