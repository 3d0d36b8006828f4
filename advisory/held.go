package advisory

import (
	"context"
	"sync/atomic"
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
	caller   context.Context
	cancel   context.CancelFunc // nil if the caller's never ends
	stop     func() bool
	attached atomic.Bool
}

// hold returns a context that is attached to ctx. Its end must be called when the transaction has ended.
func hold(ctx context.Context) *held {
	h := &held{Context: ctx, caller: ctx}
	if ctx.Done() == nil {
		return h
	}
	h.Context, h.cancel = context.WithCancel(context.WithoutCancel(ctx))
	h.attached.Store(true)
	h.stop = context.AfterFunc(ctx, func() {
		if h.attached.Load() {
			h.cancel()
		}
	})
	return h
}

// attach makes the context end when the caller's ends, or at once if that has ended.
func (h *held) attach() {
	h.attached.Store(true)
	if h.cancel != nil && h.caller.Err() != nil {
		h.cancel()
	}
}

// detach lets the context go on when the caller's ends.
func (h *held) detach() { h.attached.Store(false) }

// limit makes the context end after d at the latest, whatever becomes of the caller's.
func (h *held) limit(d time.Duration) {
	if h.cancel != nil {
		h.stop()
		timer := time.AfterFunc(d, h.cancel)
		h.stop = timer.Stop
	}
}

func (h *held) end() {
	if h.cancel != nil {
		h.stop()
		h.cancel()
	}
}
