//go:build unix

package main

import (
	"bytes"
	"os"
	"syscall"
	"testing"
)

// A signal ends the demo at any moment, and nothing is left of what it had made.
func TestSignalStopsDemo(t *testing.T) {
	t.Parallel()
	server := runningServer(t)
	for _, tt := range []struct {
		name   string
		own    bool // on a server of the demo's own
		moment func(*trial) bool
		signal syscall.Signal
	}{
		{"while its server starts", true, func(r *trial) bool { return r.made("pgtest.*") }, syscall.SIGINT},
		{"while a program waits for a lock", true, func(r *trial) bool { return r.wrote("would wait for") }, syscall.SIGTERM},
		{"while a program waits for a lock on a running server", false, func(r *trial) bool { return r.wrote("would wait for") }, syscall.SIGHUP},
		{"while the sample program is loaded", false, func(r *trial) bool { return r.calledGo() && r.made("advisory-demo-*") }, syscall.SIGINT},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.own && os.Getenv("ADVISORY_TEST_DSN") != "" {
				t.Skip("ADVISORY_TEST_DSN is set")
			}
			t.Parallel()
			r := newTrial(t)
			r.useHangingGo(t)
			if !tt.own {
				r.cmd.Env = append(r.cmd.Env, "ADVISORY_TEST_DSN="+server.DSN())
			}
			output, err := os.Create(r.output)
			if err != nil {
				t.Fatal(err)
			}
			defer output.Close()
			r.cmd.Stdout = output
			if err := r.cmd.Start(); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the demo is not so far", func() bool { return tt.moment(r) })
			postmasters := r.postmasters()
			if err := r.cmd.Process.Signal(tt.signal); err != nil {
				t.Fatal(err)
			}
			r.mustHaveStopped(t, postmasters)
			mustHaveNoDemo(t, server)
		})
	}
}

// When nobody reads the output any more, that is no reason to leave something behind.
func TestBrokenPipeStopsDemo(t *testing.T) {
	t.Parallel()
	server := runningServer(t)
	r := newTrial(t)
	r.cmd.Env = append(r.cmd.Env, "ADVISORY_TEST_DSN="+server.DSN())
	output, err := r.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for seen := []byte{}; !bytes.Contains(seen, []byte("1. ")); {
		buffer := make([]byte, 1024)
		n, err := output.Read(buffer)
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, buffer[:n]...)
	}
	output.Close()
	r.mustHaveStopped(t, nil)
	mustHaveNoDemo(t, server)
}
