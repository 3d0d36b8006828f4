//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A trial is one run of "advisory demo", with a directory of its own for temporary files.
type trial struct {
	cmd    *exec.Cmd
	stderr bytes.Buffer
	tmp    string // for the demo's temporary files
	output string // a file for standard output
	called string // a file that is there when the go command of useHangingGo runs
}

func newTrial(t *testing.T) *trial {
	t.Helper()
	// The server's user, which is another one if we are root, must be able to enter the directory; it cannot enter t.TempDir.
	tmp, err := os.MkdirTemp("", "advisory-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(tmp) })
	if err := os.Chmod(tmp, 0o777); err != nil {
		t.Fatal(err)
	}
	other := t.TempDir()
	r := &trial{cmd: exec.Command("advisory", "demo"), tmp: tmp, output: filepath.Join(other, "output"), called: filepath.Join(other, "called")}
	r.cmd.Env = append(os.Environ(), quickRace, "TMPDIR="+tmp)
	r.cmd.Stderr = &r.stderr
	return r
}

// useHangingGo puts a go command on PATH that makes a temporary file, as the real one does, and then does nothing for a minute.
func (r *trial) useHangingGo(t *testing.T) {
	t.Helper()
	bin := t.TempDir()
	script := "#!/bin/sh\n: >${GOTMPDIR:-$TMPDIR}/go-build\n: >" + r.called + "\nexec sleep 60\n"
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	r.cmd.Env = append(r.cmd.Env, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
}

func (r *trial) wrote(text string) bool {
	content, err := os.ReadFile(r.output)
	return err == nil && bytes.Contains(content, []byte(text))
}

func (r *trial) made(pattern string) bool {
	found, err := filepath.Glob(filepath.Join(r.tmp, pattern))
	return err == nil && len(found) > 0
}

func (r *trial) calledGo() bool {
	_, err := os.Stat(r.called)
	return err == nil
}

// postmasters returns the process ids of the servers that the demo has started.
func (r *trial) postmasters() []int {
	var pids []int
	files, _ := filepath.Glob(filepath.Join(r.tmp, "pgtest.*", "data", "postmaster.pid")) // only a bad pattern is an error
	for _, file := range files {
		content, _ := os.ReadFile(file)
		first, _, _ := strings.Cut(string(content), "\n")
		if pid, err := strconv.Atoi(first); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// mustHaveStopped waits for the demo to end, and requires that it says so and leaves nothing behind.
func (r *trial) mustHaveStopped(t *testing.T, postmasters []int) {
	t.Helper()
	r.cmd.Wait() // the state tells
	if got := r.cmd.ProcessState.ExitCode(); got != statusStopped {
		t.Errorf("exit status %d, want %d", got, statusStopped)
	}
	if got := r.stderr.String(); !strings.HasPrefix(got, "advisory: demo: stopped: ") || strings.Count(got, "\n") != 1 {
		t.Errorf("standard error is %q, want one line about the signal", got)
	}
	for _, pid := range postmasters {
		if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
			t.Errorf("the server's process %d is still there: %v", pid, err)
		}
	}
	r.mustHaveCleanedUp(t)
}

func (r *trial) mustHaveCleanedUp(t *testing.T) {
	t.Helper()
	left, err := os.ReadDir(r.tmp)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range left {
		t.Errorf("%s is left in the directory for temporary files", entry.Name())
	}
}

func eventually(t *testing.T, complaint string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !condition(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s after a minute", complaint)
		}
	}
}
