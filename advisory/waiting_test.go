package advisory_test

import (
	"database/sql"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/pgadvisory/pgadvisory/advisory"
)

// One who waits for long holds back neither vacuum nor CREATE INDEX CONCURRENTLY: no statement of it has its snapshot for a second.
func TestAcquireHoldsNothingBack(t *testing.T) {
	twoPools(t, func(t *testing.T, db, other *sql.DB) {
		ctx := testContext(t)
		createTable(t, db, "busy (n int)")
		holder, waiter := newLocker(t, db), newLocker(t, other)
		key := advisory.ID(1)
		lease := acquire(t, holder, key)
		done := make(chan struct{})
		var group sync.WaitGroup
		group.Go(func() {
			defer close(done)
			got, err := waiter.Acquire(ctx, key)
			if err != nil {
				t.Error(err)
				return
			}
			if err := got.Release(ctx); err != nil {
				t.Error(err)
			}
		})
		eventually(t, "a statement waits for the lock", func() bool { return waiting(t, db) })
		xmins := make(map[string]bool)
		for i := range 3 {
			if _, err := db.ExecContext(ctx, fmt.Sprintf("CREATE INDEX CONCURRENTLY busy_%d ON busy (n)", i)); err != nil {
				t.Error(err)
			}
		}
		// Each wait has a transaction of its own, none of which gets old.
		eventually(t, "there were several waits", func() bool {
			var start sql.NullString
			var old bool
			must(t, db.QueryRowContext(ctx, `SELECT max(xact_start)::text, coalesce(max(now() - xact_start) > '1 s', false) FROM pg_stat_activity
				WHERE datname = current_database() AND backend_xmin IS NOT NULL AND pid <> pg_backend_pid()`).Scan(&start, &old))
			if old {
				t.Error("a snapshot is older than a second")
			}
			if start.Valid {
				xmins[start.String] = true
			}
			return len(xmins) > 3
		})
		select {
		case <-done:
			t.Error("the waiter did not wait")
		default:
		}
		must(t, lease.Release(ctx))
		group.Wait()
		must(t, holder.Close())
		must(t, waiter.Close())
		assertClean(t, db)
		assertClean(t, other)
	})
}

// Where the pool has no connection to spare, there is only polling.
func TestAcquirePolls(t *testing.T) {
	twoPools(t, func(t *testing.T, db, other *sql.DB) {
		ctx := testContext(t)
		other.SetMaxOpenConns(2)
		holder, waiter := newLocker(t, db), newLocker(t, other, advisory.Poll(time.Millisecond, 10*time.Millisecond))
		key := advisory.ID(1)
		lease := acquire(t, holder, key)
		before := waiter.Stats()
		result := make(chan error, 1)
		go func() {
			_, err := waiter.Acquire(ctx, key)
			result <- err
		}()
		eventually(t, "it waits", func() bool { return waiter.Stats().Sessions > before.Sessions })
		for range 20 {
			if waiting(t, db) {
				t.Error("a statement waits for the lock")
			}
		}
		must(t, lease.Release(ctx))
		must(t, <-result)
	})
}
