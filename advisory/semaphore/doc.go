// Package semaphore limits how many work at a time across processes: n slots, each of which is a lease of package advisory on a key of its own.
//
//	exports := semaphore.New(locker, "exports", 3)
//	slot, err := exports.Acquire(ctx)
//	if err != nil {
//		return err
//	}
//	defer slot.Release(ctx)
//	return export(slot.Context())
//
// # Why slots
//
// PostgreSQL has no counting lock. A statement which tries the locks of many slots at once, and takes the first that is free, can take others as well that it does
// not report, because it is up to the planner for which rows a function is called. So each slot is tried by a statement of its own, from a random one on.
//
// # Across versions of a program
//
// The keys of the slots follow from the semaphore's name and the slots' numbers alone ([SlotKey]). So n can be changed while a deployment rolls: as long as processes differ
// in n, the largest of them is the limit for all together, and each process keeps to its own n slots.
//
// # What it costs
//
// All slots of all semaphores on one Locker share its session: one connection and one heartbeat. In each process, and for each Semaphore, one caller at a time looks for a free
// slot; the others queue behind it, and wait for nothing but their turn. To look at all slots is up to n small statements. While all are taken that is repeated at
// random intervals which grow to half a second, and meanwhile the caller waits for one of the slots, chosen at random, as [advisory.Locker.Acquire] does.
package semaphore
