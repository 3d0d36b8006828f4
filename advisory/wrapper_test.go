package advisory_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/lib/pq"

	"github.com/pgadvisory/pgadvisory/advisory"
)

// A wrapped connector is what tracing and metrics make of one: the driver is not known by its type, and each statement passes through a hook.
type wrapped struct {
	driver driver.Driver
	dsn    string
	hook   func(query string, err error) error
}

func (w wrapped) Connect(context.Context) (driver.Conn, error) {
	conn, err := w.driver.Open(w.dsn)
	if err != nil {
		return nil, err
	}
	return wrappedConn{conn, w.hook}, nil
}

// Driver returns nil, which database/sql allows.
func (w wrapped) Driver() driver.Driver { return nil }

type wrappedConn struct {
	driver.Conn
	hook func(query string, err error) error
}

func (c wrappedConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	return c.Conn.(driver.ConnBeginTx).BeginTx(ctx, opts)
}

func (c wrappedConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	result, err := c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
	return result, c.hook(query, err)
}

func (c wrappedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	rows, err := c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args)
	return rows, c.hook(query, err)
}

func eachWrapped(t *testing.T, hook func(query string, err error) error, test func(t *testing.T, db *sql.DB)) {
	for name, drv := range map[string]driver.Driver{"pgx": stdlib.GetDefaultDriver(), "postgres": &pq.Driver{}} {
		t.Run(name, func(t *testing.T) {
			db := sql.OpenDB(wrapped{drv, server.Database(t).DSN(), hook})
			t.Cleanup(func() { db.Close() })
			test(t, db)
		})
	}
}

// Do works through a driver that it does not know, and finds the refusal also where the wrapper quotes the statement in the error's text.
func TestWrappedDriver(t *testing.T) {
	t.Parallel()
	quote := func(query string, err error) error {
		if err != nil {
			return fmt.Errorf("query %q failed: %w", query, err)
		}
		return nil
	}
	eachWrapped(t, quote, func(t *testing.T, db *sql.DB) {
		for name, opts := range doVariants {
			for range 2 {
				ran := false
				err := advisory.Do(testContext(t), db, advisory.ID(1), func(context.Context, *sql.Tx) error { ran = true; return nil }, opts...)
				if err != nil || !ran {
					t.Errorf("%s: ran %v, %v", name, ran, err)
				}
			}
		}
		tx := begin(t, db, &sql.TxOptions{Isolation: sql.LevelSerializable})
		err := advisory.Lock(testContext(t), tx, advisory.ID(1))
		if !errors.Is(err, advisory.ErrSnapshot) || errors.Is(err, advisory.ErrUnsupported) {
			t.Errorf("Lock at SERIALIZABLE: %v, want ErrSnapshot", err)
		}
		must(t, tx.Rollback())
		_, err = advisory.TryLockAll(testContext(t), begin(t, db, nil), numbers(5000))
		if e, ok := errors.AsType[*advisory.TooManyLocksError](err); !ok || e.Limit == 0 {
			t.Errorf("TryLockAll of too many: %v, want a TooManyLocksError with the limit", err)
		}
	})
}

// If ctx ends right after the lock was granted, database/sql rolls back at once: fn must not run without the lock.
func TestFnNeverRunsWithoutTheLock(t *testing.T) {
	t.Parallel()
	var cancel context.CancelFunc
	endAfterLock := func(query string, err error) error {
		if strings.Contains(query, "pg_try_advisory_xact_lock") || strings.Contains(query, "pg_advisory_xact_lock") {
			cancel()
		}
		return err
	}
	eachWrapped(t, endAfterLock, func(t *testing.T, db *sql.DB) {
		for name, opts := range doVariants {
			var ctx context.Context
			ctx, cancel = context.WithCancel(context.Background())
			ran, err := advisory.TryDo(ctx, db, advisory.ID(1), func(context.Context, *sql.Tx) error {
				t.Errorf("%s: fn was run", name)
				return nil
			}, opts...)
			if ran || !errors.Is(err, context.Canceled) {
				t.Errorf("%s: ran %v, %v", name, ran, err)
			}
			cancel = func() {}
			assertClean(t, db) // or the next one finds the lock taken still
		}
	})
}

// At whatever moment ctx ends, fn finds the lock held when it is entered.
func TestLockIsHeldWhenFnIsEntered(t *testing.T) {
	runs := 300
	if testing.Short() {
		runs = 50
	}
	eachDriver(t, func(t *testing.T, db *sql.DB) {
		entered := 0
		for i := range runs {
			key := advisory.ID(int64(i))
			ctx, cancel := context.WithCancel(context.Background())
			started := make(chan struct{})
			go func() {
				close(started)
				for range i % 40 { // a moment that differs from run to run
					db.Stats()
				}
				cancel()
			}()
			<-started
			advisory.Do(ctx, db, key, func(ctx context.Context, tx *sql.Tx) error {
				entered++
				other := begin(t, db, nil)
				defer other.Rollback()
				if free, err := advisory.TryLock(testContext(t), other, key); free || err != nil {
					t.Errorf("run %d: in fn another is granted the key: %v, %v", i, free, err)
				}
				return nil
			})
			cancel()
		}
		t.Logf("fn was entered %d times of %d", entered, runs)
		assertClean(t, db)
	})
}
