package advisory

import (
	"sync/atomic"
	"time"
)

// counters count what a locker did.
type counters struct {
	acquired, released, lost, discarded, opened, escalated atomic.Uint64
	waiting, waited                                        atomic.Int64
}

// LockerStats says what a [Locker] did so far, and what it does now.
type LockerStats struct {
	Acquired   uint64        // leases acquired
	Waited     time.Duration // how long the calls took that acquired them, together
	Released   uint64        // leases released
	Lost       uint64        // leases lost
	Opened     uint64        // sessions opened
	Discarded  uint64        // sessions closed instead of given back to the pool
	Heartbeats uint64        // heartbeats sent
	Escalated  uint64        // fenced transactions cancelled or terminated

	Waiting  int // calls of Acquire and TryAcquire under way
	Leases   int // leases held
	Sessions int // connections pinned for sessions
}

// Stats returns the Locker's statistics.
func (l *Locker) Stats() LockerStats {
	c := &l.stats
	stats := LockerStats{Acquired: c.acquired.Load(), Waited: time.Duration(c.waited.Load()), Released: c.released.Load(), Lost: c.lost.Load(),
		Opened: c.opened.Load(), Discarded: c.discarded.Load(), Heartbeats: l.beats.Load(), Escalated: c.escalated.Load(), Waiting: int(c.waiting.Load())}
	l.mu.Lock()
	defer l.mu.Unlock()
	stats.Sessions = len(l.all)
	for s := range l.all {
		for _, h := range s.holds {
			stats.Leases += len(h.leases)
		}
	}
	return stats
}

func (l *Locker) discarded(why error) {
	l.stats.discarded.Add(1)
	if f := l.set.hooks.Discarded; f != nil {
		f(why)
	}
}
