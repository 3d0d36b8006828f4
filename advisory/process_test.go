package advisory_test

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pgadvisory/pgadvisory/advisory"
	"github.com/pgadvisory/pgadvisory/advisory/pgtest"
)

// This test program runs as the holder of a lease, in a process of its own, if this is set.
const (
	holderDSN    = "ADVISORY_TEST_HOLDER"
	holderDriver = "ADVISORY_TEST_HOLDER_DRIVER"
	holderTTL    = time.Second
)

var holderKey = advisory.Name("process")

// holder acquires the lease and then answers each line on stdin: "look" says what the lease's context and Err are, "write" writes under its fence.
func holder(dsn string) int {
	db, err := sql.Open(os.Getenv(holderDriver), dsn)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	lease, err := advisory.NewLocker(db, advisory.TTL(holderTTL)).Acquire(context.Background(), holderKey)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("held")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		switch in.Text() {
		case "look":
			fmt.Println(lease.Context().Err() != nil, errors.Is(lease.Err(), advisory.ErrLost))
		case "write":
			err := lease.Do(context.Background(), db, insert)
			fmt.Println(err == nil, errors.Is(err, advisory.ErrLost))
		}
	}
	return 0
}

// startHolder starts the process, and returns a function that has it answer.
func startHolder(t *testing.T, driver, dsn string) (cmd *exec.Cmd, ask func(string) string) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), holderDSN+"="+dsn, holderDriver+"="+driver)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	lines := bufio.NewReader(out)
	read := func() string {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(line)
	}
	if got := read(); got != "held" {
		t.Fatal(got)
	}
	return cmd, func(command string) string {
		if _, err := io.WriteString(in, command+"\n"); err != nil {
			t.Fatal(err)
		}
		return read()
	}
}

// A process that is stopped for longer than the TTL has lost the lease at its first look, and cannot write any more.
func TestLeaseProcessStopped(t *testing.T) {
	for _, driver := range pgtest.Drivers {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			database := server.Database(t)
			db := database.Open(t, driver)
			createTable(t, db, "done (n int)")
			locker := newLocker(t, db)
			for _, first := range []string{"look", "write"} {
				cmd, ask := startHolder(t, driver, database.DSN())
				if got := ask("look"); got != "false false" {
					t.Errorf("before: %s", got)
				}
				if got := ask("write"); got != "true false" {
					t.Errorf("before: %s", got)
				}
				must(t, cmd.Process.Signal(syscall.SIGSTOP))
				start := time.Now()
				next := acquire(t, locker, holderKey)
				t.Logf("next holder after %v", time.Since(start))
				must(t, cmd.Process.Signal(syscall.SIGCONT))
				want := map[string]string{"look": "true true", "write": "false true"}
				if got := ask(first); got != want[first] {
					t.Errorf("%s: %s, want %s", first, got, want[first])
				}
				if got := ask("write"); got != want["write"] {
					t.Errorf("write: %s", got)
				}
				must(t, next.Release(testContext(t)))
				if n := count(t, db, "done"); n != 1 {
					t.Errorf("%d rows, want 1", n)
				}
				if _, err := db.ExecContext(testContext(t), "TRUNCATE done"); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// A process that is killed frees the lock as its connections close.
func TestLeaseProcessKilled(t *testing.T) {
	for _, driver := range pgtest.Drivers {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			database := server.Database(t)
			db := database.Open(t, driver)
			locker := newLocker(t, db)
			cmd, _ := startHolder(t, driver, database.DSN())
			must(t, cmd.Process.Kill())
			start := time.Now()
			next := acquire(t, locker, holderKey)
			t.Logf("next holder after %v", time.Since(start))
			must(t, next.Release(testContext(t)))
		})
	}
}
