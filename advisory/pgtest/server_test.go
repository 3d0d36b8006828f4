//go:build unix

package pgtest_test

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/pgadvisory/pgadvisory/advisory/pgtest"
)

// ask reads one value.
func ask[T any](t *testing.T, db *sql.DB, query string, args ...any) T {
	t.Helper()
	var v T
	if err := db.QueryRowContext(t.Context(), query, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return v
}

func run(t *testing.T, db *sql.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// assertGone checks that nothing of a server is left.
func assertGone(t *testing.T, dir, dsn string) {
	t.Helper()
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory %s is still there: %v", dir, err)
	}
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	if conn, err := net.Dial("tcp", u.Host); err == nil {
		conn.Close()
		t.Errorf("somebody still listens on %s", u.Host)
	}
}

func TestOpen(t *testing.T) {
	for _, driver := range pgtest.Drivers {
		t.Run(driver, func(t *testing.T) {
			var db *sql.DB
			t.Run("inner", func(t *testing.T) {
				db = shared.Open(t, driver)
				if got := ask[int](t, db, "SELECT 1"); got != 1 {
					t.Errorf("SELECT 1 gave %d", got)
				}
			})
			if err := db.Ping(); err == nil {
				t.Error("the pool is still open after its test")
			}
		})
	}
	r := runTest(func(tb testing.TB) { shared.Open(tb, "mysql") })
	if !r.failed || !strings.Contains(r.text, `no driver "mysql"`) {
		t.Errorf("an unknown driver: %+v", r)
	}
}

func TestStartSetsUpAServerOfItsOwn(t *testing.T) {
	needOwn(t)
	var dir, dsn string
	r := runTest(func(tb testing.TB) {
		srv := pgtest.Start(tb)
		dir, dsn = srv.Dir(), srv.DSN()
		for _, driver := range pgtest.Drivers {
			db := srv.Open(tb, driver)
			for query, want := range map[string]string{
				"SELECT current_user":                                      "postgres",
				"SELECT current_database()":                                "postgres",
				"SELECT rolsuper FROM pg_roles WHERE rolname = 'postgres'": "true",
				"SHOW server_encoding":                                     "UTF8",
				"SHOW lc_messages":                                         "C",
				"SHOW fsync":                                               "off",
				"SHOW listen_addresses":                                    "127.0.0.1",
				"SHOW unix_socket_directories":                             "",
			} {
				if got := ask[string](t, db, query); got != want {
					t.Errorf("%s: %s gave %q, want %q", driver, query, got, want)
				}
			}
		}
	})
	if r.failed || r.skipped {
		t.Fatalf("the test went wrong: %+v", r)
	}
	assertGone(t, dir, dsn)
}

func TestClose(t *testing.T) {
	needOwn(t)
	ctx, cancel := context.WithCancel(t.Context())
	srv, err := pgtest.New(ctx)
	cancel() // bounds the start only
	if err != nil {
		t.Fatal(err)
	}
	db := srv.Open(t, "pgx")
	conn, err := db.Conn(t.Context()) // an open session must not delay it
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()

	// Nor must a server that is stopped, as by a debugger.
	if err := syscall.Kill(srv.Postmaster(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}

	dir, dsn := srv.Dir(), srv.DSN()
	for range 2 {
		if err := srv.Close(); err != nil {
			t.Fatal(err)
		}
	}
	assertGone(t, dir, dsn)
	_, standbyErr := srv.Standby(t.Context())
	for name, err := range map[string]error{
		"Restart": srv.Restart(t.Context()),
		"Kill":    srv.Kill(t.Context()),
		"Promote": srv.Promote(t.Context()),
		"Standby": standbyErr,
	} {
		if err == nil || !strings.Contains(err.Error(), "closed") {
			t.Errorf("%s after Close: %v", name, err)
		}
	}
}

func TestNewWithCancelledContext(t *testing.T) {
	needOwn(t)
	dir := emptyTempDir(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := pgtest.New(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("New: %v, want that ctx is done", err)
	}
	assertEmpty(t, dir)
}

func TestSeveralAtOnce(t *testing.T) {
	needOwn(t)
	const n = 4
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			r := runTest(func(tb testing.TB) {
				srv := pgtest.Start(tb)
				if _, err := srv.Open(tb, "pgx").Exec("CREATE TABLE mine ()"); err != nil {
					tb.Error(err)
				}
			})
			if r.failed {
				t.Error(r.text)
			}
		})
	}
	wg.Wait()
}

func TestPortTakenMeanwhile(t *testing.T) {
	needOwn(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port

	pgtest.Ports(t, port, port)
	srv := pgtest.Start(t)
	ask[int](t, srv.Open(t, "pgx"), "SELECT 1")

	pgtest.Ports(t, port, port, port, port, port, port, port, port, port, port)
	if _, err := pgtest.New(t.Context()); err == nil || !strings.Contains(err.Error(), "port was taken") {
		t.Errorf("with no port free: %v", err)
	}
}

func TestExternal(t *testing.T) {
	for name, dsn := range map[string]string{
		"URL":       shared.DSN(),
		"key=value": keyValue(t, shared.DSN()),
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("ADVISORY_TEST_DSN", dsn)
			srv, err := pgtest.New(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if srv.DSN() != dsn {
				t.Errorf("DSN is %q, want it as it is: %q", srv.DSN(), dsn)
			}
			for _, driver := range pgtest.Drivers {
				ask[int](t, srv.Open(t, driver), "SELECT 1")
				own := srv.Database(t)
				if got := ask[string](t, own.Open(t, driver), "SELECT current_database()"); got != own.Name() {
					t.Errorf("in the database %q, want %q", got, own.Name())
				}
			}

			_, standbyErr := srv.Standby(t.Context())
			_, settingErr := pgtest.New(t.Context(), pgtest.Setting("max_connections", "10"))
			for name, err := range map[string]error{
				"Restart": srv.Restart(t.Context()),
				"Kill":    srv.Kill(t.Context()),
				"Promote": srv.Promote(t.Context()),
				"Standby": standbyErr,
				"Setting": settingErr,
			} {
				if !errors.Is(err, pgtest.ErrExternal) {
					t.Errorf("%s: %v, want ErrExternal", name, err)
				}
			}
			for name, fn := range map[string]func(testing.TB){
				"SkipIfExternal": srv.SkipIfExternal,
				"StartStandby":   func(tb testing.TB) { srv.StartStandby(tb) },
				"Start":          func(tb testing.TB) { pgtest.Start(tb, pgtest.Setting("work_mem", "1MB")) },
			} {
				if r := runTest(fn); !r.skipped || !strings.Contains(r.text, "ADVISORY_TEST_DSN") {
					t.Errorf("%s: %+v, want it skipped", name, r)
				}
			}

			if err := srv.Close(); err != nil {
				t.Error(err)
			}
			ask[int](t, shared.Open(t, "pgx"), "SELECT 1") // it was not stopped
		})
	}
}

func keyValue(t *testing.T, dsn string) string {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	return "host=" + u.Hostname() + " port=" + u.Port() + " user=" + u.User.Username() +
		" dbname=" + strings.TrimPrefix(u.Path, "/") + " sslmode=disable"
}

func TestExternalUnreachable(t *testing.T) {
	for _, dsn := range []string{"postgres://127.0.0.1:1/x?sslmode=disable", "no dsn"} {
		t.Setenv("ADVISORY_TEST_DSN", dsn)
		_, err := pgtest.New(t.Context())
		if err == nil || !strings.Contains(err.Error(), "ADVISORY_TEST_DSN cannot be used") {
			t.Errorf("New with ADVISORY_TEST_DSN=%q: %v", dsn, err)
		}
	}
}
