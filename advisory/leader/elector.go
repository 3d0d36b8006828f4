package leader

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pgadvisory/pgadvisory/advisory"
)

// An Elector is one candidate for the leadership that a key stands for. It may be used by several goroutines at a time, but [Elector.Run] runs only once
// at a time. It needs no closing: what it holds, it holds while Run runs.
type Elector struct {
	locker *advisory.Locker
	key    advisory.Key
	set    settings

	telling sync.Mutex // held from before a transition until it is told

	mu      sync.Mutex
	running bool
	state   State
	terms   uint64
	reign   *reign // nil unless Leading or Leaving
}

// New returns an Elector that leads when locker has a lease on key. Everybody who stands for the same leadership uses the same key, in the same database. New does not
// connect. It panics if locker is nil.
func New(locker *advisory.Locker, key advisory.Key, opts ...Option) *Elector {
	if locker == nil {
		panic("leader: New: locker is nil")
	}
	return &Elector{locker: locker, key: key, set: settingsOf(opts)}
}

// Key returns the key that New was called with.
func (e *Elector) Key() advisory.Key { return e.key }

// State returns what the elector does now. Like [Elector.IsLeader] it looks at the clock.
func (e *Elector) State() State {
	e.mu.Lock()
	state, r := e.state, e.reign
	e.mu.Unlock()
	if state == Leading && r != nil && r.ctx.Err() != nil {
		return Leaving
	}
	return state
}

// IsLeader reports whether the elector leads: a term's function runs, and its context has not ended. It looks at the clock, so that it tells the truth at once when the
// process was stopped or the machine suspended. What it says may be over a moment later; to be sure of a write, use the lease's Do or Fence.
func (e *Elector) IsLeader() bool {
	e.mu.Lock()
	r := e.reign
	e.mu.Unlock()
	return r != nil && r.ctx.Err() == nil
}

// Run campaigns until it has the lease, calls fn, releases the lease when fn has returned, and campaigns again, until ctx ends or fn returns an error.
//
// fn's ctx derives from Run's. It ends when the lease is lost, with a cause that wraps [advisory.ErrLost], and after [Elector.Resign], with [ErrResigned]. Then, or when
// Run's ctx has ended, fn should return soon; what it returns does not end Run. Another process leads when the lease is lost, or after fn has returned. fn must not
// release the lease.
//
// If fn returns nil it has given leadership up, and the elector campaigns again after [Rest]. If fn returns an error of its own, Run ends with that error. It does not where
// the release of the lease shows that the session was lost before, as when the server restarts: then the error of fn is most likely no more than a sign of it.
//
// Run outlives the loss of its session, restarts of the server, and failovers: after an error it campaigns again, at intervals that [Backoff] sets. On a standby it waits
// until it is promoted, or until the pool reaches the primary. A pool whose driver waits for ever to connect to a silent address holds it up, so set the driver's connect_timeout.
//
// Run returns ctx's error when ctx has ended, joined with fn's and the release's if they have other ones; fn's error; or an error which wraps
// one of those that do not go away by themselves: [advisory.ErrClosed], [advisory.ErrPooler], [advisory.ErrPoolTooSmall],
// [advisory.ErrUnsupported]. When it returns the lease is released, or the server frees it within the Locker's TTL. If fn panics or ends its
// goroutine, the lease is released, and the panic goes on.
//
// Run panics if fn is nil, or if Run of the same elector is running.
func (e *Elector) Run(ctx context.Context, fn func(ctx context.Context, term Term) error) (err error) {
	if fn == nil {
		panic("leader: Run: fn is nil")
	}
	e.start()
	var last Term // of the term that Run leaves without waiting
	defer func() { e.stop(last, err) }()
	pauses := backoff{least: e.set.backMin, most: e.set.backMost}
	for {
		e.change(Campaigning, Term{}, nil)
		lease, err := e.locker.Acquire(ctx, e.key)
		if err != nil {
			if ctx.Err() != nil || lasting(err) {
				return fmt.Errorf("leader: Run: %w", err)
			}
			if err := e.wait(ctx, pauses.pause(), Term{}, err); err != nil {
				return err
			}
			continue
		}
		r, err := e.lead(ctx, lease, fn)
		last = r.term
		why := context.Cause(r.ctx)
		if ctx.Err() != nil {
			return e.ended(ctx, err, r.release)
		}
		if why == errReturned && err != nil && r.release == nil {
			return err
		}
		pause := e.set.rest
		if r.release != nil || why != errReturned && why != ErrResigned {
			if time.Since(r.term.Since) > e.set.backMost {
				pauses.reset()
			}
			pause = pauses.pause()
		}
		last = Term{}
		if err := e.wait(ctx, pause, r.term, errors.Join(err, r.release)); err != nil {
			return err
		}
	}
}

// Resign gives leadership up: it ends the context of the term's function, waits for the function to return and for the lease to be released, and returns nil
// when the server has confirmed that. Another takes over then; this elector campaigns again after [Rest]. To leave for good, end Run's ctx instead.
//
// If the elector does not lead, Resign does nothing. If ctx ends while it waits, it returns ctx's error, and the elector gives leadership up all the same;
// so within the function, with its ctx, it does not wait. If the lease was lost, Resign returns an error that wraps [advisory.ErrLost].
func (e *Elector) Resign(ctx context.Context) error {
	e.mu.Lock()
	r := e.reign
	e.mu.Unlock()
	if r == nil {
		return nil
	}
	r.cancel(ErrResigned)
	select {
	case <-r.over:
		if r.release != nil {
			return fmt.Errorf("leader: Resign: %w", r.release)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("leader: Resign %v: the term's function has not returned yet: %w", e.key, ctx.Err())
	}
}

func (e *Elector) start() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.running {
		panic("leader: Run: the elector is running already")
	}
	e.running = true
}

func (e *Elector) stop(last Term, err error) {
	e.change(Stopped, last, err)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.running = false
}

// wait keeps the elector out of the election for a while. It returns an error if ctx ends meanwhile.
func (e *Elector) wait(ctx context.Context, d time.Duration, term Term, why error) error {
	e.change(Waiting, term, why)
	sleep(ctx, d)
	if ctx.Err() != nil {
		return e.ended(ctx, nil, nil)
	}
	return nil
}

// ended makes Run's error after the end of ctx. Errors which say no more than that ctx has ended are left out.
func (e *Elector) ended(ctx context.Context, others ...error) error {
	errs := []error{ctx.Err()}
	for _, err := range others {
		if err != nil && !errors.Is(err, ctx.Err()) && !errors.Is(err, context.Cause(ctx)) {
			errs = append(errs, err)
		}
	}
	return fmt.Errorf("leader: Run %v: %w", e.key, errors.Join(errs...))
}

// lasting reports whether an error of Acquire will be the same next time.
func lasting(err error) bool {
	for _, target := range []error{advisory.ErrClosed, advisory.ErrPooler, advisory.ErrPoolTooSmall, advisory.ErrUnsupported} {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}
