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
	"strings"
	"syscall"
	"time"
)

// A home is the directory of one server, with the watchdog that removes it. Every
// process of the server is started through it.
type home struct {
	dir   string
	owner *owner // nil: the same user as ours

	watchdog *exec.Cmd
	lead     *os.File // the watchdog acts when no process has this open any more
	alive    *os.File // every process of the server has this open

	busy chan struct{} // if not nil, the home must stay until this is closed
}

// watchdog is a shell script. It makes a directory, writes its name, and waits until
// its standard input ends, which happens when our process closes it or is gone, in
// whatever way. Then it ends the server and removes the directory.
//
// Every process is started in the watchdog's process group, which is set in
// the child before it runs anything, so none can be missed. The server's
// backends leave that group, but follow their postmaster, and they all have inherited
// the other end of descriptor 3: when that ends, the last of them is gone.
// A stopped (SIGSTOP) postmaster needs SIGCONT to see the SIGQUIT.
//
// A server that was killed has left postmaster.pid behind, and the System V shared
// memory segment which the seventh line of that file names.
const watchdog = `
trap '' HUP INT QUIT TERM PIPE
dir=$(mktemp -d "$1/pgtest.XXXXXX") || exit 1
echo "$dir"
exec >/dev/null 2>&1
cat
kill -s QUIT -- -$$
kill -s CONT -- -$$
cat <&3
segment=$(sed -n '7s/.* //p' "$dir/data/postmaster.pid") && ipcrm -m "$segment"
rm -rf "$dir"
`

func newHome() (*home, error) {
	owner, err := serverOwner()
	if err != nil {
		return nil, err
	}
	parent, err := tempDir(owner)
	if err != nil {
		return nil, err
	}
	h := &home{owner: owner}
	if err := h.startWatchdog(parent); err != nil {
		return nil, fmt.Errorf("pgtest: starting the watchdog: %w", err)
	}
	if owner != nil {
		if err := os.Chown(h.dir, owner.uid, owner.gid); err != nil {
			return nil, errors.Join(fmt.Errorf("pgtest: %w", err), h.close())
		}
	}
	return h, nil
}

func (h *home) startWatchdog(parent string) (err error) {
	stdin, lead, err := os.Pipe()
	if err != nil {
		return err
	}
	defer stdin.Close()
	ended, alive, err := os.Pipe()
	if err != nil {
		lead.Close()
		return err
	}
	defer ended.Close()
	answer, stdout, err := os.Pipe()
	if err != nil {
		lead.Close()
		alive.Close()
		return err
	}
	defer answer.Close()

	cmd := exec.Command("/bin/sh", "-c", watchdog, "pgtest-watchdog", parent)
	cmd.Dir = parent
	// A test may have changed PATH.
	cmd.Env = append(os.Environ(), "PATH="+os.Getenv("PATH")+":/usr/bin:/bin:/usr/sbin:/sbin")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, stdout
	cmd.ExtraFiles = []*os.File{ended}
	// A group of its own: a terminal's Ctrl-C must not reach it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	err = cmd.Start()
	stdout.Close()
	if err != nil {
		lead.Close()
		alive.Close()
		return err
	}

	out, err := io.ReadAll(answer)
	dir := strings.TrimSuffix(string(out), "\n")
	if err != nil || !filepath.IsAbs(dir) {
		lead.Close()
		alive.Close()
		return fmt.Errorf("%w%s", errors.Join(err, cmd.Wait()), indented(out))
	}
	h.dir, h.watchdog, h.lead, h.alive = dir, cmd, lead, alive
	return nil
}

// close stops what runs in the home and removes it. If the home is busy, that
// happens later.
func (h *home) close() error {
	if h.busy == nil {
		return h.remove()
	}
	select {
	case <-h.busy:
		return h.remove()
	default:
		go func() {
			<-h.busy
			h.remove()
		}()
		return nil
	}
}

func (h *home) remove() error {
	h.lead.Close()
	h.alive.Close()
	if err := h.watchdog.Wait(); err != nil {
		return fmt.Errorf("pgtest: removing %s: %w", h.dir, err)
	}
	return nil
}

// command prepares a program of the server. It must be started before the
// home is closed.
func (h *home) command(ctx context.Context, path string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = h.dir
	cmd.Env = serverEnv()
	cmd.ExtraFiles = []*os.File{h.alive}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Setpgid:    true,
		Pgid:       h.watchdog.Process.Pid,
		Credential: h.owner.credential(),
	}
	// A grandchild may keep the output open after ctx has ended the child.
	cmd.WaitDelay = time.Second
	return cmd
}

// output runs a program to its end and returns all that it wrote.
func (h *home) output(ctx context.Context, path string, args ...string) ([]byte, error) {
	out, err := h.command(ctx, path, args...).CombinedOutput()
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	return out, err
}

func (h *home) path(name string) string { return filepath.Join(h.dir, name) }

// writeFile replaces or creates a file that the server's user owns.
func (h *home) writeFile(name, content string) error {
	path := h.path(name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		return fmt.Errorf("pgtest: %w", err)
	}
	return h.giveAway(path)
}

func (h *home) appendFile(name, content string) error {
	f, err := os.OpenFile(h.path(name), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(content)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fmt.Errorf("pgtest: %w", err)
	}
	return nil
}

// giveAway makes the server's user the owner of a file or directory.
func (h *home) giveAway(path string) error {
	if h.owner == nil {
		return nil
	}
	if err := os.Lchown(path, h.owner.uid, h.owner.gid); err != nil {
		return fmt.Errorf("pgtest: %w", err)
	}
	return nil
}

// serverEnv is our environment without what would change the server's ways or
// the language of its log.
func serverEnv() []string {
	env := []string{"LC_ALL=C"}
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "PG") && !strings.HasPrefix(kv, "LC_") && !strings.HasPrefix(kv, "LANG") {
			env = append(env, kv)
		}
	}
	return env
}

// indented renders a program's output below an error.
func indented(out []byte) string {
	out = bytes.TrimSpace(out)
	if len(out) == 0 {
		return ""
	}
	return "\n    " + strings.ReplaceAll(string(out), "\n", "\n    ")
}
