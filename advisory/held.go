package advisory

import (
	"context"
	"sync/atomic"
	"time"
)

// rollbackLimit is how long a rollback may take before the connection is given up, after which the server rolls back by itself. It needs a driver that
// heeds its context, as pgx does, and a caller's ctx that can end: who passes one that cannot has asked to wait.
const rollbackLimit = 5 * time.Second

// held is the context of a transaction that outlives the caller's ctx while fn runs.
//
// database/sql rolls a transaction back as soon as its context ends, and so would free the lock while fn is still at work. So the
// transaction gets a context of its own: attached to the caller's while it begins, waits for the lock, and commits, and detached in between.
type held struct {
	context.Context
	caller context.Context
	cancel context.CancelFunc // nil if the caller's never ends
	state  atomic.Int32
	stop   func() bool // ends the watch on the caller's
	timer  *time.Timer // of limit
}

const (
	attached int32 = iota
	detached
	ended // because the caller's has ended while attached
)

// hold returns a context that is attached to ctx. Its end must be called when the transaction has ended.
func hold(ctx context.Context) *held {
	h := &held{Context: ctx, caller: ctx}
	if ctx.Done() == nil {
		return h
	}
	h.Context, h.cancel = context.WithCancel(context.WithoutCancel(ctx))
	h.stop = context.AfterFunc(ctx, h.callerEnded)
	return h
}

func (h *held) callerEnded() {
	if h.state.CompareAndSwap(attached, ended) {
		h.cancel()
	}
}

// detach lets the context go on when the caller's ends. It reports whether it came in time: if not, the context has ended, and the transaction with it.
func (h *held) detach() bool { return h.state.CompareAndSwap(attached, detached) }

// attach makes the context end when the caller's ends, or at once if that has ended.
func (h *held) attach() {
	h.state.Store(attached)
	if h.caller.Err() != nil {
		h.callerEnded()
	}
}

// limit detaches the context and makes it end after d at the latest.
func (h *held) limit(d time.Duration) {
	h.detach()
	if h.cancel != nil && h.timer == nil {
		h.timer = time.AfterFunc(d, h.cancel)
	}
}

func (h *held) end() {
	if h.cancel == nil {
		return
	}
	h.stop()
	if h.timer != nil {
		h.timer.Stop()
	}
	h.cancel()
}
