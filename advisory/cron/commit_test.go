package cron_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pgadvisory/pgadvisory/advisory/cron"
	"github.com/pgadvisory/pgadvisory/advisory/pgtest"
)

// errNoAnswer is what a COMMIT returns whose answer is lost.
var errNoAnswer = errors.New("connection lost while COMMIT ran")

// A lossyConnector makes connections that lose the answer to the COMMIT at which countdown reaches 0. The server has committed then.
type lossyConnector struct {
	driver    driver.Driver
	dsn       string
	countdown *atomic.Int32
}

func (c lossyConnector) Driver() driver.Driver { return c.driver }

func (c lossyConnector) Connect(context.Context) (driver.Conn, error) {
	conn, err := c.driver.Open(c.dsn)
	return lossyConn{conn, c.countdown}, err
}

type lossyConn struct {
	driver.Conn
	countdown *atomic.Int32
}

func (c lossyConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
}

func (c lossyConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args)
}

func (c lossyConn) CheckNamedValue(value *driver.NamedValue) error {
	if checker, ok := c.Conn.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(value)
	}
	return driver.ErrSkip // lib/pq before v1.11: database/sql's own conversion
}

func (c lossyConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	tx, err := c.Conn.(driver.ConnBeginTx).BeginTx(ctx, opts)
	return lossyTx{tx, c.countdown}, err
}

type lossyTx struct {
	driver.Tx
	countdown *atomic.Int32
}

func (tx lossyTx) Commit() error {
	err := tx.Tx.Commit()
	if tx.countdown.Add(-1) == 0 {
		return errors.Join(err, errNoAnswer)
	}
	return err
}

func TestLostCommit(t *testing.T) {
	eachDriver(t, func(t *testing.T, database *pgtest.Database, db *sql.DB, _ string) {
		ctx := testContext(t)
		var countdown atomic.Int32
		lossy := sql.OpenDB(lossyConnector{db.Driver(), database.DSN(), &countdown})
		defer lossy.Close()

		// That of the claim: the job has not begun, and the tick is free for others.
		countdown.Store(1)
		result, err := cron.Once(ctx, lossy, "claim", noon, func(context.Context, *sql.Tx) error { t.Error("the job ran"); return nil })
		if !errors.Is(err, errNoAnswer) || result != (cron.Result{}) {
			t.Errorf("claim: %+v, %v", result, err)
		}
		if got := history(t, db, "claim", noon); got != nil {
			t.Errorf("claim: %v", got)
		}
		result, err = cron.Once(ctx, db, "claim", noon, insert(noon, "claim"))
		if err != nil || result != (cron.Result{Outcome: cron.Ran, Attempt: 1}) {
			t.Errorf("claim, again: %+v, %v", result, err)
		}

		// That of the work: the row tells that it took effect.
		countdown.Store(2)
		result, err = cron.Once(ctx, lossy, "work", noon, insert(noon, "work"))
		if err != nil || result != (cron.Result{Outcome: cron.Ran, Attempt: 1}) {
			t.Errorf("work: %+v, %v", result, err)
		}
		if got := history(t, db, "work", noon); !cmp.Equal(got, []attempt{{1, cron.Succeeded, ""}}) {
			t.Errorf("work: %v", got)
		}

		// That of recording a failure.
		boom := errors.New("boom")
		countdown.Store(2)
		result, err = cron.Once(ctx, lossy, "failure", noon, func(context.Context, *sql.Tx) error { return boom })
		if err != boom || result != (cron.Result{Outcome: cron.Ran, Attempt: 1}) {
			t.Errorf("failure: %+v, %v", result, err)
		}
		if got := history(t, db, "failure", noon); !cmp.Equal(got, []attempt{{1, cron.Failed, "boom"}}) {
			t.Errorf("failure: %v", got)
		}
		if n := count(t, db, "SELECT count(*) FROM work"); n != 2 {
			t.Errorf("%d rows of work", n)
		}
		assertClean(t, lossy)
	})
}

// Runs leave the pool a connection for their records; whoever has to wait for that can give up.
func TestPoolIsBusy(t *testing.T) {
	eachDriver(t, func(t *testing.T, _ *pgtest.Database, db *sql.DB, _ string) {
		ctx := testContext(t)
		db.SetMaxOpenConns(2)
		result, err := cron.Once(ctx, db, "job", noon, func(context.Context, *sql.Tx) error {
			waiting, cancel := context.WithCancel(ctx)
			done := make(chan error)
			go func() {
				result, err := cron.Once(waiting, db, "other", noon, insert(noon, "other"))
				if result != (cron.Result{}) {
					t.Errorf("%+v, %v", result, err)
				}
				done <- err
			}()
			cancel()
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Errorf("with no room: %v", err)
			}
			return nil
		})
		if err != nil || result.Outcome != cron.Ran {
			t.Errorf("%+v, %v", result, err)
		}
		if result, err = cron.Once(ctx, db, "other", noon, insert(noon, "other")); err != nil || result.Outcome != cron.Ran {
			t.Errorf("with room: %+v, %v", result, err)
		}
		assertClean(t, db)
	})
}
