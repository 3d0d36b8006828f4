package leader

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/pgadvisory/pgadvisory/advisory"
)

// A Term is the time of one leadership, from the lease's acquisition to its end.
type Term struct {
	Number uint64          // counts the terms of this elector, from 1
	Since  time.Time       // when it began, by this process's clock
	Lease  *advisory.Lease // for Do, Fence and Token; the elector releases it
}

// ErrResigned is the cause of the end of a function's context after [Elector.Resign].
var ErrResigned = errors.New("leader: resigned")

// errReturned is the cause if the function returned before anything else happened.
var errReturned = errors.New("leader: term's function has returned")

// A reign is a term under way.
type reign struct {
	term    Term
	ctx     context.Context
	cancel  context.CancelCauseFunc
	over    chan struct{} // closed when the lease is released
	release error         // what Release returned; valid when over is closed
}

func newReign(ctx context.Context, term Term) *reign {
	r := &reign{term: term, over: make(chan struct{})}
	base, cancel := context.WithCancelCause(ctx)
	r.ctx, r.cancel = termContext{base, r}, cancel
	return r
}

// termContext is the context of a term's function. Its Err looks at the clock, as that of the lease's context does, so that it tells the truth at once when the process
// was stopped.
type termContext struct {
	context.Context
	reign *reign
}

func (c termContext) Err() error {
	if err := c.Context.Err(); err != nil {
		return err
	}
	if err := c.reign.term.Lease.Err(); err != nil {
		c.reign.cancel(err)
	}
	return c.Context.Err()
}

// lead runs a term: fn, and after it the release of the lease. It does the latter, too, when fn panics or ends its goroutine.
func (e *Elector) lead(ctx context.Context, lease *advisory.Lease, fn func(context.Context, Term) error) (r *reign, err error) {
	e.mu.Lock()
	e.terms++
	r = newReign(ctx, Term{Number: e.terms, Since: time.Now(), Lease: lease})
	e.mu.Unlock()
	e.change(Leading, r.term, nil)
	// Only now, so that nobody can resign, and so make the next change, before that one is told.
	e.mu.Lock()
	e.reign = r
	e.mu.Unlock()

	var watch sync.WaitGroup
	watch.Go(func() { e.watch(r) })
	defer func() {
		r.cancel(errReturned)
		watch.Wait()
		r.release = lease.Release(ctx)
		e.mu.Lock()
		e.reign = nil
		e.mu.Unlock()
		close(r.over)
	}()
	return r, fn(r.ctx, r.term)
}

// watch waits for the end of a term, and tells of it.
func (e *Elector) watch(r *reign) {
	lease := r.term.Lease.Context()
	select {
	case <-lease.Done():
		r.cancel(context.Cause(lease))
	case <-r.ctx.Done():
	}
	why := context.Cause(r.ctx)
	if why == errReturned {
		why = nil
	}
	e.change(Leaving, r.term, why)
}
