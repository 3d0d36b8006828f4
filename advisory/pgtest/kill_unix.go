//go:build unix

package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// kill kills all processes of the server and waits until they are gone.
func (p *process) kill(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	// A stopped postmaster starts no more processes, and keeps the ids of those that
	// have ended from being used again.
	postmaster := p.cmd.Process
	if err := postmaster.Signal(syscall.SIGSTOP); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	for _, pid := range childrenOf(ctx, postmaster.Pid) {
		// The only possible failure is that it has ended already.
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	return p.stop(ctx, syscall.SIGKILL)
}

// childrenOf lists the processes that pid has started. One that it misses ends by
// itself when it notices that the postmaster is gone.
func childrenOf(ctx context.Context, pid int) []int {
	var children []int
	for line := range strings.Lines(processTable(ctx)) {
		var child, parent int
		if _, err := fmt.Sscan(line, &child, &parent); err == nil && parent == pid {
			children = append(children, child)
		}
	}
	return children
}

// processTable lists all processes, one a line: its id and its parent's.
func processTable(ctx context.Context) string {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // only a bad pattern is an error
	if len(stats) == 0 {
		out, _ := exec.CommandContext(ctx, "ps", "-A", "-o", "pid=", "-o", "ppid=").Output()
		return string(out)
	}
	// This is Linux, where a small container may have no ps.
	var table strings.Builder
	for _, path := range stats {
		content, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		// "pid (name) state ppid ...", and the name may hold anything.
		stat := string(content)
		id, _, _ := strings.Cut(stat, " ")
		if fields := strings.Fields(stat[strings.LastIndex(stat, ")")+1:]); len(fields) > 1 {
			fmt.Fprintln(&table, id, fields[1])
		}
	}
	return table.String()
}
