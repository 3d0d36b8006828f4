//go:build unix

package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// initdb makes the data directory.
func (h *home) initdb(ctx context.Context, bin string) error {
	out, err := h.output(ctx, filepath.Join(bin, "initdb"), "-D", h.path("data"),
		"-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	if err != nil {
		return fmt.Errorf("pgtest: initdb: %w%s", err, indented(out))
	}
	return h.writeFile("data/pg_hba.conf", "host all         all 127.0.0.1/32 trust\n"+
		"host replication all 127.0.0.1/32 trust\n")
}

// A process is a running postgres.
type process struct {
	cmd *exec.Cmd
	// ended reads the end of file when the last process of the server, which all
	// have inherited the other end, is gone. This needs no goroutine,
	// which a test that looks for leaked ones would find.
	ended *os.File
}

// startLimit ends a start that hangs even if the caller's ctx would not.
const startLimit = 2 * time.Minute

// startPostgres starts the server on the home's data directory and returns when it
// takes connections. Its error is errPortTaken if the port was not free.
func (h *home) startPostgres(ctx context.Context, bin string, port int) (*process, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, startLimit, fmt.Errorf("it was not ready after %v", startLimit))
	defer cancel()
	log, err := os.OpenFile(h.path("log"), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("pgtest: %w", err)
	}
	defer log.Close()
	ended, stdout, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("pgtest: %w", err)
	}
	defer stdout.Close()

	// Without a socket in the file system there is none to clash, or to have too
	// long a name. The server outlives ctx.
	cmd := h.command(context.Background(), filepath.Join(bin, "postgres"), "-D", h.path("data"),
		"-p", strconv.Itoa(port), "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=")
	cmd.Stdout, cmd.Stderr = stdout, log
	if err := cmd.Start(); err != nil {
		ended.Close()
		return nil, fmt.Errorf("pgtest: %w", err)
	}
	stdout.Close()

	p := &process{cmd: cmd, ended: ended}
	if err := p.ready(ctx, h.path("data/postmaster.pid")); err != nil {
		killErr := p.kill(context.WithoutCancel(ctx))
		return nil, errors.Join(h.explain("starting the server", err), killErr)
	}
	return p, nil
}

var errExited = errors.New("it ended")

// ready returns when the server takes connections, or has ended, or ctx is done.
func (p *process) ready(ctx context.Context, pidfile string) error {
	for {
		ended, err := p.endedWithin(10 * time.Millisecond)
		switch {
		case err != nil:
			return err
		case ended:
			return errExited
		case isReady(pidfile, p.cmd.Process.Pid):
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
	}
}

// isReady looks at the lock file of the server: its first line is the postmaster's
// process id, its eighth the status (PostgreSQL's pidfile.h).
func isReady(pidfile string, pid int) bool {
	content, err := os.ReadFile(pidfile)
	if err != nil {
		return false
	}
	lines := strings.Split(string(content), "\n")
	return len(lines) >= 8 && lines[0] == strconv.Itoa(pid) && strings.TrimSpace(lines[7]) == "ready"
}

// endedWithin waits until the server is gone with all its processes, at most for d.
func (p *process) endedWithin(d time.Duration) (bool, error) {
	if err := p.ended.SetReadDeadline(time.Now().Add(d)); err != nil {
		return false, err
	}
	_, err := io.Copy(io.Discard, p.ended)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return false, nil
	}
	return err == nil, err
}

// stop sends a signal to the postmaster and waits until the server is gone with all
// its processes.
func (p *process) stop(ctx context.Context, sig syscall.Signal) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := p.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	for {
		ended, err := p.endedWithin(10 * time.Millisecond)
		if err != nil {
			return err
		}
		if ended {
			p.reap()
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// reap frees what the kernel keeps of a server that is gone.
func (p *process) reap() {
	p.cmd.Wait() // how it ended does not matter any more
	p.ended.Close()
}

// logTail is how much of a long log an error shows.
const logTail = 16 << 10

// explain adds the end of the server's log to an error.
func (h *home) explain(doing string, err error) error {
	log, logErr := os.ReadFile(h.path("log"))
	if logErr != nil {
		return fmt.Errorf("pgtest: %s: %w", doing, errors.Join(err, logErr))
	}
	if errors.Is(err, errExited) && bytes.Contains(log, []byte("Address already in use")) {
		err = errPortTaken
	}
	return fmt.Errorf("pgtest: %s: %w; its log:%s", doing, err, indented(log[max(0, len(log)-logTail):]))
}
