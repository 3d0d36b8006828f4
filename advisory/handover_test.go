package advisory_test

import (
	"context"
	"database/sql"
	"sync"
	"testing"

	"github.com/pgadvisory/pgadvisory/advisory"
	"github.com/pgadvisory/pgadvisory/advisory/pgtest"
)

// With Isolation a transaction sees what the holder before it has committed; with AllowOldSnapshot it need not.
func TestSnapshotIsYoungerThanTheLock(t *testing.T) {
	eachDriver(t, func(t *testing.T, db *sql.DB) {
		createTable(t, db, "done (n int)")
		key := advisory.ID(1)
		for _, level := range []sql.IsolationLevel{sql.LevelRepeatableRead, sql.LevelSnapshot, sql.LevelSerializable} {
			for _, variant := range []struct {
				opts []advisory.DoOption
				want int
			}{
				{[]advisory.DoOption{advisory.Isolation(level)}, 1},
				{[]advisory.DoOption{advisory.Isolation(level), advisory.AllowOldSnapshot()}, 0},
			} {
				if _, err := db.ExecContext(testContext(t), "TRUNCATE done"); err != nil {
					t.Fatal(err)
				}
				holder := begin(t, db, nil)
				must(t, advisory.Lock(testContext(t), holder, key))
				seen := make(chan int, 1)
				var group sync.WaitGroup
				group.Go(func() {
					err := advisory.Do(testContext(t), db, key, func(ctx context.Context, tx *sql.Tx) error {
						var n int
						err := tx.QueryRowContext(ctx, "SELECT count(*) FROM done").Scan(&n)
						seen <- n
						return err
					}, variant.opts...)
					if err != nil {
						t.Error(err)
						seen <- -1
					}
				})
				eventually(t, "the other waits", func() bool { return waiting(t, db) })
				must(t, insert(testContext(t), holder))
				must(t, holder.Commit())
				if n := <-seen; n != variant.want {
					t.Errorf("%v with %d options: sees %d rows, want %d", level, len(variant.opts), n, variant.want)
				}
				group.Wait()
			}
		}
		assertClean(t, db)
	})
}

// Read, add one, write: at REPEATABLE READ no update is lost, and none is refused because the row was changed meanwhile.
func TestSnapshotCounter(t *testing.T) {
	eachDriver(t, func(t *testing.T, db *sql.DB) {
		createTable(t, db, "counter (n int)")
		if _, err := db.ExecContext(testContext(t), "INSERT INTO counter VALUES (0)"); err != nil {
			t.Fatal(err)
		}
		const workers, each = 6, 20
		var group sync.WaitGroup
		for range workers {
			group.Go(func() {
				for range each {
					err := advisory.Do(testContext(t), db, advisory.Pair(1, 2), func(ctx context.Context, tx *sql.Tx) error {
						var n int
						if err := tx.QueryRowContext(ctx, "SELECT n FROM counter").Scan(&n); err != nil {
							return err
						}
						_, err := tx.ExecContext(ctx, "UPDATE counter SET n = $1", n+1)
						return err
					}, advisory.Isolation(sql.LevelRepeatableRead))
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		group.Wait()
		var n int
		must(t, db.QueryRowContext(testContext(t), "SELECT n FROM counter").Scan(&n))
		if n != workers*each {
			t.Errorf("counted %d, want %d", n, workers*each)
		}
		assertClean(t, db)
	})
}

// After a restart each idle connection of the pool is dead; Do finds a live one at every level.
func TestDoAfterRestart(t *testing.T) {
	server.SkipIfExternal(t)
	t.Parallel()
	own := pgtest.Start(t)
	for _, driver := range pgtest.Drivers {
		db := own.Open(t, driver)
		db.SetMaxIdleConns(5)
		var idle []*sql.Conn
		for range 5 {
			conn, err := db.Conn(testContext(t))
			must(t, err)
			idle = append(idle, conn)
		}
		for _, conn := range idle {
			must(t, conn.Close())
		}
		must(t, own.Restart(testContext(t)))
		nothing := func(context.Context, *sql.Tx) error { return nil }
		must(t, advisory.Do(testContext(t), db, advisory.ID(1), nothing, advisory.Isolation(sql.LevelSerializable)))
		must(t, advisory.Do(testContext(t), db, advisory.ID(1), nothing))
		assertClean(t, db)
	}
}
