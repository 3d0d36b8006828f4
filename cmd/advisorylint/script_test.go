package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pgadvisory/pgadvisory/analyzer"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"advisorylint": func() {
			os.Exit(start(append(slices.Clone(analyzer.Suite), marker)))
		},
	})
}

// TestScripts runs the command as users do. The scripts work offline: their modules need nothing but the standard library.
func TestScripts(t *testing.T) {
	host := goEnv(t, "GOCACHE", "GOMODCACHE", "CGO_ENABLED")
	tool, err := exec.LookPath("advisorylint")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Vars = append(env.Vars,
				"GOCACHE="+host[0], "GOMODCACHE="+host[1],
				"GOPROXY=off", "GOFLAGS=", "GOWORK=off", "GOTOOLCHAIN=local", "GOENV=off",
				"GORACE=atexit_sleep_ms=0", // by default each process under the race detector sleeps for a second at its end
				"TOOL="+tool)
			return nil
		},
		Condition: func(condition string) (bool, error) {
			if condition != "cgo" {
				return false, fmt.Errorf("unknown condition %q", condition)
			}
			return host[2] == "1", nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": status,
			"await":  await,
		},
	})
}

// status runs a program, as exec does, and requires one exit status: status 2 advisorylint ./...
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

// await waits until a file is there: await FILE
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: await file")
	}
	file := ts.MkAbs(args[0])
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(file); err == nil {
			return
		}
	}
	ts.Fatalf("%s did not appear within a minute", file)
}

// goEnv asks the go command for its variables, since scripts have a home directory of their own.
func goEnv(t *testing.T, names ...string) []string {
	t.Helper()
	output, err := exec.Command("go", append([]string{"env"}, names...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(output)), "\n")
}
