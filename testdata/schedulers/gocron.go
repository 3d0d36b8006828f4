package schedulers

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/go-co-op/gocron/v2"

	"github.com/pgadvisory/pgadvisory/advisory"
)

var (
	_ gocron.Locker  = Locker{}
	_ gocron.Lock    = jobLock{}
	_ gocron.Elector = (*Elector)(nil)
)

// A Locker is gocron's Locker over leases: while one scheduler runs a job, others skip it.
//
// As a lock alone it does not keep a scheduler that is late from running the same tick again. Where that matters the job calls cron.Once, and needs no Locker.
type Locker struct {
	Leases *advisory.Locker
}

// Lock implements [gocron.Locker]. It does not wait: for a job that runs elsewhere it returns [advisory.ErrNotAcquired].
func (l Locker) Lock(ctx context.Context, key string) (gocron.Lock, error) {
	lease, err := l.Leases.TryAcquire(ctx, advisory.Name("gocron job", key))
	if err != nil {
		return nil, err
	}
	return jobLock{lease}, nil
}

type jobLock struct{ lease *advisory.Lease }

// Unlock implements [gocron.Lock]. gocron calls it with a ctx that has ended when the scheduler was shut down; a lease is released all the same.
func (l jobLock) Unlock(ctx context.Context) error { return l.lease.Release(ctx) }

// ErrNotLeader means that another scheduler is the leader.
var ErrNotLeader = errors.New("schedulers: another is the leader")

// An Elector is gocron's Elector over a lease: the scheduler that has it runs all jobs, until it is closed or its lease is lost, and then another becomes leader
// when it is asked the next time. An Elector is made by [NewElector]; it must be closed before the locker it uses.
type Elector struct {
	locker *advisory.Locker
	key    advisory.Key

	mu     sync.Mutex
	lease  *advisory.Lease // nil or perhaps lost
	closed bool
}

// NewElector returns an elector among all schedulers of that name on the locker's database.
func NewElector(locker *advisory.Locker, name string) *Elector {
	return &Elector{locker: locker, key: advisory.Name("gocron leader", name)}
}

// IsLeader implements [gocron.Elector]: it returns nil to the leader, and makes the caller the leader if there is none. Otherwise it returns [ErrNotLeader], or
// why it could not find out.
//
// A leader that is asked just before it loses its lease starts the job all the same. A job that must not run twice uses cron.Once, too.
func (e *Elector) IsLeader(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return fmt.Errorf("%w: the elector is closed", ErrNotLeader)
	}
	if e.lease != nil && e.lease.Err() == nil {
		return nil
	}
	lease, err := e.locker.TryAcquire(ctx, e.key)
	if errors.Is(err, advisory.ErrNotAcquired) {
		return fmt.Errorf("%w: %w", ErrNotLeader, err)
	} else if err != nil {
		return err
	}
	e.lease = lease
	return nil
}

// Close gives the leadership up.
func (e *Elector) Close(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	if e.lease == nil {
		return nil
	}
	return e.lease.Release(ctx)
}
