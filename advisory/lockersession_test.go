package advisory_test

import (
	"database/sql"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pgadvisory/pgadvisory/advisory"
	"github.com/pgadvisory/pgadvisory/advisory/pgtest"
)

// sessions returns what two connections of a pool are: their sessions and settings.
func sessions(t testing.TB, db *sql.DB) (all []string) {
	t.Helper()
	for range 2 {
		conn, err := db.Conn(testContext(t))
		must(t, err)
		defer conn.Close() // both at a time
		var one string
		must(t, conn.QueryRowContext(testContext(t), `SELECT concat_ws(' ', pg_backend_pid(), (SELECT string_agg(name || '=' || setting, ' ' ORDER BY name)
			FROM pg_settings WHERE name LIKE 'tcp_%' OR name IN ('idle_session_timeout', 'client_connection_check_interval')))`).Scan(&one))
		all = append(all, one)
	}
	slices.Sort(all)
	return all
}

// The connection goes back to the pool as it was, and while it is away it has settings by which the server notices that its client is gone.
func TestLockerGivesTheConnectionBack(t *testing.T) {
	eachDriver(t, func(t *testing.T, db *sql.DB) {
		ctx := testContext(t)
		conn, err := db.Conn(ctx)
		must(t, err)
		if _, err := conn.ExecContext(ctx, "SET idle_session_timeout = '2h'; SET tcp_user_timeout = 12345; SET tcp_keepalives_idle = 77"); err != nil {
			t.Fatal(err)
		}
		must(t, conn.Close())
		before := sessions(t, db)

		locker := newLocker(t, db, advisory.TTL(9*time.Second))
		lease := acquire(t, locker, advisory.ID(1))
		var idle int
		must(t, db.QueryRowContext(ctx, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND state = 'idle'").Scan(&idle))
		if idle != 1 {
			t.Errorf("%d other sessions, want the one of the lease", idle)
		}
		must(t, lease.Release(ctx))
		must(t, locker.Close())
		if diff := cmp.Diff(before, sessions(t, db)); diff != "" {
			t.Errorf("sessions of the pool (-before +after):\n%s", diff)
		}
		assertClean(t, db)
	})
}

// A locker without leases gives the session back by itself, and opens another one when it needs it.
func TestLockerIsIdle(t *testing.T) {
	eachDriver(t, func(t *testing.T, db *sql.DB) {
		locker := newLocker(t, db, advisory.TTL(300*time.Millisecond))
		for i := range 2 {
			must(t, acquire(t, locker, advisory.ID(1)).Release(testContext(t)))
			eventually(t, "the session is given back", func() bool { return locker.Stats().Sessions == 0 })
			if s := locker.Stats(); s.Opened != uint64(i+1) || s.Discarded != 0 {
				t.Errorf("stats: %+v", s)
			}
			assertClean(t, db)
		}
	})
}

// A hundred leases cost one connection, and one small statement per heartbeat.
func TestLeasesShareOneSession(t *testing.T) {
	for _, driver := range pgtest.Drivers {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			database := server.Database(t)
			p := startProxy(t, database.DSN())
			locker := newLocker(t, open(t, driver, p.dsn), advisory.TTL(time.Second))
			keys := numbers(100)
			for _, key := range keys {
				acquire(t, locker, key)
			}
			direct := database.Open(t, driver)
			if n := len(leaseKeys(t, direct, keys...)); n != len(keys) {
				t.Errorf("%d held on the server", n)
			}
			beats, trips := locker.Stats().Heartbeats, p.roundTrips()
			eventually(t, "there were more heartbeats", func() bool { return locker.Stats().Heartbeats >= beats+5 })
			beats, trips = locker.Stats().Heartbeats-beats, p.roundTrips()-trips
			if s := locker.Stats(); s.Sessions != 1 || s.Leases != len(keys) || trips > int(beats)+1 {
				t.Errorf("%d round trips in %d heartbeats; stats: %+v", trips, beats, s)
			}
			must(t, locker.Close())
			if held := locks(t, direct); len(held) != 0 {
				t.Errorf("held after Close: %v", held)
			}
		})
	}
}
