package leader

import (
	"context"
	"math/rand/v2"
	"time"
)

// A backoff is a series of pauses that grow.
type backoff struct {
	least, most time.Duration
	next        time.Duration
}

func (b *backoff) reset() { b.next = b.least }

// pause returns the next pause of the series.
func (b *backoff) pause() time.Duration {
	d := max(b.next, b.least)
	b.next = min(2*d, b.most)
	return d - rand.N(d/2+1)
}

// sleep waits, and returns early when ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
