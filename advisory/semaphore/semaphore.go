package semaphore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/pgadvisory/pgadvisory/advisory"
)

// A Semaphore has n slots, which it shares with all semaphores of the same name in the same database. It may be used by several goroutines at a time. It needs no
// closing: closing its Locker releases all slots.
type Semaphore struct {
	locker *advisory.Locker
	name   string
	keys   []advisory.Key

	queue queue         // of calls of Acquire; the first one looks for a slot
	free  chan struct{} // holds one when a slot was released here since it looked
}

const (
	leastInterval = 20 * time.Millisecond
	mostInterval  = 500 * time.Millisecond
)

// New returns a semaphore with n slots on locker. It does not connect. Everybody should give the same n; see the package's documentation on how to change it.
//
// New panics if locker is nil or n is less than 1.
func New(locker *advisory.Locker, name string, n int) *Semaphore {
	if locker == nil {
		panic("semaphore: New: locker is nil")
	}
	if n < 1 {
		panic(fmt.Sprintf("semaphore: New(%q, %d): want one slot or more", name, n))
	}
	s := &Semaphore{locker: locker, name: name, free: make(chan struct{}, 1)}
	for number := range n {
		s.keys = append(s.keys, SlotKey(name, number))
	}
	return s
}

// Name returns the semaphore's name.
func (s *Semaphore) Name() string { return s.name }

// Size returns how many slots there are.
func (s *Semaphore) Size() int { return len(s.keys) }

// Acquire waits until it holds a slot. The slot must be released.
//
// Callers of one Semaphore get slots in the order in which they came; between processes there is no order. A slot that is released in the same process is taken at
// once; one that another process releases, or loses, within half a second and mostly sooner.
//
// When ctx ends, Acquire returns its error at once and holds nothing; the slot itself does not end with ctx. Other errors are those of
// [advisory.Locker.Acquire]: if the server cannot be reached, Acquire fails and does not try again.
func (s *Semaphore) Acquire(ctx context.Context) (*Slot, error) {
	turn := s.queue.join()
	defer s.queue.leave(turn)
	select {
	case <-turn:
	case <-ctx.Done():
		return nil, s.failed("Acquire", ctx.Err())
	}
	for interval := leastInterval; ; interval = min(2*interval, mostInterval) {
		select {
		case <-s.free: // this look will find it
		default:
		}
		slot, err := s.look(ctx)
		if err == nil {
			return slot, nil
		}
		if !errors.Is(err, advisory.ErrNotAcquired) {
			return nil, s.failed("Acquire", err)
		}
		slot, woken, err := s.await(ctx, interval-rand.N(interval/2+1))
		if err != nil {
			return nil, s.failed("Acquire", err)
		}
		if slot != nil {
			return slot, nil
		}
		if woken {
			interval = leastInterval // someone else may be in the way, just for a moment
		}
	}
}

// TryAcquire returns a slot if one is free, and otherwise an error that wraps [advisory.ErrNotAcquired], without waiting for other holders. No slot is free while
// a call of Acquire of this Semaphore is under way. For a moment after a slot was released those who wait for it in other processes can be in the way, as [advisory.Locker.TryAcquire]
// says.
//
// TryAcquire takes up to one round trip per slot. Other errors are those of Acquire.
func (s *Semaphore) TryAcquire(ctx context.Context) (*Slot, error) {
	if s.queue.len() > 0 {
		return nil, s.failed("TryAcquire", fmt.Errorf("others wait: %w", advisory.ErrNotAcquired))
	}
	slot, err := s.look(ctx)
	if err != nil {
		return nil, s.failed("TryAcquire", err)
	}
	return slot, nil
}

// look tries each slot once, from a random one on, so that processes do not all begin with those that are taken.
func (s *Semaphore) look(ctx context.Context) (*Slot, error) {
	first := rand.N(len(s.keys))
	for i := range s.keys {
		number := (first + i) % len(s.keys)
		lease, err := s.locker.TryAcquire(ctx, s.keys[number])
		if err == nil {
			return s.slot(number, lease), nil
		}
		if !errors.Is(err, advisory.ErrNotAcquired) {
			return nil, err
		}
	}
	return nil, fmt.Errorf("all %d slots are taken: %w", len(s.keys), advisory.ErrNotAcquired)
}

// await waits for any one slot, but no longer than until it is time to look at all again: then it returns neither slot nor error. woken reports whether that
// is because a slot was released here.
func (s *Semaphore) await(ctx context.Context, interval time.Duration) (slot *Slot, woken bool, err error) {
	waiting, cancel := context.WithTimeout(ctx, interval)
	defer cancel()
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-s.free:
			woken = true
			cancel()
		case <-waiting.Done():
		}
	}()
	number := rand.N(len(s.keys))
	lease, err := s.locker.Acquire(waiting, s.keys[number])
	ended := waiting.Err() != nil
	cancel()
	<-watched
	switch {
	case err == nil:
		return s.slot(number, lease), woken, nil
	case ctx.Err() != nil || !ended:
		return nil, woken, err
	}
	return nil, woken, nil
}

func (s *Semaphore) slot(number int, lease *advisory.Lease) *Slot {
	return &Slot{semaphore: s, number: number, lease: lease}
}

// wake tells the caller who looks for a slot that one was released here.
func (s *Semaphore) wake() {
	select {
	case s.free <- struct{}{}:
	default:
	}
}

func (s *Semaphore) failed(call string, err error) error {
	return fmt.Errorf("semaphore: %q: %s: %w", s.name, call, err)
}
