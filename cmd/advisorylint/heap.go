package main

import (
	"os"
	"runtime"
	"runtime/debug"
)

// firstHeap is how large the heap of a process that checks one package may grow, in bytes, before garbage is collected for the
// first time. Most packages need less in all, and such a process is over before its garbage matters; collecting from the usual
// 4 MB on took a sixth of the CPU time of vetting golang.org/x/tools. The Go compiler does the same, for the same reason.
const firstHeap = 64 << 20

// delayCollection puts the first garbage collection off until the heap has firstHeap bytes. From then on the collector works
// as usual. Someone who set GOGC or GOMEMLIMIT knows better.
func delayCollection() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	const usualFirstHeap, usualPercent = 4 << 20, 100
	debug.SetGCPercent(usualPercent * firstHeap / usualFirstHeap)
	// Nothing refers to the sentinel, so that the first collection finds it.
	sentinel := new(struct{ _ [64]byte })
	runtime.AddCleanup(sentinel, func(int) { debug.SetGCPercent(usualPercent) }, 0)
}
