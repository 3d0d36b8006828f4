package advisory

import (
	"fmt"
	"log/slog"
	"time"
)

// A LockerOption changes how a [Locker] works. [Hooks] is one.
type LockerOption interface {
	setLocker(*lockerSettings)
}

type lockerOption func(*lockerSettings)

func (o lockerOption) setLocker(s *lockerSettings) { o(s) }

// lockerSettings is what a locker's options come to.
type lockerSettings struct {
	ttl              time.Duration
	pollMin, pollMax time.Duration
	waiters          int
	plain            bool
	logger           *slog.Logger
	hooks            Hooks
}

const (
	defaultTTL     = 10 * time.Second
	leastTTL       = 100 * time.Millisecond
	defaultPollMin = 10 * time.Millisecond
	defaultPollMax = 500 * time.Millisecond
	defaultWaiters = 1
)

func lockerSettingsOf(opts []LockerOption) lockerSettings {
	s := lockerSettings{ttl: defaultTTL, pollMin: defaultPollMin, pollMax: defaultPollMax, waiters: defaultWaiters, logger: slog.New(slog.DiscardHandler)}
	for _, o := range opts {
		o.setLocker(&s)
	}
	return s
}

// margin is how much earlier than the server the holder gives up. It has to cover the difference between the two clocks' rates and the time that
// a timer may be late.
func (s *lockerSettings) margin() time.Duration { return s.ttl / 10 }

// term is for how long after the last good statement was sent a lease is sure to be held.
func (s *lockerSettings) term() time.Duration { return s.ttl - s.margin() }

// beat is the time between heartbeats.
func (s *lockerSettings) beat() time.Duration { return s.ttl / 3 }

// TTL sets how long a lease outlives its holder's last sign of life; it is 10 seconds without this option. The server ends the session, and so frees its locks, that long after the last
// heartbeat; the holder itself counts its leases as lost a tenth of it earlier. A heartbeat is one small statement every third of it, for all leases of
// a [Locker] together.
//
// The shorter it is, the sooner another can take over from a holder that was cut off, and the sooner a slow network, or a process that was
// stopped for a while, costs a lease.
//
// TTL panics if d is less than 100 milliseconds or more than 24 days. It counts in milliseconds, rounded down.
func TTL(d time.Duration) LockerOption {
	if d < leastTTL || d/time.Millisecond > maxTimeout {
		panic(fmt.Sprintf("advisory: TTL(%v): must be between %v and 24 days", d, leastTTL))
	}
	return lockerOption(func(s *lockerSettings) { s.ttl = d.Truncate(time.Millisecond) })
}

// Poll sets how often a waiting [Locker.Acquire] tries again while another process has the lock: at first after least, then less and less often, down to every most. Each interval is shortened at random by up to
// a half. Without this option they are 10 and 500 milliseconds.
//
// How soon a lock that became free is taken depends little on it where [Waiters] are at work.
//
// Poll panics if least is not positive or most is less than least.
func Poll(least, most time.Duration) LockerOption {
	if least <= 0 || most < least {
		panic(fmt.Sprintf("advisory: Poll(%v, %v): want a positive interval and one not smaller than it", least, most))
	}
	return lockerOption(func(s *lockerSettings) { s.pollMin, s.pollMax = least, most })
}

// Waiters sets how many keys a [Locker] may wait for on the server at a time, beside polling; it is 1 without this option. For each it uses one more connection of the pool
// while [Locker.Acquire] waits, and takes over within a few milliseconds when the lock becomes free. Such a wait is a statement of less than half a second, one after
// the other, so that it neither holds back vacuum nor CREATE INDEX CONCURRENTLY. A connection is only taken if the pool's MaxOpenConns leaves one more for the work.
//
// Waiters panics if n is negative. With 0 there is only polling.
func Waiters(n int) LockerOption {
	if n < 0 {
		panic(fmt.Sprintf("advisory: Waiters(%d): must not be negative", n))
	}
	return lockerOption(func(s *lockerSettings) { s.waiters = n })
}

// PlainKeys makes the [Locker] lock the keys as they are, where otherwise it locks [LeaseKey] of each. Then it excludes [Lock], [Do], and SQL written elsewhere, and is
// excluded by them. But those do not wait for fenced transactions, so what [Lease.Fence] promises holds among lockers only.
//
// A locker with PlainKeys and one without do not exclude each other.
func PlainKeys() LockerOption { return plainKeys }

var plainKeys = lockerOption(func(s *lockerSettings) { s.plain = true })

// Logger makes the [Locker] report on what its callers may not see: sessions that begin, end and are lost, and fenced transactions that are ended. Without it nothing is logged.
// Logger panics if logger is nil.
func Logger(logger *slog.Logger) LockerOption {
	if logger == nil {
		panic("advisory: Logger: logger is nil")
	}
	return lockerOption(func(s *lockerSettings) { s.logger = logger })
}

// Hooks are called by a [Locker] when something happens, for metrics. Any of them may be nil. They are called one after the other or at the same
// time, by whichever goroutine notices, and hold it up: they must be quick and must not call the locker or its leases.
type Hooks struct {
	Acquired  func(key Key, waited time.Duration)     // a lease was acquired, that long after the call began
	Released  func(key Key, held time.Duration)       // a lease was released, by its holder or by [Locker.Close]
	Lost      func(key Key, err error)                // a lease was lost; err wraps [ErrLost]
	Discarded func(err error)                         // a session was closed instead of going back to the pool, because of err
	Escalated func(key Key, pid int, terminated bool) // a fenced transaction held up a new holder, and its session's query was cancelled, or it was terminated
}

func (h Hooks) setLocker(s *lockerSettings) { s.hooks = h }
