package lostunlock

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"log"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
)

func deferredUnlock(ctx context.Context, db *sql.DB, dig func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil {
		return err
	}
	defer func() {
		if _, err := conn.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock(1)"); err != nil {
			log.Print(err)
		}
	}()
	return dig()
}

func deferredHelpers(ctx context.Context, db *sql.DB, dig func() error) (err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := take(ctx, conn, 1); err != nil {
		return err
	}
	defer free(ctx, conn, 1)
	return dig()
}

func joinedErrors(ctx context.Context, db *sql.DB, dig func() error) (err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if err := take(ctx, conn, 1); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, free(ctx, conn, 1)) }()
	return dig()
}

// one deferred function for both, in the right order.
func together(ctx context.Context, db *sql.DB, dig func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil {
		return errors.Join(err, conn.Close())
	}
	defer func() {
		conn.ExecContext(ctx, "SELECT pg_advisory_unlock(1)")
		conn.Close()
	}()
	return dig()
}

func nothingBetween(ctx context.Context, db *sql.DB) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil {
		return err
	}
	log.Print("nobody else is here")
	_, err = conn.ExecContext(ctx, "SELECT pg_advisory_unlock(1)")
	return err
}

func failedTry(ctx context.Context, pool *pgxpool.Pool, dig func() error) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	var ok bool
	err = conn.QueryRow(ctx, "SELECT pg_try_advisory_lock(1)").Scan(&ok)
	if err != nil || !ok {
		return err
	}
	defer conn.Exec(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock(1)")
	return dig()
}

func tryInBranch(ctx context.Context, pool *pgxpool.Pool, dig func() error) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	var ok bool
	if err := conn.QueryRow(ctx, "SELECT pg_try_advisory_lock(1)").Scan(&ok); err != nil {
		return err
	}
	if ok {
		defer conn.Exec(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock(1)")
		return dig()
	}
	return nil
}

func switched(ctx context.Context, pool *pgxpool.Pool, dig func() error) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	var ok bool
	switch err := conn.QueryRow(ctx, "SELECT pg_try_advisory_lock(1)").Scan(&ok); {
	case errors.Is(err, context.Canceled):
		return nil
	case err != nil:
		return err
	case ok == false:
		return errBusy
	}
	defer conn.Exec(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock(1)")
	return dig()
}

func rowLater(ctx context.Context, db *sql.DB, dig func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	row := conn.QueryRowContext(ctx, "SELECT pg_try_advisory_lock(1)")
	var got sql.NullBool
	if err := row.Scan(&got); err != nil {
		return err
	}
	if !got.Valid || !got.Bool {
		return errBusy
	}
	defer conn.ExecContext(ctx, "SELECT pg_advisory_unlock(1)")
	return dig()
}

func mysqlAnswer(ctx context.Context, db *sql.DB, dig func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	var got int
	if err := conn.QueryRowContext(ctx, "SELECT GET_LOCK('dig', 5)").Scan(&got); err != nil {
		return err
	}
	if got == 0 {
		return errBusy
	}
	defer conn.ExecContext(ctx, "DO RELEASE_LOCK('dig')")
	return dig()
}

// the retry of a try-lock until it succeeds.
func polling(ctx context.Context, db *sql.DB, dig func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	for {
		var ok bool
		if err := conn.QueryRowContext(ctx, "SELECT pg_try_advisory_lock(1)").Scan(&ok); err != nil {
			return err
		}
		if ok {
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
	defer conn.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock(1)")
	return dig()
}

// the lock is optional, and a flag remembers it.
func optional(ctx context.Context, db *sql.DB, wanted bool) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	locked := false
	if wanted {
		if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil {
			return err
		}
		locked = true
	}
	log.Print("digging")
	if locked {
		_, err = conn.ExecContext(ctx, "SELECT pg_advisory_unlock(1)")
	}
	return err
}

func sameCondition(ctx context.Context, db *sql.DB, wanted bool) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if wanted {
		if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil {
			return err
		}
	}
	log.Print("digging")
	if wanted {
		_, err = conn.ExecContext(ctx, "SELECT pg_advisory_unlock(1)")
	}
	return err
}

func twiceFreed(ctx context.Context, db *sql.DB, dig, tidy func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil {
		return err
	}
	var once sync.Once
	unlock := func() {
		once.Do(func() { conn.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock(1)") })
	}
	defer unlock()
	if err := dig(); err != nil {
		return err
	}
	unlock()
	return tidy()
}

// the connection goes where somebody else frees the lock.

type lease struct{ conn *sql.Conn }

func (l *lease) free(ctx context.Context) error {
	_, err := l.conn.ExecContext(ctx, "SELECT pg_advisory_unlock(1)")
	return errors.Join(err, l.conn.Close())
}

func leased(ctx context.Context, db *sql.DB) (*lease, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil {
		conn.Close()
		return nil, err
	}
	return &lease{conn: conn}, nil
}

func leasedHere(ctx context.Context, db *sql.DB, dig func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil {
		conn.Close()
		return err
	}
	l := &lease{conn: conn}
	defer l.free(ctx)
	return dig()
}

func unlocker(ctx context.Context, db *sql.DB) (unlock func() error, err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil {
		conn.Close()
		return nil, err
	}
	unlock = func() error {
		_, err := conn.ExecContext(ctx, "SELECT pg_advisory_unlock(1)")
		return errors.Join(err, conn.Close())
	}
	return unlock, nil
}

func methodUnlocker(ctx context.Context, db *sql.DB) (func(context.Context) error, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil {
		conn.Close()
		return nil, err
	}
	l := lease{conn}
	return l.free, nil
}

type table struct {
	mu    sync.Mutex
	conns map[int64]*sql.Conn
	last  *sql.Conn
	freed chan *sql.Conn
}

func (t *table) inMap(ctx context.Context, db *sql.DB, key int64) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	if err := take(ctx, conn, key); err != nil {
		return errors.Join(err, conn.Close())
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.conns[key] = conn
	return nil
}

func (t *table) inField(ctx context.Context, db *sql.DB, key int64) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	if err := take(ctx, conn, key); err != nil {
		return errors.Join(err, conn.Close())
	}
	t.last = conn
	return nil
}

func (t *table) keep(conn *sql.Conn) { t.last = conn }

func (t *table) keptByMethod(ctx context.Context, db *sql.DB, key int64) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	if err := take(ctx, conn, key); err != nil {
		return errors.Join(err, conn.Close())
	}
	t.keep(conn)
	return nil
}

func (t *table) sent(ctx context.Context, db *sql.DB, key int64) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	if err := take(ctx, conn, key); err != nil {
		return errors.Join(err, conn.Close())
	}
	t.freed <- conn
	return nil
}

func spawned(ctx context.Context, db *sql.DB, stop <-chan struct{}) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	if err := take(ctx, conn, 1); err != nil {
		return errors.Join(err, conn.Close())
	}
	go func() {
		defer conn.Close()
		<-stop
		free(context.Background(), conn, 1)
	}()
	return nil
}

func afterFunc(ctx context.Context, db *sql.DB) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	if err := take(ctx, conn, 1); err != nil {
		return errors.Join(err, conn.Close())
	}
	context.AfterFunc(ctx, func() {
		free(context.WithoutCancel(ctx), conn, 1)
		conn.Close()
	})
	return nil
}

func cleanup(t *testing.T, db *sql.DB) {
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.ExecContext(t.Context(), "SELECT pg_advisory_lock(1)"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		free(context.Background(), conn, 1)
		conn.Close()
	})
}

type releaser interface {
	Release(context.Context, *sql.Conn) error
}

func byInterface(ctx context.Context, db *sql.DB, r releaser, dig func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	if err := take(ctx, conn, 1); err != nil {
		return errors.Join(err, conn.Close())
	}
	defer r.Release(ctx, conn)
	return dig()
}

// the session ends, and the lock with it.

func hijacked(ctx context.Context, pool *pgxpool.Pool, dig func() error) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock(1)"); err != nil {
		conn.Release()
		return err
	}
	defer conn.Hijack().Close(context.WithoutCancel(ctx))
	return dig()
}

func closedBelow(ctx context.Context, pool *pgxpool.Pool, dig func() error) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock(1)"); err != nil {
		return err
	}
	defer conn.Conn().Close(context.WithoutCancel(ctx))
	return dig()
}

func bad(conn *sql.Conn) {
	conn.Raw(func(any) error { return driver.ErrBadConn })
}

func poisoned(ctx context.Context, db *sql.DB, dig func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil {
		return err
	}
	defer bad(conn)
	return dig()
}

func closedRaw(ctx context.Context, db *sql.DB, dig func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil {
		return err
	}
	defer conn.Raw(func(c any) error { return c.(*stdlib.Conn).Conn().Close(context.Background()) })
	return dig()
}

func connected(ctx context.Context, dsn string, dig func() error) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock(1)"); err != nil {
		return err
	}
	return dig()
}

func databaseClosed(ctx context.Context, dsn string, dig func() error) error {
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil {
		return err
	}
	return dig()
}

func exits(ctx context.Context, db *sql.DB, dig func() error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil {
		log.Fatal(err)
	}
	if err := dig(); err != nil {
		log.Fatalf("dig: %v", err)
	}
	os.Exit(0)
}

func forEver(ctx context.Context, db *sql.DB, dig func()) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil {
		return err
	}
	for {
		dig()
	}
}

// the connection is not this function's to give back.

func onParameter(ctx context.Context, conn *sql.Conn, dig func() error) error {
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil {
		return err
	}
	return dig()
}

func (l *lease) lock(ctx context.Context) error {
	_, err := l.conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)")
	return err
}

// a helper that does both.
func with(ctx context.Context, conn *sql.Conn, dig func() error) error {
	if err := take(ctx, conn, 1); err != nil {
		return err
	}
	defer free(ctx, conn, 1)
	return dig()
}

func callsWith(ctx context.Context, db *sql.DB, dig func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return with(ctx, conn, dig)
}

func unlockAll(ctx context.Context, db *sql.DB, keys []int64, dig func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer conn.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock_all()")
	for _, key := range keys {
		if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock($1)", key); err != nil {
			return err
		}
	}
	return dig()
}

func unlockText(ctx context.Context, db *sql.DB, run func(context.Context, *sql.Conn, string) error, dig func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := run(ctx, conn, "SELECT pg_advisory_lock(1)"); err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(2)"); err != nil {
		return err
	}
	defer run(ctx, conn, "SELECT pg_advisory_unlock_all()")
	return dig()
}

func byTransaction(ctx context.Context, db *sql.DB, dig func() error) error {
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
	var ok bool
	if err := tx.QueryRowContext(ctx, "SELECT pg_try_advisory_lock(1)").Scan(&ok); err != nil || !ok {
		return err
	}
	defer free(context.WithoutCancel(ctx), conn, 1)
	if err := tx.Commit(); err != nil {
		return err
	}
	return dig()
}

// callbacks that are lent a connection.

func (m *mine) lentRight(ctx context.Context, dig func() error) error {
	return m.with(ctx, func(c *sql.Conn) error {
		if _, err := c.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil {
			return err
		}
		defer c.ExecContext(ctx, "SELECT pg_advisory_unlock(1)")
		return dig()
	})
}

func (m *mine) lentAndClosed(ctx context.Context) error {
	return m.with(ctx, func(c *sql.Conn) error { return c.Close() })
}

func (m *mine) locked(ctx context.Context, fn func(*sql.Conn) error) error {
	conn, err := m.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := take(ctx, conn, 1); err != nil {
		return err
	}
	defer free(context.WithoutCancel(ctx), conn, 1)
	return fn(conn)
}

func (m *mine) closesWhatIsLocked(ctx context.Context) error {
	return m.locked(ctx, func(c *sql.Conn) error { return c.Close() })
}

func (m *mine) cleansUp(ctx context.Context, fn func(*sql.Conn) error) error {
	conn, err := m.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer conn.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock_all()")
	return fn(conn)
}

func (m *mine) cleanedUp(ctx context.Context, dig func() error) error {
	return m.cleansUp(ctx, func(c *sql.Conn) error {
		if err := take(ctx, c, 1); err != nil {
			return err
		}
		return dig()
	})
}

// answers in other forms.

type taken struct{ ok bool }

func (t *taken) fill(ctx context.Context, db *sql.DB, dig func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.QueryRowContext(ctx, "SELECT pg_try_advisory_lock(1)").Scan(&t.ok); err != nil {
		return err
	}
	if !t.ok {
		return errBusy
	}
	defer free(context.WithoutCancel(ctx), conn, 1)
	return dig()
}

func try(ctx context.Context, conn *sql.Conn) (ok bool, err error) {
	err = conn.QueryRowContext(ctx, "SELECT pg_try_advisory_lock(1)").Scan(&ok)
	return ok, err
}

func tried(ctx context.Context, db *sql.DB, dig func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	ok, err := try(ctx, conn)
	if err != nil || !ok {
		return err
	}
	defer free(context.WithoutCancel(ctx), conn, 1)
	return dig()
}

func tryStruct(ctx context.Context, conn *sql.Conn) (t taken, err error) {
	err = conn.QueryRowContext(ctx, "SELECT pg_try_advisory_lock(1)").Scan(&t.ok)
	return t, err
}

func triedStruct(ctx context.Context, db *sql.DB, dig func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	t, err := tryStruct(ctx, conn)
	if err != nil || !t.ok {
		return err
	}
	defer free(context.WithoutCancel(ctx), conn, 1)
	return dig()
}

func collected(ctx context.Context, pool *pgxpool.Pool, dig func() error) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	rows, err := conn.Query(ctx, "SELECT pg_try_advisory_lock(1)")
	if err != nil {
		return err
	}
	ok, err := pgx.CollectOneRow(rows, pgx.RowTo[bool])
	if err != nil || !ok {
		return err
	}
	defer conn.Exec(ctx, "SELECT pg_advisory_unlock(1)")
	return dig()
}

func sqlServer(ctx context.Context, db *sql.DB, dig func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	var status int
	const text = "DECLARE @r int; EXEC @r = sp_getapplock @Resource = 'x', @LockMode = 'Exclusive', @LockOwner = 'Session'; SELECT @r"
	if err := conn.QueryRowContext(ctx, text).Scan(&status); err != nil {
		return err
	}
	if status < 0 {
		return errBusy
	}
	defer conn.ExecContext(ctx, "EXEC sp_releaseapplock @Resource = 'x', @LockOwner = 'Session'")
	return dig()
}

func mysqlNull(ctx context.Context, db *sql.DB, dig func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	var got sql.NullInt64
	if err := conn.QueryRowContext(ctx, "SELECT GET_LOCK('dig', 5)").Scan(&got); err != nil {
		return err
	}
	if !(got.Valid && got.Int64 > 0) {
		return errBusy
	}
	defer conn.ExecContext(ctx, "DO RELEASE_LOCK('dig')")
	return dig()
}

func yes(ok bool) bool { return ok }

func asked(ctx context.Context, db *sql.DB, dig func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	var ok bool
	if err := conn.QueryRowContext(ctx, "SELECT pg_try_advisory_lock(1)").Scan(&ok); err != nil {
		return err
	}
	if !yes(ok) {
		return errBusy
	}
	defer free(context.WithoutCancel(ctx), conn, 1)
	return dig()
}

func countedRows(ctx context.Context, db *sql.DB, dig func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	res, err := conn.ExecContext(ctx, "SELECT FROM pg_try_advisory_lock(1) AS got WHERE got")
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err != nil {
		return err
	}
	if n == 0 {
		return errBusy
	}
	defer free(context.WithoutCancel(ctx), conn, 1)
	return dig()
}

func throughRaw(ctx context.Context, db *sql.DB, dig func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.Raw(func(c any) error {
		_, err := c.(*stdlib.Conn).Conn().Exec(ctx, "SELECT pg_advisory_lock(1)")
		return err
	}); err != nil {
		return err
	}
	defer conn.Raw(func(c any) error {
		_, err := c.(*stdlib.Conn).Conn().Exec(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock(1)")
		return err
	})
	return dig()
}

func elector(ctx context.Context, pool *pgxpool.Pool, lead func(context.Context) error) error {
	for {
		conn, err := pool.Acquire(ctx)
		if err != nil {
			return err
		}
		var ok bool
		if err := conn.QueryRow(ctx, "SELECT pg_try_advisory_lock(1)").Scan(&ok); err != nil || !ok {
			conn.Release()
			if err != nil {
				return err
			}
			time.Sleep(time.Second)
			continue
		}
		err = leads(ctx, conn, lead)
		conn.Release()
		if err != nil {
			return err
		}
	}
}

func leads(ctx context.Context, conn *pgxpool.Conn, lead func(context.Context) error) error {
	defer conn.Exec(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock(1)")
	return lead(ctx)
}

type lockHolder struct {
	pool *pgxpool.Pool
	conn *pgxpool.Conn
}

func (h *lockHolder) acquire(ctx context.Context) error {
	conn, err := h.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	var ok bool
	err = conn.QueryRow(ctx, "SELECT pg_try_advisory_lock(1)").Scan(&ok)
	if err != nil {
		conn.Release()
		return err
	}
	if !ok {
		conn.Release()
		return errBusy
	}
	h.conn = conn
	return nil
}

// more ways to free it elsewhere.

func lockKey(ctx context.Context, conn *sql.Conn) (unlock func(), err error) {
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil {
		return nil, err
	}
	return func() { conn.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock(1)") }, nil
}

func usesUnlocker(ctx context.Context, db *sql.DB, dig func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	unlock, err := lockKey(ctx, conn)
	if err != nil {
		return err
	}
	defer unlock()
	return dig()
}

func laterCleanup(ctx context.Context, db *sql.DB, dig func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	cleanup := func() {}
	defer func() { cleanup() }()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil {
		return err
	}
	cleanup = func() {
		conn.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock(1)")
	}
	return dig()
}

type connKey struct{}

func inContext(ctx context.Context, db *sql.DB, dig func(context.Context) error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil {
		return err
	}
	return dig(context.WithValue(ctx, connKey{}, conn))
}

func many(ctx context.Context, db *sql.DB, keys []int64, dig func() error) error {
	var conns []*sql.Conn
	defer func() {
		for _, conn := range conns {
			conn.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock_all()")
			conn.Close()
		}
	}()
	for _, key := range keys {
		conn, err := db.Conn(ctx)
		if err != nil {
			return err
		}
		conns = append(conns, conn)
		if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock($1)", key); err != nil {
			return err
		}
	}
	return dig()
}

func manyByKey(ctx context.Context, db *sql.DB, keys []int64) (map[int64]*lease, error) {
	leases := map[int64]*lease{}
	for _, key := range keys {
		conn, err := db.Conn(ctx)
		if err != nil {
			return leases, err
		}
		if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock($1)", key); err != nil {
			return leases, errors.Join(err, conn.Close())
		}
		leases[key] = &lease{conn: conn}
	}
	return leases, nil
}

func wrap(err error) error {
	if err == nil {
		return nil
	}
	return errors.Join(errBusy, err)
}

func wrapped(ctx context.Context, db *sql.DB, dig func() error) (err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)")
	if err = wrap(err); err != nil {
		return err
	}
	if conn == nil {
		return errBusy
	}
	defer free(context.WithoutCancel(ctx), conn, 1)
	return dig()
}

func switchedOnError(ctx context.Context, db *sql.DB, dig func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)")
	switch err {
	case nil:
	case context.Canceled:
		return nil
	default:
		return err
	}
	defer free(context.WithoutCancel(ctx), conn, 1)
	return dig()
}

func inOnce(ctx context.Context, db *sql.DB, dig func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return func() error {
		if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil {
			return err
		}
		defer conn.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock(1)")
		return dig()
	}()
}
