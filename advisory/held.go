package advisory

import (
	"context"
	"time"
)

// rollbackLimit is how long a rollback may take before the connection is given up, after which the server rolls back by itself.
const rollbackLimit = 5 * time.Second

// held is the context of a transaction that outlives the caller's ctx while fn runs.
//
// database/sql rolls a transaction back as soon as its context ends, and so would free the lock while fn is still at work. So the
// transaction gets a context of its own: attached to the caller's while it begins, waits for the lock, and commits, and detached in between.
type held struct {
	context.Context
	cancel context.CancelFunc
	stop   func() bool
}

// hold returns a context that ends with ctx. The caller must call the function it returns, when the transaction has ended.
func hold(ctx context.Context) (*held, func()) {
	if ctx.Done() == nil {
		h := &held{Context: ctx}
		return h, func() {}
	}
	h := &held{}
	h.Context, h.cancel = context.WithCancel(context.WithoutCancel(ctx))
	h.attach(ctx)
	return h, h.end
}

// attach makes the context end when ctx ends.
func (h *held) attach(ctx context.Context) {
	if h.cancel != nil {
		h.stop = context.AfterFunc(ctx, h.cancel)
	}
}

// detach lets the context go on when its caller's ends.
func (h *held) detach() {
	if h.stop != nil {
		h.stop()
	}
}

// limit makes the context end after d at the latest, whatever becomes of the caller's.
func (h *held) limit(d time.Duration) {
	if h.cancel != nil {
		h.detach()
		timer := time.AfterFunc(d, h.cancel)
		h.stop = timer.Stop
	}
}

func (h *held) end() {
	h.detach()
	h.cancel()
}
