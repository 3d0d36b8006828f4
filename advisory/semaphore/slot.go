package semaphore

import (
	"context"
	"fmt"

	"github.com/pgadvisory/pgadvisory/advisory"
)

// A Slot is one of a semaphore's slots, held from [Semaphore.Acquire] to [Slot.Release], or until its lease is lost. It may be used by several goroutines at
// a time.
type Slot struct {
	semaphore *Semaphore
	number    int
	lease     *advisory.Lease
}

// Number returns which of the slots it is, from 0 to n-1. Nobody else has that number meanwhile, so it can name a resource of which there are n.
func (s *Slot) Number() int { return s.number }

// Context returns a context that ends when the slot is released or lost, with the cause that [Slot.Err] has then: do the work under it. See [advisory.Lease.Context].
func (s *Slot) Context() context.Context { return s.lease.Context() }

// Err returns nil while the slot is held, and after that why it is not: see [advisory.Lease.Err].
func (s *Slot) Err() error { return s.lease.Err() }

// Lease returns the slot's lease, for its Do, Fence and Token: they keep out of the database what a holder does after it lost the slot. Release the slot, not
// the lease.
func (s *Slot) Lease() *advisory.Lease { return s.lease }

// Release gives the slot back, and returns when the server has confirmed it. The slot's context ends first. Release works although ctx has ended, so that it can be
// deferred, and does nothing when called again; [advisory.Lease.Release] has the details. It returns an error that wraps [advisory.ErrLost] if the slot was lost
// before, which means that there may have been more than n holders who thought so.
func (s *Slot) Release(ctx context.Context) error {
	err := s.lease.Release(ctx)
	s.semaphore.wake()
	if err != nil {
		return fmt.Errorf("semaphore: %q: Release of slot %d: %w", s.semaphore.name, s.number, err)
	}
	return nil
}
