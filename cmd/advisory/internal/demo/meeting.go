package demo

import (
	"context"
	"sync"
	"time"
)

// A meeting is where a number of goroutines wait for each other, but not longer
// than their patience lasts.
type meeting struct {
	patience time.Duration
	complete chan struct{}

	mu     sync.Mutex
	absent int
}

func newMeeting(size int, patience time.Duration) *meeting {
	return &meeting{patience: patience, complete: make(chan struct{}), absent: size}
}

// wait waits until all have come, the patience is over, or ctx ends.
func (m *meeting) wait(ctx context.Context) {
	m.mu.Lock()
	m.absent--
	if m.absent == 0 {
		close(m.complete)
	}
	m.mu.Unlock()
	timer := time.NewTimer(m.patience)
	defer timer.Stop()
	select {
	case <-m.complete:
	case <-timer.C:
	case <-ctx.Done():
	}
}
