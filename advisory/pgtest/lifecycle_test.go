//go:build unix

package pgtest_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/pgadvisory/pgadvisory/advisory/pgtest"
)

func TestRestart(t *testing.T) {
	needOwn(t)
	srv := pgtest.Start(t)
	dsn := srv.DSN()
	db := srv.Open(t, "pgx")
	run(t, db, "CREATE TABLE kept ()")
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()

	if err := srv.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if srv.DSN() != dsn {
		t.Errorf("the DSN has changed from %s to %s", dsn, srv.DSN())
	}
	var pgErr *pgconn.PgError
	if _, err := conn.ExecContext(t.Context(), "SELECT 1"); !errors.As(err, &pgErr) || pgErr.Code != "57P01" {
		t.Errorf("the session that was open: %v, want SQLSTATE 57P01", err)
	}
	for _, driver := range pgtest.Drivers {
		ask[bool](t, srv.Open(t, driver), "SELECT EXISTS (SELECT FROM kept)")
	}
}

func TestKillAndRestart(t *testing.T) {
	needOwn(t)
	srv := pgtest.Start(t)
	db := srv.Open(t, "pgx")
	run(t, db, "CREATE TABLE kept (n int)")
	for round := 1; round <= 3; round++ {
		run(t, db, "INSERT INTO kept VALUES ($1)", round)
		open, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := open.Exec("INSERT INTO kept VALUES (-1)"); err != nil {
			t.Fatal(err)
		}
		pids := serverPids(t, srv)

		for range 2 { // the second time there is nothing to kill
			if err := srv.Kill(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for _, pid := range pids {
			// The kernel closes a process's files shortly before it is gone.
			eventually(t, func() bool { return !isRunning(pid) })
		}
		if err := db.PingContext(t.Context()); err == nil {
			t.Error("the killed server answers")
		}
		if _, err := srv.Standby(t.Context()); err == nil || !strings.Contains(err.Error(), "the server is down") {
			t.Errorf("Standby of a killed server: %v", err)
		}
		open.Rollback()

		if err := srv.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := ask[int](t, srv.Open(t, "postgres"), "SELECT count(*) FROM kept"); got != round {
			t.Errorf("%d rows after the restart, want the %d that were committed", got, round)
		}
	}
}

func TestRestartWhenSomethingIsWrong(t *testing.T) {
	needOwn(t)
	srv := pgtest.Start(t)

	// ctx is done.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, err := range map[string]error{"Restart": srv.Restart(ctx), "Kill": srv.Kill(ctx)} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s with a cancelled ctx: %v", name, err)
		}
	}
	ask[int](t, srv.Open(t, "pgx"), "SELECT 1")

	// The server has died without Kill.
	if err := syscall.Kill(srv.Postmaster(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := srv.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	db := srv.Open(t, "pgx")

	// It does not start: the error says why.
	run(t, db, "ALTER SYSTEM SET shared_preload_libraries = 'no_such_library'")
	for range 2 {
		err := srv.Restart(t.Context())
		if err == nil || !strings.Contains(err.Error(), "no_such_library") {
			t.Fatalf("Restart: %v, want the log in it", err)
		}
	}
	if err := srv.Promote(t.Context()); err == nil || !strings.Contains(err.Error(), "the server is down") {
		t.Errorf("Promote of a server that is down: %v", err)
	}
	if err := os.Remove(filepath.Join(srv.Dir(), "data", "postgresql.auto.conf")); err != nil {
		t.Fatal(err)
	}
	if err := srv.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	ask[int](t, db, "SELECT 1")
}

// A killed server that is never started again must not leave its shared memory.
func TestCloseAfterKill(t *testing.T) {
	needOwn(t)
	var id string
	r := runTest(func(tb testing.TB) {
		srv := pgtest.Start(tb)
		if id = segment(t, srv); !segmentExists(t, id) {
			t.Errorf("there is no segment %s while the server runs", id)
		}
		srv.Database(tb) // that it cannot be dropped must not fail the test
		if err := srv.Kill(t.Context()); err != nil {
			tb.Fatal(err)
		}
	})
	if r.failed {
		t.Fatal(r.text)
	}
	if segmentExists(t, id) {
		t.Errorf("the segment %s of shared memory is still there", id)
	}
}
