package cron_test

import (
	"database/sql"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/pgadvisory/pgadvisory/advisory/cron"
)

// startPooler starts a PgBouncer in transaction mode in front of a database, and returns its DSN.
func startPooler(t *testing.T, dsn string) string {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		if program, err = exec.LookPath("/usr/sbin/pgbouncer"); err != nil {
			t.Skip("needs pgbouncer, which is not installed")
		}
	}
	u, err := url.Parse(dsn)
	must(t, err)
	// A port that is free now; PgBouncer does not take 0.
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	port := listener.Addr().(*net.TCPAddr).Port
	must(t, listener.Close())
	dir, err := os.MkdirTemp("", "pgbouncer")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	config := filepath.Join(dir, "pgbouncer.ini")
	must(t, os.WriteFile(config, fmt.Appendf(nil, `[databases]
* = host=%s port=%s user=%s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 4
ignore_startup_parameters = extra_float_digits
`, u.Hostname(), u.Port(), u.User.Username(), port), 0o644))
	args := []string{config}
	if os.Getuid() == 0 {
		must(t, os.Chmod(dir, 0o755))
		args = []string{"-u", "nobody", config}
	}
	cmd := exec.Command(program, args...)
	must(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	u.Host = net.JoinHostPort("127.0.0.1", fmt.Sprint(port))
	u.RawQuery = "sslmode=disable"
	return u.String()
}

// Behind a pooler in transaction mode a run works: each of its transactions has what it needs in itself. pgx must be told to prepare nothing.
func TestPooler(t *testing.T) {
	for driver, parameters := range map[string]string{"pgx": "&default_query_exec_mode=exec", "postgres": ""} {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			database := server.Database(t)
			direct := database.Open(t, driver)
			prepare(t, direct)
			dsn := startPooler(t, database.DSN()) + parameters
			ctx := testContext(t)
			const nodes, ticks = 3, 10
			var group sync.WaitGroup
			for node := range nodes {
				db, err := sql.Open(driver, dsn)
				must(t, err)
				defer db.Close()
				// So there are three runs at a time at most, and one of the pooler's four sessions is left for their records.
				db.SetMaxOpenConns(2)
				group.Go(func() {
					eventually(t, "pgbouncer answers", func() bool { return db.PingContext(ctx) == nil })
					for i := range ticks {
						tick := noon.Add(time.Duration(i) * time.Minute)
						if _, err := cron.Once(ctx, db, "job", tick, insert(tick, fmt.Sprint(node)), cron.RetryCrashed(3)); err != nil {
							t.Errorf("node %d, tick %d: %v", node, i, err)
						}
					}
				})
			}
			group.Wait()
			assertOnce(t, direct, ticks)
		})
	}
}
