package advisory_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pgadvisory/pgadvisory/advisory"
)

// errNoLuck stands for an error of the caller's own function.
var errNoLuck = errors.New("no luck")

func createTable(t testing.TB, db *sql.DB, definition string) {
	t.Helper()
	if _, err := db.ExecContext(testContext(t), "CREATE TABLE "+definition); err != nil {
		t.Fatal(err)
	}
}

func count(t testing.TB, db *sql.DB, from string) (n int) {
	t.Helper()
	must(t, db.QueryRowContext(testContext(t), "SELECT count(*) FROM "+from).Scan(&n))
	return n
}

// doVariants are the ways in which Do takes the lock; every path must be right in each.
var doVariants = map[string][]advisory.DoOption{
	"plain":           nil,
	"shared":          {advisory.Shared()},
	"timeout":         {advisory.Timeout(time.Hour)},
	"read committed":  {advisory.Isolation(sql.LevelReadCommitted)},
	"repeatable read": {advisory.Isolation(sql.LevelRepeatableRead)},
	"snapshot":        {advisory.Isolation(sql.LevelSnapshot)},
	"serializable":    {advisory.Isolation(sql.LevelSerializable), advisory.Timeout(time.Hour)},
	"old snapshot":    {advisory.Isolation(sql.LevelSerializable), advisory.AllowOldSnapshot()},
	"retry":           {advisory.Retry(3)},
}

// eachVariant runs test for each driver and variant. Each runs twice on one pool, because the first Do on a pool checks more than the
// later ones.
func eachVariant(t *testing.T, test func(t *testing.T, db *sql.DB, opts []advisory.DoOption)) {
	eachDriver(t, func(t *testing.T, db *sql.DB) {
		createTable(t, db, "done (n int)")
		for name, opts := range doVariants {
			for range 2 {
				t.Run(name, func(t *testing.T) {
					test(t, db, opts)
					assertClean(t, db)
				})
			}
		}
	})
}

func insert(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO done VALUES (1)")
	return err
}

func TestDoCommits(t *testing.T) {
	eachVariant(t, func(t *testing.T, db *sql.DB, opts []advisory.DoOption) {
		before := count(t, db, "done")
		key := advisory.Pair(-5, 17)
		err := advisory.Do(testContext(t), db, key, func(ctx context.Context, tx *sql.Tx) error {
			if held := keysOf(locks(t, db)); len(held) != 1 || held[0] != key {
				t.Errorf("held in fn: %v", held)
			}
			return insert(ctx, tx)
		}, opts...)
		must(t, err)
		if n := count(t, db, "done") - before; n != 1 {
			t.Errorf("%d rows committed", n)
		}
		ran, err := advisory.TryDo(testContext(t), db, key, insert, opts...)
		if !ran || err != nil {
			t.Errorf("TryDo: %v, %v", ran, err)
		}
		if n := count(t, db, "done") - before; n != 2 {
			t.Errorf("%d rows committed", n)
		}
	})
}

func TestDoRollsBack(t *testing.T) {
	eachVariant(t, func(t *testing.T, db *sql.DB, opts []advisory.DoOption) {
		before := count(t, db, "done")
		key := advisory.ID(1)
		insertAnd := func(end func()) func(context.Context, *sql.Tx) error {
			return func(ctx context.Context, tx *sql.Tx) error {
				must(t, insert(ctx, tx))
				end()
				return errNoLuck
			}
		}
		if err := advisory.Do(testContext(t), db, key, insertAnd(func() {}), opts...); err != errNoLuck {
			t.Errorf("Do returned %v, want fn's error as it is", err)
		}
		assertClean(t, db)
		func() {
			defer func() {
				if r := recover(); r != "stop" {
					t.Errorf("recovered %v, want fn's panic", r)
				}
			}()
			advisory.Do(testContext(t), db, key, insertAnd(func() { panic("stop") }), opts...)
		}()
		assertClean(t, db)
		var gone sync.WaitGroup
		gone.Go(func() {
			advisory.Do(testContext(t), db, key, insertAnd(runtime.Goexit), opts...)
			t.Error("Do returned after Goexit")
		})
		gone.Wait()
		assertClean(t, db)
		if n := count(t, db, "done") - before; n != 0 {
			t.Errorf("%d rows committed", n)
		}
	})
}

// An error of COMMIT reaches the caller: a transaction that is aborted, one whose constraint fails at the end, one whose session is gone.
func TestDoReturnsTheCommitError(t *testing.T) {
	eachVariant(t, func(t *testing.T, db *sql.DB, opts []advisory.DoOption) {
		before := count(t, db, "done")
		fails := map[string]func(context.Context, *sql.Tx){
			"aborted": func(ctx context.Context, tx *sql.Tx) {
				if _, err := tx.ExecContext(ctx, "SELECT 1/0"); err == nil {
					t.Error("1/0 is no error")
				}
			},
			"deferred constraint": func(ctx context.Context, tx *sql.Tx) {
				run(t, tx, "CREATE TEMP TABLE one (n int UNIQUE DEFERRABLE INITIALLY DEFERRED) ON COMMIT DROP")
				run(t, tx, "INSERT INTO one VALUES (1), (1)")
			},
			"terminated (57P01)": func(ctx context.Context, tx *sql.Tx) { terminate(t, db, tx) },
			"idle for too long (25P03)": func(ctx context.Context, tx *sql.Tx) {
				var pid int
				must(t, tx.QueryRowContext(ctx, "SELECT pg_backend_pid()").Scan(&pid))
				run(t, tx, "SET LOCAL idle_in_transaction_session_timeout = 1")
				awaitEnd(t, db, pid)
			},
			"ended by fn": func(ctx context.Context, tx *sql.Tx) { must(t, tx.Rollback()) },
		}
		for name, fail := range fails {
			err := advisory.Do(testContext(t), db, advisory.ID(1), func(ctx context.Context, tx *sql.Tx) error {
				must(t, insert(ctx, tx))
				fail(ctx, tx)
				return nil
			}, opts...)
			if err == nil {
				t.Errorf("%s: Do returned nil", name)
			}
			if name == "ended by fn" && !errors.Is(err, sql.ErrTxDone) {
				t.Errorf("%s: %v, want sql.ErrTxDone", name, err)
			}
			assertClean(t, db)
		}
		if n := count(t, db, "done") - before; n != 0 {
			t.Errorf("%d rows committed", n)
		}
	})
}

// terminate ends the session of tx, and waits until it is gone.
func terminate(t testing.TB, db *sql.DB, tx *sql.Tx) {
	t.Helper()
	var pid int
	must(t, tx.QueryRowContext(testContext(t), "SELECT pg_backend_pid()").Scan(&pid))
	if _, err := db.ExecContext(testContext(t), "SELECT pg_terminate_backend($1)", pid); err != nil {
		t.Fatal(err)
	}
	awaitEnd(t, db, pid)
}

func awaitEnd(t testing.TB, db *sql.DB, pid int) {
	t.Helper()
	eventually(t, "the session is gone", func() bool { return count(t, db, fmt.Sprintf("pg_stat_activity WHERE pid = %d", pid)) == 0 })
}

func TestTryDoSkips(t *testing.T) {
	eachVariant(t, func(t *testing.T, db *sql.DB, opts []advisory.DoOption) {
		ctx := testContext(t)
		key := advisory.ID(77)
		holder := begin(t, db, nil)
		must(t, advisory.Lock(ctx, holder, key))
		// The last Timeout counts: one that is over soon is put after the variant's own.
		ran, err := advisory.TryDo(ctx, db, key, func(context.Context, *sql.Tx) error {
			t.Error("fn was run")
			return nil
		}, append(slices.Clip(opts), advisory.Timeout(10*time.Millisecond))...)
		if ran || err != nil {
			t.Errorf("TryDo while another holds the key: %v, %v", ran, err)
		}
		must(t, holder.Rollback())
	})
	eachDriver(t, func(t *testing.T, db *sql.DB) {
		must(t, advisory.Lock(testContext(t), begin(t, db, nil), advisory.ID(1)))
		for _, level := range []sql.IsolationLevel{sql.LevelReadCommitted, sql.LevelSerializable} {
			for range 2 {
				ran, err := advisory.TryDo(testContext(t), db, advisory.ID(1), insert, advisory.Isolation(level))
				if ran || err != nil {
					t.Errorf("TryDo at %v while another holds the key: %v, %v", level, ran, err)
				}
			}
		}
	})
}

// Only one is in fn at a time, on either driver and in any variant that is exclusive.
func TestDoExcludes(t *testing.T) {
	eachVariant(t, func(t *testing.T, db *sql.DB, opts []advisory.DoOption) {
		if strings.Contains(t.Name(), "shared") {
			return
		}
		var inside, most int
		var mu sync.Mutex
		enter := func(by int) {
			mu.Lock()
			defer mu.Unlock()
			inside += by
			most = max(most, inside)
		}
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				for range 10 {
					err := advisory.Do(testContext(t), db, advisory.ID(3), func(context.Context, *sql.Tx) error {
						enter(1)
						runtime.Gosched()
						enter(-1)
						return nil
					}, opts...)
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		group.Wait()
		if most != 1 {
			t.Errorf("%d were in fn at one time", most)
		}
	})
}

// When ctx ends, the lock stays until fn has returned, and the transaction is rolled back even if fn returns nil.
func TestDoHoldsTheLockUntilFnReturns(t *testing.T) {
	eachVariant(t, func(t *testing.T, db *sql.DB, opts []advisory.DoOption) {
		before := count(t, db, "done")
		key := advisory.ID(8)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		err := advisory.Do(ctx, db, key, func(ctx context.Context, tx *sql.Tx) error {
			must(t, insert(ctx, tx))
			cancel()
			if ctx.Err() == nil {
				t.Error("fn's ctx has not ended")
			}
			other := begin(t, db, nil)
			got, err := advisory.TryLock(testContext(t), other, key)
			if got || err != nil {
				t.Errorf("another got the lock while fn runs: %v, %v", got, err)
			}
			must(t, other.Rollback())
			return nil
		}, opts...)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("Do: %v, want context.Canceled", err)
		}
		if n := count(t, db, "done") - before; n != 0 {
			t.Errorf("%d rows committed", n)
		}
	})
}

// 2,000 cancellations per driver, at every point of a Do, leave neither locks nor connections.
func TestDoCancelledAnywhere(t *testing.T) {
	runs := 2000
	if testing.Short() {
		runs = 200
	}
	eachDriver(t, func(t *testing.T, db *sql.DB) {
		createTable(t, db, "done (n int)")
		db.SetMaxOpenConns(8)
		var variants [][]advisory.DoOption
		for _, opts := range doVariants {
			variants = append(variants, opts)
		}
		// How long a Do takes here, so that the cancellations meet all of it.
		start := time.Now()
		const sample = 20
		work := func(ctx context.Context, tx *sql.Tx) error {
			if err := insert(ctx, tx); err != nil {
				return errors.Join(err, ctx.Err()) // lib/pq says 57014
			}
			return nil
		}
		for i := range sample {
			must(t, advisory.Do(testContext(t), db, advisory.ID(1), work, variants[i%len(variants)]...))
		}
		usual := time.Since(start) / sample

		var group sync.WaitGroup
		ended := make(chan bool, runs)
		for worker := range 4 {
			group.Go(func() {
				for i := worker; i < runs; i += 4 {
					ctx, cancel := context.WithTimeout(context.Background(), rand.N(usual<<rand.N(8)))
					err := advisory.Do(ctx, db, advisory.ID(int64(i%2)), work, variants[i%len(variants)]...)
					if err != nil && !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("run %d: %v, want the error of ctx", i, err)
					}
					ended <- err != nil
					cancel()
				}
			})
		}
		group.Wait()
		close(ended)
		cancelled := 0
		for was := range ended {
			if was {
				cancelled++
			}
		}
		t.Logf("%d of %d were cancelled; a Do takes %v", cancelled, runs, usual)
		if cancelled == 0 || cancelled == runs {
			t.Errorf("%d of %d were cancelled, want some", cancelled, runs)
		}
		assertClean(t, db)
	})
}
