package advisory_test

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/pgadvisory/pgadvisory/advisory"
	"github.com/pgadvisory/pgadvisory/advisory/pgtest"
)

// Each call is one round trip on the wire, whatever its options and its answer, with keys that were never seen before.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	database := server.Database(t)
	for _, driver := range pgtest.Drivers {
		t.Run(driver, func(t *testing.T) {
			p := startProxy(t, database.DSN())
			db := open(t, driver, p.dsn)
			db.SetMaxOpenConns(1)
			direct := database.Open(t, driver)
			taken := advisory.ID(-1)
			must(t, advisory.Lock(testContext(t), begin(t, direct, nil), taken))
			ctx := testContext(t)
			next := int64(0)
			fresh := func() advisory.Key { next++; return advisory.ID(next) }
			hundred := func() []advisory.Key {
				keys := []advisory.Key{advisory.Pair(int32(next), 1)}
				for range 99 {
					keys = append(keys, fresh())
				}
				return keys
			}

			for _, opts := range [][]advisory.Option{nil, {advisory.Shared()}, {advisory.Timeout(time.Second)}, {advisory.Timeout(time.Second), advisory.Shared()}, {advisory.AllowOldSnapshot()}} {
				for name, call := range map[string]func(*sql.Tx) error{
					"Lock":    func(tx *sql.Tx) error { return advisory.Lock(ctx, tx, fresh(), opts...) },
					"LockAll": func(tx *sql.Tx) error { return advisory.LockAll(ctx, tx, hundred(), opts...) },
					"TryLock": func(tx *sql.Tx) error { _, err := advisory.TryLock(ctx, tx, fresh(), opts...); return err },
					"TryLock, taken": func(tx *sql.Tx) error {
						_, err := advisory.TryLock(ctx, tx, taken, append(opts, advisory.Timeout(time.Millisecond))...)
						return err
					},
					"TryLockAll": func(tx *sql.Tx) error { _, err := advisory.TryLockAll(ctx, tx, hundred(), opts...); return err },
					"TryLockAll, one taken": func(tx *sql.Tx) error {
						_, err := advisory.TryLockAll(ctx, tx, append(hundred(), taken), append(opts, advisory.Timeout(time.Millisecond))...)
						return err
					},
				} {
					tx := begin(t, db, nil)
					before := p.roundTrips()
					must(t, call(tx))
					if n := p.roundTrips() - before; n != 1 {
						t.Errorf("%s with %d options: %d round trips, want 1", name, len(opts), n)
					}
					must(t, tx.Rollback())
				}
			}

			// BEGIN, lock, COMMIT; with a level that needs a younger snapshot also the session's lock and, on pgx, a prepared statement's first use.
			nothing := func(context.Context, *sql.Tx) error { return nil }
			for name, variant := range map[string]struct {
				want int
				opts []advisory.DoOption
			}{
				"plain":     {3, nil},
				"shared":    {3, []advisory.DoOption{advisory.Shared()}},
				"timeout":   {3, []advisory.DoOption{advisory.Timeout(time.Second)}},
				"read only": {3, []advisory.DoOption{advisory.ReadOnly()}},
				"level":     {3, []advisory.DoOption{advisory.Isolation(sql.LevelReadCommitted)}},
				"all":       {3, []advisory.DoOption{advisory.Shared(), advisory.Timeout(time.Second), advisory.ReadOnly(), advisory.Retry(5)}},
				"snapshot":  {4, []advisory.DoOption{advisory.Isolation(sql.LevelSerializable)}},
			} {
				for range 3 { // pgx prepares each statement once per connection, which is a round trip of its own
					must(t, advisory.Do(ctx, db, fresh(), nothing, variant.opts...))
				}
				before := p.roundTrips()
				must(t, advisory.Do(ctx, db, fresh(), nothing, variant.opts...))
				if n := p.roundTrips() - before; n != variant.want {
					t.Errorf("Do, %s: %d round trips, want %d", name, n, variant.want)
				}
			}
		})
	}
}
