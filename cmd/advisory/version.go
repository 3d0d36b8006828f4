package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
)

// version prints which build of advisory this is, and the Go that built it.
func version(args []string, stdout, stderr io.Writer) int {
	if len(args) > 0 {
		return misuse(stderr, "version takes no arguments")
	}
	release := "(unknown)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		release = info.Main.Version
	}
	fmt.Fprintf(stdout, "advisory %s (built with %s for %s/%s)\n", release, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return statusDone
}
