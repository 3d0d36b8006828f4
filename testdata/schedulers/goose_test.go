package schedulers_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/pressly/goose/v3"

	"github.com/pgadvisory/pgadvisory/advisory"
	"github.com/pgadvisory/pgadvisory/testdata/schedulers"
)

func migrations(n int) fstest.MapFS {
	files := make(fstest.MapFS)
	for i := range n {
		files[fmt.Sprintf("%05d_table.sql", i+1)] = &fstest.MapFile{Data: fmt.Appendf(nil,
			"-- +goose Up\nCREATE TABLE t%[1]d (id int);\n-- +goose Down\nDROP TABLE t%[1]d;\n", i)}
	}
	return files
}

// Programs that start at the same time migrate one after the other, and each migration is applied once.
func TestGoose(t *testing.T) {
	eachDriver(t, func(t *testing.T, open func() *sql.DB) {
		const programs, files = 4, 8
		ctx := testContext(t)
		applied := make([]int, programs)
		var group sync.WaitGroup
		for i := range programs {
			db := open()
			locker := newLocker(t, db)
			group.Go(func() {
				provider, err := goose.NewProvider(goose.DialectPostgres, db, migrations(files), goose.WithSessionLocker(schedulers.NewSessionLocker(locker, "app")))
				if err != nil {
					t.Error(err)
					return
				}
				results, err := provider.Up(ctx)
				if err != nil {
					t.Errorf("program %d: %v", i, err)
				}
				applied[i] = len(results)
				if n := locker.Stats().Leases; n != 0 {
					t.Errorf("program %d still has %d leases", i, n)
				}
			})
		}
		group.Wait()
		total, working := 0, 0
		for _, n := range applied {
			total += n
			if n > 0 {
				working++
			}
		}
		if total != files || working != 1 {
			t.Errorf("applied %v", applied)
		}
	})
}

// One SessionLocker serves several connections at a time, and says when the lock was lost.
func TestSessionLocker(t *testing.T) {
	eachDriver(t, func(t *testing.T, open func() *sql.DB) {
		ctx := testContext(t)
		db := open()
		locker := schedulers.NewSessionLocker(newLocker(t, db), "app")
		a, err := db.Conn(ctx)
		must(t, err)
		defer a.Close()
		b, err := db.Conn(ctx)
		must(t, err)
		defer b.Close()
		must(t, locker.SessionLock(ctx, a))
		waiting, cancel := context.WithCancel(ctx)
		done := make(chan error)
		go func() { done <- locker.SessionLock(waiting, b) }()
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("while another has it: %v", err)
		}
		if err := locker.SessionUnlock(ctx, b); err == nil {
			t.Error("unlocked what is not locked")
		}
		must(t, locker.SessionUnlock(ctx, a))
		must(t, locker.SessionLock(ctx, b))
		terminate(t, db, advisory.Name("goose", "app"))
		if err := locker.SessionUnlock(ctx, b); err == nil {
			t.Error("the lock was lost, and nobody was told")
		}
	})
}
