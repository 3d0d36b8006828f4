package advisory

// LeaseKey returns the key that a [Locker] locks for a lease on k, unless it has [PlainKeys]: Name("pgadvisory lease", k.String()). So lockers have a key
// space of their own, because the promise of [Lease.Fence] needs holders who keep to its rules. It never changes, and is of use to those who look into pg_locks.
func LeaseKey(k Key) Key { return Name("pgadvisory lease", k.String()) }

// FenceKey returns the key that a transaction locks in shared mode to be fenced by a lease on k ([Lease.Fence]), and that each new holder locks exclusively for a moment:
// Name("pgadvisory fence", k.String()). Fences of shared leases have another, with "pgadvisory shared fence", since new shared holders need
// not wait for them. It never changes.
func FenceKey(k Key) Key { return Name("pgadvisory fence", k.String()) }

func sharedFenceKey(k Key) Key { return Name("pgadvisory shared fence", k.String()) }

// A names holds the keys on the server for one key of a locker.
type names struct {
	lease       Key
	fence       Key // of transactions under exclusive leases
	sharedFence Key // of transactions under shared leases
}

func (l *Locker) names(key Key) names {
	n := names{lease: key, fence: FenceKey(key), sharedFence: sharedFenceKey(key)}
	if !l.set.plain {
		n.lease = LeaseKey(key)
	}
	return n
}

// own returns the key of transactions under a lease of this mode.
func (n names) own(shared bool) Key {
	if shared {
		return n.sharedFence
	}
	return n.fence
}

// barriers returns which fences a new holder has to wait for. Shared holders do not exclude each other.
func (n names) barriers(shared bool) []Key {
	if shared {
		return []Key{n.fence}
	}
	return []Key{n.fence, n.sharedFence}
}
