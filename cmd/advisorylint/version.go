package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
)

// version prints which build of advisorylint this is, and the Go that built it: the newest Go whose code it can check.
func version(stdout io.Writer) int {
	release := "(unknown)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		release = info.Main.Version
	}
	fmt.Fprintf(stdout, "advisorylint %s (built with %s for %s/%s)\n", release, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return statusClean
}
