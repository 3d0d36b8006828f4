package main

import (
	"runtime/debug"
	"testing"
	"time"
)

// TestDelayCollection wants the collector to work as usual once there was one collection.
func TestDelayCollection(t *testing.T) {
	t.Setenv("GOGC", "")
	t.Setenv("GOMEMLIMIT", "")
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)

	delayCollection()
	if percent := debug.SetGCPercent(1600); percent != 1600 {
		t.Errorf("GC percent %d before the first collection, want 1600", percent)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		debug.FreeOSMemory() // collects; the cleanup runs some time after it
		percent := debug.SetGCPercent(1600)
		if percent == 100 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("GC percent is still %d", percent)
		}
	}
}

func TestDelayCollectionLeavesSettingsAlone(t *testing.T) {
	for _, name := range []string{"GOGC", "GOMEMLIMIT"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("GOGC", "")
			t.Setenv("GOMEMLIMIT", "")
			t.Setenv(name, "150")
			before := debug.SetGCPercent(150)
			defer debug.SetGCPercent(before)
			delayCollection()
			if percent := debug.SetGCPercent(150); percent != 150 {
				t.Errorf("GC percent %d, want the 150 that was set", percent)
			}
		})
	}
}
