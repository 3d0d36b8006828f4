//go:build unix

package main

import (
	"bytes"
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pgadvisory/pgadvisory/advisory/pgtest"
)

// startRunningServer starts the server that stands for one which runs already.
var startRunningServer = sync.OnceValues(func() (*pgtest.Server, error) {
	serverStarted = true
	return pgtest.New(context.Background())
})

var serverStarted bool

func runningServer(t *testing.T) *pgtest.Server {
	t.Helper()
	server, err := startRunningServer()
	if err != nil {
		t.Fatal(err)
	}
	return server
}

// closeRunningServer must not be called before all tests have ended.
func closeRunningServer() error {
	if !serverStarted {
		return nil
	}
	server, err := startRunningServer()
	if err != nil {
		return nil // the tests have told
	}
	return server.Close()
}

// On a running server the demo works in a database of its own, and drops it. The last step needs the go command, the others do not.
func TestDemoOnRunningServer(t *testing.T) {
	t.Parallel()
	server := runningServer(t)
	for _, tt := range []struct {
		name   string
		noGo   bool
		status int
		stdout string
		stderr string
	}{
		{"with go", false, 0, "The database that the demo had created on your server is dropped", ""},
		{"without go", true, 1, "Left out: there is no go command on PATH", "advisory: demo: the linter needs the go command"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newTrial(t)
			r.cmd.Env = append(r.cmd.Env, "ADVISORY_TEST_DSN="+server.DSN())
			if tt.noGo {
				r.cmd.Env = append(r.cmd.Env, "PATH="+pathWithoutGo())
			}
			var stdout bytes.Buffer
			r.cmd.Stdout = &stdout
			r.cmd.Run() // the state tells
			if got := r.cmd.ProcessState.ExitCode(); got != tt.status {
				t.Errorf("exit status %d, want %d: %s", got, tt.status, r.stderr.String())
			}
			for _, want := range []string{"program B did the job", tt.stdout} {
				if !strings.Contains(stdout.String(), want) {
					t.Errorf("standard output lacks %q:\n%s", want, stdout.String())
				}
			}
			if got := r.stderr.String(); !strings.HasPrefix(got, tt.stderr) || tt.stderr == "" && got != "" {
				t.Errorf("standard error is %q, want %q", got, tt.stderr)
			}
			r.mustHaveCleanedUp(t)
			mustHaveNoDemo(t, server)
		})
	}
}

// mustHaveNoDemo requires that no database of a demo is left on a server. Others may be running demos there, which end.
func mustHaveNoDemo(t *testing.T, server *pgtest.Server) {
	t.Helper()
	db := server.Open(t, "pgx")
	var left sql.NullString
	eventually(t, "a database is left", func() bool {
		err := db.QueryRowContext(t.Context(), "SELECT min(datname) FROM pg_database WHERE starts_with(datname, 'advisory_demo_')").Scan(&left)
		if err != nil {
			t.Fatal(err)
		}
		return !left.Valid
	})
}

func pathWithoutGo() string {
	dirs := slices.DeleteFunc(filepath.SplitList(os.Getenv("PATH")), func(dir string) bool {
		_, err := os.Stat(filepath.Join(dir, "go"))
		return err == nil
	})
	return strings.Join(dirs, string(os.PathListSeparator))
}
