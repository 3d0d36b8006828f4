package advisory_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/pgadvisory/pgadvisory/advisory"
	"github.com/pgadvisory/pgadvisory/advisory/pgtest"
)

// startPooler starts a PgBouncer with few sessions of its own in front of a database, and returns the DSN of it.
func startPooler(t *testing.T, dsn, mode string, sessions int) string {
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
	config := filepath.Join(t.TempDir(), "pgbouncer.ini")
	must(t, os.WriteFile(config, fmt.Appendf(nil, `[databases]
* = host=%s port=%s user=%s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = %s
default_pool_size = %d
ignore_startup_parameters = extra_float_digits
`, u.Hostname(), u.Port(), u.User.Username(), port, mode, sessions), 0o644))
	args := []string{config}
	if os.Getuid() == 0 {
		must(t, os.Chmod(filepath.Dir(config), 0o755))
		must(t, os.Chmod(filepath.Dir(filepath.Dir(config)), 0o755))
		args = []string{"-u", "nobody", config}
	}
	cmd := exec.Command(program, args...)
	log := new(lockedBuffer)
	cmd.Stdout, cmd.Stderr = log, log
	must(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		if t.Failed() {
			t.Logf("pgbouncer:\n%s", log)
		}
	})
	u.Host = net.JoinHostPort("127.0.0.1", fmt.Sprint(port))
	u.RawQuery = "sslmode=disable"
	db := open(t, "pgx", u.String()+"&default_query_exec_mode=simple_protocol")
	eventually(t, "pgbouncer answers", func() bool { return db.PingContext(testContext(t)) == nil })
	return u.String()
}

type lockedBuffer struct {
	mu   sync.Mutex
	text []byte
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text = append(b.text, p...)
	return len(p), nil
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.text)
}

// Behind a pooler in transaction mode, with the drivers as they are by default, no two are in Do at a time and nothing fails, although
// each transaction may have another session.
func TestDoBehindTransactionPooler(t *testing.T) {
	server.SkipIfExternal(t)
	t.Parallel()
	for _, driver := range pgtest.Drivers {
		t.Run(driver, func(t *testing.T) {
			database := server.Database(t)
			direct := database.Open(t, driver)
			createTable(t, direct, "done (n int)")
			dsn := startPooler(t, database.DSN(), "transaction", 3)
			const workers, each = 8, 40
			var group sync.WaitGroup
			for worker := range workers {
				// A pool each, as if they were processes: one that has not met the pooler's habits yet.
				db := open(t, driver, dsn)
				group.Go(func() {
					for i := range each {
						var opts []advisory.DoOption
						if (worker+i)%4 == 0 {
							opts = append(opts, advisory.Timeout(time.Minute))
						}
						err := advisory.Do(testContext(t), db, advisory.Pair(1, 2), func(ctx context.Context, tx *sql.Tx) error {
							if err := advisory.LockAll(ctx, tx, []advisory.Key{advisory.ID(int64(i)), advisory.ID(int64(i % 7))}); err != nil {
								return err
							}
							// The one before may still be about to free these: a transaction frees its locks one after the other.
							if _, err := advisory.TryLockAll(ctx, tx, numbers(5)); err != nil {
								return err
							}
							// Without arguments, so that pgx prepares nothing: that would fail behind this pooler, and is no business of ours.
							_, err := tx.ExecContext(ctx, "INSERT INTO done SELECT count(*) FROM done")
							return err
						}, opts...)
						if err != nil {
							t.Error(err)
						}
					}
				})
			}
			group.Wait()
			// Each saw all that were committed before.
			if n := count(t, direct, "(SELECT DISTINCT n FROM done) d"); n != workers*each {
				t.Errorf("%d different numbers, want %d", n, workers*each)
			}
			eventually(t, "all locks are gone", func() bool { return len(locks(t, direct)) == 0 })
		})
	}
}

// keepBusy runs short statements on db, several at a time, until t ends: others who come and go, so that a pooler keeps changing sessions. It does not
// mind errors, and makes haste slowly when there is nothing but errors.
func keepBusy(t testing.TB, db *sql.DB, workers int) {
	ctx, cancel := context.WithCancel(context.Background())
	var others sync.WaitGroup
	for range workers {
		others.Go(func() {
			tick := time.NewTicker(time.Millisecond)
			defer tick.Stop()
			for ctx.Err() == nil {
				db.ExecContext(ctx, "SELECT pg_sleep(0.001)")
				<-tick.C
			}
		})
	}
	t.Cleanup(func() {
		cancel()
		others.Wait()
	})
}

// With Isolation, a pooler that puts the transaction into another session than the lock is refused, and the lock that was left there is
// freed. When the session is the same by luck, all is well.
func TestIsolationBehindTransactionPooler(t *testing.T) {
	server.SkipIfExternal(t)
	t.Parallel()
	for _, driver := range pgtest.Drivers {
		t.Run(driver, func(t *testing.T) {
			database := server.Database(t)
			direct := database.Open(t, driver)
			dsn := startPooler(t, database.DSN(), "transaction", 4)
			if driver == "pgx" {
				dsn += "&default_query_exec_mode=exec" // as one has to behind this pooler
			}
			db := open(t, driver, dsn)
			keepBusy(t, db, 4)
			refused, hit := 0, 0
			for i := range 200 {
				key := advisory.ID(int64(i))
				var opts = []advisory.DoOption{advisory.Isolation(sql.LevelRepeatableRead)}
				if i%2 == 1 {
					opts = append(opts, advisory.Shared())
				}
				err := advisory.Do(testContext(t), db, key, func(ctx context.Context, tx *sql.Tx) error {
					if held := keysOf(locks(t, direct)); len(held) != 1 || held[0] != key {
						t.Errorf("held in fn: %v, want %v", held, key)
					}
					return nil
				}, opts...)
				switch {
				case errors.Is(err, advisory.ErrPooler):
					refused++
				case err != nil:
					hit++ // an idle session was ended that the pooler had just given to this call
					t.Log(err)
				}
				eventually(t, "all locks are gone", func() bool { return len(locks(t, direct)) == 0 })
			}
			t.Logf("%d of 200 were refused", refused)
			if refused == 0 || hit > 20 {
				t.Errorf("%d were refused, %d failed otherwise", refused, hit)
			}
		})
	}
}

// In session mode a pooler is like none.
func TestIsolationBehindSessionPooler(t *testing.T) {
	server.SkipIfExternal(t)
	t.Parallel()
	for _, driver := range pgtest.Drivers {
		t.Run(driver, func(t *testing.T) {
			db := open(t, driver, startPooler(t, server.Database(t).DSN(), "session", 4))
			for i := range 20 {
				must(t, advisory.Do(testContext(t), db, advisory.ID(int64(i)), func(context.Context, *sql.Tx) error { return nil },
					advisory.Isolation(sql.LevelSerializable)))
			}
		})
	}
}
