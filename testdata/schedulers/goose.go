package schedulers

import (
	"context"
	"database/sql"
	"errors"
	"sync"

	"github.com/pressly/goose/v3/lock"

	"github.com/pgadvisory/pgadvisory/advisory"
)

var _ lock.SessionLocker = (*SessionLocker)(nil)

// A SessionLocker is goose's SessionLocker over a lease: of all programs that start at a time one migrates, and the others wait for it.
//
// The lock is in the session of the [advisory.Locker] and not in goose's own, so it is given back whatever becomes of that, and it is refused behind a pooler
// in transaction mode rather than lost there. It needs one connection more. A SessionLocker is made by [NewSessionLocker].
type SessionLocker struct {
	locker *advisory.Locker
	key    advisory.Key

	mu     sync.Mutex
	leases map[*sql.Conn]*advisory.Lease
}

// NewSessionLocker returns a SessionLocker for the migrations of that name.
func NewSessionLocker(locker *advisory.Locker, name string) *SessionLocker {
	return &SessionLocker{locker: locker, key: advisory.Name("goose", name), leases: make(map[*sql.Conn]*advisory.Lease)}
}

// SessionLock implements [lock.SessionLocker]. It waits for as long as ctx allows.
func (l *SessionLocker) SessionLock(ctx context.Context, conn *sql.Conn) error {
	lease, err := l.locker.Acquire(ctx, l.key)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leases[conn] = lease
	return nil
}

// SessionUnlock implements [lock.SessionLocker]. It returns an error if the lock was lost while goose migrated, so that others may have begun
// meanwhile; one that wraps [advisory.ErrLost] if that was noticed before.
func (l *SessionLocker) SessionUnlock(ctx context.Context, conn *sql.Conn) error {
	l.mu.Lock()
	lease := l.leases[conn]
	delete(l.leases, conn)
	l.mu.Unlock()
	if lease == nil {
		return errors.New("schedulers: SessionUnlock of a connection that has no lock")
	}
	return lease.Release(ctx)
}
