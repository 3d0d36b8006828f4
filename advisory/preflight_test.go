package advisory_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/DATA-DOG/go-sqlmock"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgadvisory/pgadvisory/advisory"
	"github.com/pgadvisory/pgadvisory/advisory/pgtest"
)

func TestLockerStandby(t *testing.T) {
	t.Parallel()
	server.SkipIfExternal(t)
	standby := server.StartStandby(t)
	for _, driver := range pgtest.Drivers {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			db := standby.Open(t, driver)
			if _, err := newLocker(t, db).Acquire(testContext(t), advisory.ID(1)); !errors.Is(err, advisory.ErrStandby) {
				t.Errorf("%v, want ErrStandby", err)
			}
			assertClean(t, db)

			// A locker whose connections go to a standby after the first lease.
			p := startProxy(t, server.DSN())
			db = open(t, driver, p.dsn)
			locker := newLocker(t, db, advisory.TTL(time.Second))
			lease := acquire(t, locker, advisory.Name(t.Name()))
			p.redirect(standby.DSN())
			assertLost(t, lease)
			eventually(t, "the pool has noticed", func() bool {
				_, err := locker.Acquire(testContext(t), advisory.Name(t.Name()))
				if err == nil {
					t.Fatal("a lease on a standby")
				}
				return errors.Is(err, advisory.ErrStandby)
			})
		})
	}
}

func TestLockerPoolTooSmall(t *testing.T) {
	eachDriver(t, func(t *testing.T, db *sql.DB) {
		db.SetMaxOpenConns(1)
		first, second := newLocker(t, db), newLocker(t, db)
		if _, err := first.Acquire(testContext(t), advisory.ID(1)); !errors.Is(err, advisory.ErrPoolTooSmall) {
			t.Errorf("pool of 1: %v, want ErrPoolTooSmall", err)
		}
		db.SetMaxOpenConns(2)
		lease := acquire(t, first, advisory.ID(1))
		if _, err := second.Acquire(testContext(t), advisory.ID(2)); !errors.Is(err, advisory.ErrPoolTooSmall) {
			t.Errorf("second locker on a pool of 2: %v, want ErrPoolTooSmall", err)
		}
		// There is room for the work.
		must(t, advisory.Do(testContext(t), db, advisory.ID(1), func(context.Context, *sql.Tx) error { return nil }))
		must(t, lease.Release(testContext(t)))
		must(t, first.Close())
		must(t, acquire(t, second, advisory.ID(2)).Release(testContext(t)))
		must(t, second.Close())
		assertClean(t, db)
	})
}

// Behind a pooler in transaction or statement mode each of 50 lockers is refused, idle or busy, and nothing is left in the pooler's sessions. In session mode a
// locker works.
func TestLockerBehindPooler(t *testing.T) {
	server.SkipIfExternal(t)
	t.Parallel()
	for _, driver := range pgtest.Drivers {
		for _, mode := range []string{"transaction", "statement", "session"} {
			t.Run(driver+" "+mode, func(t *testing.T) {
				t.Parallel()
				database := server.Database(t)
				direct := database.Open(t, driver)
				dsn := startPooler(t, database.DSN(), mode, 8)
				if mode == "session" {
					db := open(t, driver, dsn)
					locker := newLocker(t, db)
					key := advisory.ID(1)
					lease := acquire(t, locker, key)
					if len(leaseKeys(t, direct, key)) != 1 {
						t.Error("nothing is held on the server")
					}
					must(t, lease.Release(testContext(t)))
					must(t, locker.Close())
					assertClean(t, db)
					return
				}
				for _, busy := range []int{0, 4} {
					if busy > 0 {
						keepBusy(t, open(t, driver, dsn), busy)
					}
					for i := range 50 {
						db := open(t, driver, dsn)
						locker := advisory.NewLocker(db)
						if _, err := locker.Acquire(testContext(t), advisory.ID(int64(i))); !errors.Is(err, advisory.ErrPooler) {
							t.Errorf("busy with %d, %d: %v, want ErrPooler", busy, i, err)
						}
						if err := locker.Close(); err != nil {
							t.Errorf("Close: %v", err)
						}
						must(t, db.Close())
					}
				}
				eventually(t, "nothing is locked", func() bool { return len(locks(t, direct)) == 0 })
			})
		}
	}
}

// What other servers answer, and PostgreSQL before 14.
func TestLockerUnsupported(t *testing.T) {
	for name, c := range map[string]struct {
		at            string // the statement that fails
		code, message string
	}{
		"CockroachDB":   {"advisory.probe", "22P02", `invalid input syntax for type boolean: "advisory:CockroachDB CCL v25.1.0 (x86_64)fread;"`},
		"no functions":  {"advisory.probe", "42883", `function pg_is_in_recovery() does not exist`},
		"PostgreSQL 13": {"idle_session_timeout", "42704", `unrecognized configuration parameter "idle_session_timeout"`},
	} {
		t.Run(name, func(t *testing.T) {
			db, mock, err := sqlmock.New()
			must(t, err)
			defer db.Close()
			cause := &pgconn.PgError{Severity: "ERROR", Code: c.code, Message: c.message}
			mock.MatchExpectationsInOrder(false)
			if c.at != "advisory.probe" {
				// Nothing is wrong until the session gets its settings.
				mock.ExpectExec("SELECT set_config").WillReturnResult(sqlmock.NewResult(0, 1))
				mock.ExpectQuery("^SELECT pg_backend_pid\\(\\)$").WillReturnRows(sqlmock.NewRows([]string{"pid"}).AddRow(17))
				for range 20 {
					mock.ExpectExec("AND pg_backend_pid").WillReturnResult(sqlmock.NewResult(0, 1))
					mock.ExpectExec("EXISTS").WillReturnResult(sqlmock.NewResult(0, 0))
					mock.ExpectExec("ROLLBACK").WillReturnResult(sqlmock.NewResult(0, 0))
				}
				mock.ExpectQuery("idle_session_timeout").WillReturnError(cause)
			} else {
				mock.ExpectExec("advisory.probe").WillReturnError(cause)
			}
			locker := newLocker(t, db)
			if _, err = locker.Acquire(testContext(t), advisory.ID(1)); !errors.Is(err, advisory.ErrUnsupported) || !errors.Is(err, cause) {
				t.Errorf("%v, want ErrUnsupported", err)
			}
		})
	}
}
