//go:build unix

package pgtest_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
)

// A recorder is a testing.TB outside of a test: it records how the test went.
type recorder struct {
	testing.TB // not there: what is not defined below must not be called
	failed     bool
	skipped    bool
	text       string
	cleanups   []func()
}

// runTest runs fn as a test function.
func runTest(fn func(testing.TB)) *recorder {
	r := &recorder{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			for _, cleanup := range slices.Backward(r.cleanups) {
				cleanup()
			}
		}()
		fn(r)
	}()
	<-done
	return r
}

func (r *recorder) Helper()                  {}
func (r *recorder) Context() context.Context { return context.Background() }
func (r *recorder) Cleanup(fn func())        { r.cleanups = append(r.cleanups, fn) }
func (r *recorder) Error(args ...any)        { r.failed, r.text = true, r.text+fmt.Sprintln(args...) }
func (r *recorder) Errorf(f string, a ...any) {
	r.Error(fmt.Sprintf(f, a...))
}
func (r *recorder) Fatal(args ...any) {
	r.Error(args...)
	runtime.Goexit()
}
func (r *recorder) Fatalf(f string, a ...any) {
	r.Fatal(fmt.Sprintf(f, a...))
}
func (r *recorder) Skip(args ...any) {
	r.skipped, r.text = true, r.text+fmt.Sprintln(args...)
	runtime.Goexit()
}
