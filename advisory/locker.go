package advisory

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// A Locker takes session-level locks and hands them out as leases. Use it where a lock must outlive a transaction: to lead, to own a resource, to run a job that
// takes long. For all else a transaction's lock ([Do]) is simpler and needs no heartbeats.
//
// All leases of a Locker share one session, on one connection that it pins while there are leases, and gives back to the pool a few seconds after the
// last one was released. That connection goes back only if every unlock was confirmed and every setting put back; otherwise it is closed. Leases that must not be lost
// together take a Locker each.
//
// Two leases on one key exclude each other, in one Locker as in several, in one process as in several. Callers of one Locker get a key in the order in which
// they came. A goroutine that asks for a key which it holds itself waits for ever.
//
// The server ends the session, and so frees its locks, when nothing was heard from it for the [TTL]; the Locker counts its leases as lost before that. So two
// never hold a lease at a time, whatever the network does, as long as both clocks run at nearly the same rate. What a holder does after it lost the lease, and before
// it notices, can be kept out of the database with [Lease.Fence] and [Lease.Do].
//
// A session that can lock nothing is refused, when it is opened and again after each reconnect: with [ErrStandby], with [ErrPooler] behind a pooler in
// transaction mode, with [ErrUnsupported] on servers without advisory locks and on PostgreSQL before 14, which cannot end idle sessions, and with [ErrPoolTooSmall].
//
// A Locker may be used by several goroutines at a time. It must be closed, and not be copied.
type Locker struct {
	db    *sql.DB
	set   lockerSettings
	srv   *server
	stats counters
	beats atomic.Uint64

	mu       sync.Mutex
	lines    map[Key]*line
	session  *session          // the one that takes new locks
	all      map[*session]bool // those that have not finished
	opening  *opening
	slices   int // how many slices are under way
	closed   bool
	closing  chan struct{}
	ctx      context.Context // ends with Close
	cancel   context.CancelFunc
	workers  sync.WaitGroup // goroutines that wait on the server
	sessions sync.WaitGroup
}

// NewLocker returns a Locker on db. It does not connect before the first lease is asked for. NewLocker panics if db is nil.
func NewLocker(db *sql.DB, opts ...LockerOption) *Locker {
	if db == nil {
		panic("advisory: NewLocker: db is nil")
	}
	l := &Locker{db: db, set: lockerSettingsOf(opts), srv: serverOf(db), lines: make(map[Key]*line), all: make(map[*session]bool), closing: make(chan struct{})}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l
}

// Acquire waits until it holds the lease on key. The lease must be released.
//
// Acquire tries at once, then as [Poll] and [Waiters] say. Before it reports success it waits for the end of all transactions which an earlier holder has fenced ([Lease.Fence]), and
// after a while ends them. [Shared] leases exclude exclusive ones only; they let later ones in while they overlap, so that an exclusive one may wait for long. [Timeout]
// bounds the wait, by the Locker's own clock, and gives [ErrTimeout]; [AllowOldSnapshot] means nothing here.
//
// When ctx ends, Acquire returns its error at once, whatever the driver does; a lock that arrives later is unlocked, and the leases of others are not
// touched. The lease itself does not end with ctx.
//
// Errors are ctx's, ErrTimeout, [ErrClosed], those of opening a session (see [Locker]), [ErrTooManyLocks], or the driver's. If the session is lost while Acquire waits, it
// opens another one.
func (l *Locker) Acquire(ctx context.Context, key Key, opts ...Option) (*Lease, error) {
	return l.acquire(ctx, &request{call: "Acquire", key: key, set: lockSettings(opts)})
}

// TryAcquire is [Locker.Acquire] if the lease is free, and otherwise returns [ErrNotAcquired]; with [Timeout] it waits that long first. The lease is not free either
// while others of the Locker wait for it, or while a transaction is under way that an earlier holder has fenced; nor, for a moment after it was freed, while [Waiters] of other lockers
// look at it.
func (l *Locker) TryAcquire(ctx context.Context, key Key, opts ...Option) (*Lease, error) {
	return l.acquire(ctx, &request{call: "TryAcquire", key: key, set: lockSettings(opts), try: true})
}

// A request is one call of Acquire or TryAcquire.
type request struct {
	call  string
	key   Key
	set   settings
	try   bool
	began time.Time
	turn  *turn
}

// errTimedOut is the cause of a request's context when its Timeout is over.
var errTimedOut = errors.New("timeout")

// waits reports whether a request may wait for other holders.
func (r *request) waits() bool { return !r.try || r.set.timeout > 0 }

// ended makes the error of a request whose context has ended.
func (r *request) ended(ctx context.Context) error {
	switch {
	case context.Cause(ctx) != errTimedOut:
		return fmt.Errorf("advisory: %s %v: %w", r.call, r.key, ctx.Err())
	case r.try:
		return r.notAcquired()
	}
	return fmt.Errorf("%w: %s %v: find its holder in pg_locks, or allow more time than %v", ErrTimeout, r.call, r.key, r.set.timeout)
}

func (r *request) notAcquired() error { return fmt.Errorf("%w: %s %v", ErrNotAcquired, r.call, r.key) }

func (l *Locker) acquire(ctx context.Context, r *request) (*Lease, error) {
	if ctx.Err() != nil {
		return nil, r.ended(ctx)
	}
	r.began = time.Now()
	caller := ctx
	if r.set.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, r.set.timeout, errTimedOut)
		defer cancel()
	}
	l.stats.waiting.Add(1)
	lease, err := l.queue(ctx, r)
	l.stats.waiting.Add(-1)
	if err != nil {
		return nil, err
	}
	if !l.accept(caller, lease) {
		return nil, lease.Err()
	}
	waited := time.Since(r.began)
	l.stats.acquired.Add(1)
	l.stats.waited.Add(int64(waited))
	if f := l.set.hooks.Acquired; f != nil {
		f(r.key, waited)
	}
	return lease, nil
}

// accept makes a lease known to its holder. It reports false if the locker was closed at that moment.
func (l *Locker) accept(ctx context.Context, lease *Lease) bool {
	lease.values = context.WithoutCancel(ctx)
	lease.known.Store(true)
	return lease.Err() == nil || !errors.Is(lease.Err(), ErrClosed)
}

// queue waits for the request's turn in the line of its key, and then contends for the lock.
func (l *Locker) queue(ctx context.Context, r *request) (*Lease, error) {
	r.turn = &turn{key: r.key, shared: r.set.shared, ready: make(chan struct{})}
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil, fmt.Errorf("%w: %s %v", ErrClosed, r.call, r.key)
	}
	ready := l.join(r.turn, r.waits())
	l.mu.Unlock()
	if !ready && !r.waits() {
		return nil, r.notAcquired()
	}
	var reason error
	select {
	case <-r.turn.ready:
	case <-ctx.Done():
		reason = r.ended(ctx)
	case <-l.closing:
		reason = fmt.Errorf("%w: %s %v", ErrClosed, r.call, r.key)
	}
	if reason == nil && r.turn.lease != nil {
		return r.turn.lease, nil
	}
	if reason == nil {
		var lease *Lease
		if lease, reason = l.contend(ctx, r); reason == nil {
			return lease, nil
		}
	}
	l.mu.Lock()
	late := r.turn.lease
	l.leave(r.turn)
	l.mu.Unlock()
	if late != nil {
		late.end(ErrReleased)
	}
	return nil, reason
}

// Close releases all leases, ends all calls of Acquire with [ErrClosed], and returns when the sessions are given back. The contexts of leases that were not
// released end, with the cause ErrClosed. A session whose server does not answer is given up when its leases end by themselves, within the [TTL].
//
// After Close nothing of the Locker is left, except that lib/pq may block in a network that is silent, in one goroutine, until the
// operating system gives the connection up. Closing again does nothing.
func (l *Locker) Close() error {
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		close(l.closing)
	}
	var leases []*Lease
	var sessions []*session
	for s := range l.all {
		sessions = append(sessions, s)
		for _, h := range s.holds {
			for lease := range h.leases {
				leases = append(leases, lease)
			}
		}
	}
	if l.opening != nil {
		l.opening.cancel()
	}
	l.mu.Unlock()
	for _, lease := range leases {
		lease.end(ErrClosed)
	}
	var errs []error
	for _, s := range sessions {
		if err := s.giveBack(); err != nil {
			errs = append(errs, err)
		}
	}
	l.cancel()
	if !l.settle(&l.workers) || !l.settle(&l.sessions) {
		errs = append(errs, errors.New("advisory: Close: the driver still blocks in a connection that was given up"))
	}
	return errors.Join(errs...)
}

// settle waits until a group of goroutines has ended, for a while: drivers should return soon from connections that were given up, and need not.
func (l *Locker) settle(group *sync.WaitGroup) bool {
	done := make(chan struct{})
	go func() {
		group.Wait()
		close(done)
	}()
	timer := time.NewTimer(max(time.Second, l.set.beat()))
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}
