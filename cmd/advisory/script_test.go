package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(tests{m}, map[string]func(){
		"advisory": func() { os.Exit(start()) },
	})
}

// tests closes the server that tests share when all have run.
type tests struct{ *testing.M }

func (m tests) Run() int {
	status := m.M.Run()
	if err := closeRunningServer(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return status
}

// TestScripts runs the command as users do.
func TestScripts(t *testing.T) {
	host := goEnv(t, "GOCACHE", "GOMODCACHE")
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			// The directory is where an archive with a server is kept, if there is none installed.
			for _, name := range []string{"HOME", "ADVISORY_TEST_DSN", "ADVISORY_TEST_PG"} {
				env.Vars = append(env.Vars, name+"="+os.Getenv(name))
			}
			env.Vars = append(env.Vars, "GOCACHE="+host[0], "GOMODCACHE="+host[1], quickRace)
			return nil
		},
		Condition: func(condition string) (bool, error) {
			path, ok := strings.CutPrefix(condition, "exists:")
			if !ok {
				return false, fmt.Errorf("unknown condition %q", condition)
			}
			_, err := os.Stat(path)
			return err == nil, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"status": status},
	})
}

// quickRace is for processes under the race detector, each of which sleeps for a second at its end by default.
const quickRace = "GORACE=atexit_sleep_ms=0"

// status runs a program, as exec does, and requires one exit status: status 2 advisory
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N program [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d\n[stdout]\n%s[stderr]\n%s", got, want, ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

// goEnv asks the go command for its variables, since scripts may have another home directory.
func goEnv(t *testing.T, names ...string) []string {
	t.Helper()
	output, err := exec.Command("go", append([]string{"env"}, names...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(output)), "\n")
}
