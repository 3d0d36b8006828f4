//go:build unix

package pgtest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pgadvisory/pgadvisory/advisory/pgtest"
)

// childEnv makes the test binary a program that starts a server and never closes
// it, and says how it ends.
const childEnv = "PGTEST_CHILD"

type childServer struct {
	Dir, DSN   string
	Postmaster int
}

// child is that program. It writes its servers to standard output.
func child(how string) {
	ctx := context.Background()
	srv, err := pgtest.New(ctx)
	if err != nil {
		panic(err)
	}
	servers := []*pgtest.Server{srv}
	if how == "wait with a standby" {
		standby, err := srv.Standby(ctx)
		if err != nil {
			panic(err)
		}
		servers = append(servers, standby)
	}
	if how == "handle" {
		interrupts := make(chan os.Signal, 1)
		signal.Notify(interrupts, os.Interrupt)
		go func() {
			<-interrupts
			if err := srv.Close(); err != nil {
				panic(err)
			}
			os.Exit(42)
		}()
	}
	var out []childServer
	for _, srv := range servers {
		out = append(out, childServer{srv.Dir(), srv.DSN(), srv.Postmaster()})
	}
	if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
		panic(err)
	}
	switch how {
	case "panic":
		panic("on purpose")
	case "exit":
		os.Exit(0)
	}
	// The parent keeps this open until it is done.
	io.Copy(io.Discard, os.Stdin)
}

func TestNothingIsLeftHoweverTheProgramEnds(t *testing.T) {
	needOwn(t)
	for _, tt := range []struct {
		name, how string
		signal    syscall.Signal // sent to the program's whole process group, as Ctrl-C is
		want      string
	}{
		{"panic", "panic", 0, "exit status 2"},
		{"exit without Close", "exit", 0, "exit status 0"},
		{"SIGINT", "wait", syscall.SIGINT, "signal: interrupt"},
		{"SIGINT with a handler", "handle", syscall.SIGINT, "exit status 42"},
		{"SIGTERM", "wait", syscall.SIGTERM, "signal: terminated"},
		{"SIGQUIT", "wait", syscall.SIGQUIT, "exit status 2"}, // Go prints all stacks
		{"SIGKILL", "wait with a standby", syscall.SIGKILL, "signal: killed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tmp := publicDir(t)
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), childEnv+"="+tt.how, "TMPDIR="+tmp)
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			stdin, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			defer stdin.Close()
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			line, err := bufio.NewReader(stdout).ReadBytes('\n')
			if err != nil {
				t.Fatalf("the program has not started its servers: %v, %v", err, cmd.Wait())
			}
			var servers []childServer
			if err := json.Unmarshal(line, &servers); err != nil {
				t.Fatal(err)
			}

			if tt.signal != 0 {
				for _, srv := range servers {
					if !isRunning(srv.Postmaster) {
						t.Errorf("the server in %s does not run", srv.Dir)
					}
				}
				if err := syscall.Kill(-cmd.Process.Pid, tt.signal); err != nil {
					t.Fatal(err)
				}
			}
			cmd.Wait()
			// The program must end as if there were no server.
			if got := cmd.ProcessState.String(); got != tt.want {
				t.Errorf("the program ended with %q, want %q", got, tt.want)
			}
			for _, srv := range servers {
				eventually(t, func() bool { return !isRunning(srv.Postmaster) && !exists(srv.Dir) })
				assertGone(t, srv.Dir, srv.DSN)
			}
			assertEmpty(t, tmp)
		})
	}
}

// A program can also be killed while a server starts.
func TestNothingIsLeftWhenKilledDuringTheStart(t *testing.T) {
	needOwn(t)
	for _, moment := range []string{
		"pgtest.*", // only the directory is there
		"pgtest.*/data",
		"pgtest.*/data/PG_VERSION",
		"pgtest.*/data/pg_hba.conf",
		"pgtest.*/data/base/1/2*", // initdb has started a server
		"pgtest.*/log",
		"pgtest.*/data/postmaster.pid",
	} {
		t.Run(moment, func(t *testing.T) {
			t.Parallel()
			tmp := publicDir(t)
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), childEnv+"=wait", "TMPDIR="+tmp)
			stdin, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			defer stdin.Close()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			eventually(t, func() bool {
				found, err := filepath.Glob(filepath.Join(tmp, moment))
				return err == nil && len(found) > 0
			})
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			cmd.Wait()
			eventually(t, func() bool { return len(processesWith(tmp)) == 0 })
			assertEmpty(t, tmp)
		})
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// processesWith lists the processes whose command line or working directory holds
// the text. It finds them on Linux only.
func processesWith(text string) []string {
	var found []string
	paths, _ := filepath.Glob("/proc/[0-9]*")
	for _, path := range paths {
		args, _ := os.ReadFile(filepath.Join(path, "cmdline"))
		dir, _ := os.Readlink(filepath.Join(path, "cwd"))
		if s := fmt.Sprintf("%s: %q in %s", path, args, dir); strings.Contains(s, text) {
			found = append(found, s)
		}
	}
	return found
}
