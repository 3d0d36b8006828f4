package advisory_test

import (
	"context"
	"database/sql"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/pgadvisory/pgadvisory/advisory"
	"github.com/pgadvisory/pgadvisory/advisory/pgtest"
)

// A contender is one way to do something. All of them run in turn, A B C A B C …, so that whatever else the machine does meets all alike; the first one's median is what the
// others' are divided by.
type contender struct {
	name string
	run  func() error
}

func contend(b *testing.B, contenders []contender) {
	b.Helper()
	times := make([][]time.Duration, len(contenders))
	once := func(keep bool) {
		for i, c := range contenders {
			start := time.Now()
			if err := c.run(); err != nil {
				b.Fatalf("%s: %v", c.name, err)
			}
			if keep {
				times[i] = append(times[i], time.Since(start))
			}
		}
	}
	for range 10 { // connections, prepared statements, the server's caches
		once(false)
	}
	for b.Loop() {
		once(true)
	}
	median := func(i int) float64 {
		slices.Sort(times[i])
		return float64(times[i][len(times[i])/2])
	}
	base := median(0)
	for i, c := range contenders {
		fmt.Printf("%-26s %-44s %9.1f µs  %6.2f × %-26s %6.1f allocs\n", b.Name(), c.name, median(i)/1e3, median(i)/base,
			contenders[0].name, allocations(c))
	}
	b.ReportMetric(0, "ns/op") // a round of all contenders means nothing
}

// allocations returns how many heap objects one run allocates, those of the driver included.
func allocations(c contender) float64 {
	const runs = 200
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range runs {
		c.run()
	}
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / runs
}

func benchDrivers(b *testing.B, bench func(b *testing.B, ctx context.Context, db *sql.DB)) {
	for _, driver := range pgtest.Drivers {
		b.Run(driver, func(b *testing.B) {
			db := server.Database(b).Open(b, driver)
			db.SetMaxOpenConns(2)
			db.SetMaxIdleConns(2)
			ctx, cancel := context.WithCancel(context.Background()) // as a request's
			defer cancel()
			bench(b, ctx, db)
		})
	}
}

// BenchmarkDo compares whole transactions: BEGIN, lock, COMMIT.
func BenchmarkDo(b *testing.B) {
	benchDrivers(b, func(b *testing.B, ctx context.Context, db *sql.DB) {
		n := int64(0)
		key := func() advisory.Key { n++; return advisory.ID(n) }
		nothing := func(context.Context, *sql.Tx) error { return nil }
		do := func(name string, opts ...advisory.DoOption) contender {
			return contender{name, func() error { return advisory.Do(ctx, db, key(), nothing, opts...) }}
		}
		contend(b, []contender{
			{"hand-written with $1", func() error {
				n++
				tx, err := db.BeginTx(ctx, nil)
				if err != nil {
					return err
				}
				defer tx.Rollback()
				if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", n); err != nil {
					return err
				}
				return tx.Commit()
			}},
			do("Do"),
			do("Do, Shared", advisory.Shared()),
			do("Do, Timeout", advisory.Timeout(time.Second)),
			do("Do, ReadOnly", advisory.ReadOnly()),
			do("Do, Retry", advisory.Retry(3)),
			do("Do, Isolation(ReadCommitted)", advisory.Isolation(sql.LevelReadCommitted)),
			do("Do, Isolation(Serializable)", advisory.Isolation(sql.LevelSerializable)),
			{"TryDo", func() error { _, err := advisory.TryDo(ctx, db, key(), nothing); return err }},
		})
	})
}

// BenchmarkLock compares lock statements in a transaction.
func BenchmarkLock(b *testing.B) {
	benchDrivers(b, func(b *testing.B, ctx context.Context, db *sql.DB) {
		tx := begin(b, db, nil)
		n := int64(0)
		key := func() advisory.Key { n++; return advisory.ID(n % 500) }
		lock := func(name string, opts ...advisory.Option) contender {
			return contender{name, func() error { return advisory.Lock(ctx, tx, key(), opts...) }}
		}
		hand := func(query string) func() error {
			return func() error {
				n++
				_, err := tx.ExecContext(ctx, query, n%500)
				return err
			}
		}
		try := func(name string, opts ...advisory.Option) contender {
			return contender{name, func() error { _, err := advisory.TryLock(ctx, tx, key(), opts...); return err }}
		}
		contend(b, []contender{
			{"hand-written with $1", hand("SELECT pg_advisory_xact_lock($1)")},
			{"hand-written literal, no guard", func() error {
				n++
				_, err := tx.ExecContext(ctx, fmt.Sprintf("SELECT pg_advisory_xact_lock(%d)", n%500))
				return err
			}},
			lock("Lock"),
			lock("Lock, Shared", advisory.Shared()),
			lock("Lock, AllowOldSnapshot", advisory.AllowOldSnapshot()),
			lock("Lock, Timeout", advisory.Timeout(time.Second)),
			try("TryLock"),
			try("TryLock, Timeout", advisory.Timeout(time.Second)),
		})
	})
}

// BenchmarkLockAll compares 1,000 keys in one call with 1,000 calls, each in a transaction of its own.
func BenchmarkLockAll(b *testing.B) {
	benchDrivers(b, func(b *testing.B, ctx context.Context, db *sql.DB) {
		keys := make([]advisory.Key, 1000)
		for i := range keys {
			keys[i] = advisory.ID(int64(i))
		}
		inTx := func(name string, lock func(*sql.Tx) error) contender {
			return contender{name, func() error {
				tx, err := db.BeginTx(ctx, nil)
				if err != nil {
					return err
				}
				defer tx.Rollback()
				if err := lock(tx); err != nil {
					return err
				}
				return tx.Commit()
			}}
		}
		contend(b, []contender{
			inTx("LockAll of 1,000", func(tx *sql.Tx) error { return advisory.LockAll(ctx, tx, keys) }),
			inTx("LockAll of 1,000, Timeout", func(tx *sql.Tx) error { return advisory.LockAll(ctx, tx, keys, advisory.Timeout(time.Minute)) }),
			inTx("TryLockAll of 1,000", func(tx *sql.Tx) error { _, err := advisory.TryLockAll(ctx, tx, keys); return err }),
			inTx("1,000 times Lock", func(tx *sql.Tx) error {
				for _, key := range keys {
					if err := advisory.Lock(ctx, tx, key); err != nil {
						return err
					}
				}
				return nil
			}),
			inTx("1,000 times hand-written with $1", func(tx *sql.Tx) error {
				for i := range keys {
					if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", int64(i)); err != nil {
						return err
					}
				}
				return nil
			}),
		})
	})
}

func BenchmarkKeys(b *testing.B) {
	b.Run("Name", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			advisory.Name("invoice", "2026", "17")
		}
	})
	b.Run("HashText", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			advisory.HashText("a name of some length")
		}
	})
}
