package advisory_test

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pgadvisory/pgadvisory/advisory"
)

func execute(t testing.TB, db *sql.DB, query string) {
	t.Helper()
	if _, err := db.ExecContext(testContext(t), query); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// A function of the same name for texts, as teams write for convenience, does not take the server's place, and neither does one that
// search_path puts before it.
func TestShadowingFunctions(t *testing.T) {
	eachDriver(t, func(t *testing.T, db *sql.DB) {
		ctx := testContext(t)
		for _, name := range []string{"pg_advisory_xact_lock", "pg_advisory_lock"} {
			execute(t, db, "CREATE FUNCTION "+name+"(text) RETURNS void LANGUAGE sql AS 'SELECT pg_catalog.pg_advisory_xact_lock(999)'")
			execute(t, db, "CREATE FUNCTION public."+name+"(bigint) RETURNS void LANGUAGE sql AS ''")
		}
		execute(t, db, "CREATE FUNCTION pg_try_advisory_xact_lock(text) RETURNS boolean LANGUAGE sql AS 'SELECT true'")
		execute(t, db, "CREATE FUNCTION public.pg_try_advisory_xact_lock(bigint) RETURNS boolean LANGUAGE sql AS 'SELECT true'")
		for _, f := range []string{"replace(text,text,text)", "left(text,integer)", "current_setting(text)", "set_config(text,text,boolean)"} {
			name, args, _ := strings.Cut(f, "(")
			execute(t, db, "CREATE FUNCTION public."+name+"("+args+" RETURNS text LANGUAGE sql AS 'SELECT ''nonsense'''")
		}
		for _, path := range []string{"public", "public, pg_catalog"} {
			for name, lock := range lockCalls {
				tx := begin(t, db, nil)
				run(t, tx, "SET LOCAL search_path = "+path)
				must(t, lock(ctx, tx))
				held := keysOf(locks(t, db))
				if len(held) != 1 && len(held) != len(edgeKeys) || held[0] == advisory.ID(999) {
					t.Errorf("%s with search_path %s holds %v", name, path, held)
				}
				must(t, tx.Rollback())
			}
		}
		for name, opts := range doVariants {
			err := advisory.Do(ctx, db, advisory.ID(42), func(context.Context, *sql.Tx) error {
				if diff := cmp.Diff([]advisory.Key{advisory.ID(42)}, keysOf(locks(t, db)), compareKeys); diff != "" {
					t.Errorf("Do, %s (-want +got):\n%s", name, diff)
				}
				return nil
			}, opts...)
			must(t, err)
		}
	})
}

// A try that times out may have been granted the session's lock all the same: such a connection does not go back to the pool.
func TestTryDoTimeoutLeavesNoSessionLock(t *testing.T) {
	rounds := 300
	if testing.Short() {
		rounds = 60
	}
	eachDriver(t, func(t *testing.T, db *sql.DB) {
		key := advisory.ID(77)
		for range rounds {
			holder := begin(t, db, nil)
			must(t, advisory.Lock(testContext(t), holder, key))
			var group sync.WaitGroup
			group.Go(func() {
				_, err := advisory.TryDo(testContext(t), db, key, func(context.Context, *sql.Tx) error { return nil },
					advisory.Isolation(sql.LevelSerializable), advisory.Timeout(2*time.Millisecond))
				if err != nil {
					t.Error(err)
				}
			})
			<-time.After(rand.N(6 * time.Millisecond)) // so that the grant meets the timeout in some rounds
			must(t, holder.Rollback())
			group.Wait()
			eventually(t, "all locks are gone", func() bool { return len(locks(t, db)) == 0 })
		}
	})
}

// When another takes the lock between two attempts, TryDo does not claim that the work was done.
func TestTryDoRetryLosesTheLock(t *testing.T) {
	eachDriver(t, func(t *testing.T, db *sql.DB) {
		createTable(t, db, "done (n int)")
		key := advisory.ID(1)
		other := begin(t, db, nil)
		calls := 0
		ran, err := advisory.TryDo(testContext(t), db, key, func(ctx context.Context, tx *sql.Tx) error {
			calls++
			must(t, insert(ctx, tx))
			// The other waits for the key, and so gets it as soon as this attempt has rolled back.
			go advisory.Lock(testContext(t), other, key)
			eventually(t, "the other waits", func() bool { return waiting(t, db) })
			_, err := tx.ExecContext(ctx, serializationFailure)
			return err
		}, advisory.Retry(5))
		if !ran || sqlState(err) != "40001" || calls != 1 {
			t.Errorf("ran %v, %v, %d calls; want the first attempt's error", ran, err, calls)
		}
		if n := count(t, db, "done"); n != 0 {
			t.Errorf("%d rows committed", n)
		}
	})
}

func TestWithoutPLpgSQL(t *testing.T) {
	eachDriver(t, func(t *testing.T, db *sql.DB) {
		execute(t, db, "DROP EXTENSION plpgsql")
		_, err := advisory.TryLockAll(testContext(t), begin(t, db, nil), edgeKeys)
		assertDriverError(t, err, "42704")
		if errors.Is(err, advisory.ErrUnsupported) || !strings.Contains(err.Error(), "CREATE EXTENSION plpgsql") {
			t.Errorf("TryLockAll: %v, want what to do", err)
		}
		must(t, advisory.LockAll(testContext(t), begin(t, db, nil), edgeKeys))
	})
}
