// Package leader elects one leader among processes, with a lease of package advisory on one key.
//
// Each process runs an [Elector] on a [advisory.Locker]. Whoever gets the lease leads, for a term, which is one call of the function given to [Elector.Run]:
//
//	elector := leader.New(locker, advisory.Name("scheduler"))
//	err := elector.Run(ctx, func(ctx context.Context, term leader.Term) error {
//		// No other process is here. ctx ends when that cannot be sure any more.
//		return schedule(ctx)
//	})
//
// # States
//
//	           Run                lease acquired
//	Stopped --------> Campaigning --------------> Leading
//	   ^                 |    ^                      | function returned, lease lost,
//	   |            error|    |pause is over         | Resign, or ctx ended
//	   |                 v    |                      v
//	   |                 Waiting <--------------- Leaving
//	   |                            lease released
//	   +-- from any of them, when Run returns
//
// In Leading the process is the leader. In Leaving it is not any more for all that it knows, but its function has not returned yet, and unless the lease was lost no other process
// leads: the lease is released after the function returned. In Waiting the elector keeps out of the election: for [Rest] after it gave leadership up, so that another
// can take over, and for a time that [Backoff] sets after an error.
//
// # What can be relied on
//
// Two leases on one key are never held at a time, as [advisory.Locker] says. The function's context ends before another can lead. A function that does not
// watch its context, or a process that was stopped for a while, can still act after its term: what it writes to the database is kept out by
// [advisory.Lease.Do] and [advisory.Lease.Fence] of the term's lease, and [advisory.Lease.Token] helps with effects elsewhere.
//
// # What it costs
//
// Electors on one Locker share its session: one connection and one heartbeat, however many keys they lead. Where several of them wait at a time, give the
// Locker as many [advisory.Waiters]; those beyond take over only as fast as [advisory.Poll] says.
package leader
