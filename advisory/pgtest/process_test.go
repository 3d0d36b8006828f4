//go:build unix

package pgtest_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pgadvisory/pgadvisory/advisory/pgtest"
)

// serverPids lists the postmaster and all its sessions and helpers.
func serverPids(t *testing.T, srv *pgtest.Server) []int {
	t.Helper()
	pids := []int{srv.Postmaster()}
	rows, err := srv.Open(t, "pgx").QueryContext(t.Context(), "SELECT pid FROM pg_stat_activity")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var pid int
		if err := rows.Scan(&pid); err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return pids
}

// isRunning reports whether there is such a process. A dead one that only waits to be
// reaped, by whoever has adopted it, does not run.
func isRunning(pid int) bool {
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
		_, state, _ := strings.Cut(string(stat), ") ")
		return !strings.HasPrefix(state, "Z")
	}
	return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

// segment is the id of the server's System V shared memory.
func segment(t *testing.T, srv *pgtest.Server) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(srv.Dir(), "data", "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(strings.Split(string(content), "\n")[6]) // key and id
	return fields[len(fields)-1]
}

// segmentExists reports whether a System V shared memory segment is there, and skips the test
// where that cannot be seen.
func segmentExists(t *testing.T, id string) bool {
	t.Helper()
	table, err := os.ReadFile("/proc/sysvipc/shm")
	if err != nil {
		t.Skip(err)
	}
	for line := range strings.Lines(string(table)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[1] == id {
			return true
		}
	}
	return false
}
