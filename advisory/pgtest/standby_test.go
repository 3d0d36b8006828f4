//go:build unix

package pgtest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pgadvisory/pgadvisory/advisory/pgtest"
)

func TestStandby(t *testing.T) {
	needOwn(t)
	primary := pgtest.Start(t, pgtest.Setting("max_connections", "31"))
	db := primary.Open(t, "pgx")
	run(t, db, "CREATE TABLE numbers (n int)")
	run(t, db, "CREATE DATABASE other")
	run(t, db, "INSERT INTO numbers VALUES (1)")

	// Tables come, grow and go all the while.
	writing, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		pause := time.NewTicker(10 * time.Millisecond)
		defer pause.Stop()
		for i := 0; writing.Err() == nil; i++ {
			_, err := db.ExecContext(writing, fmt.Sprintf(`DROP TABLE IF EXISTS t%d;
				CREATE TABLE t%d AS SELECT generate_series(1, 300) AS n`, max(i-3, 0), i))
			if err != nil && writing.Err() == nil {
				t.Error(err)
				return
			}
			<-pause.C
		}
	})
	first := primary.StartStandby(t)
	second := primary.StartStandby(t)
	stop()
	wg.Wait()

	run(t, db, "INSERT INTO numbers VALUES (2)")
	for _, standby := range []*pgtest.Server{first, second} {
		for _, driver := range pgtest.Drivers {
			db := standby.Open(t, driver)
			if !ask[bool](t, db, "SELECT pg_is_in_recovery()") {
				t.Error("the standby is no standby")
			}
			if got := ask[string](t, db, "SHOW max_connections"); got != "31" {
				t.Errorf("max_connections is %s on the standby, want 31", got)
			}
			eventually(t, func() bool { return ask[int](t, db, "SELECT count(*) FROM numbers") == 2 })
			if _, err := db.Exec("INSERT INTO numbers VALUES (3)"); sqlState(err) != "25006" {
				t.Errorf("a write on the standby: %v, want SQLSTATE 25006", err)
			}
		}
	}
	if got := ask[int](t, db, "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'"); got != 2 {
		t.Errorf("%d standbys stream, want 2", got)
	}

	if _, err := first.Standby(t.Context()); err == nil || !strings.Contains(err.Error(), "standby itself") {
		t.Errorf("Standby of a standby: %v", err)
	}
	if err := primary.Promote(t.Context()); err == nil || !strings.Contains(err.Error(), "not a standby") {
		t.Errorf("Promote of a primary: %v", err)
	}

	// A standby can be restarted, killed and closed by itself.
	if err := first.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := first.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	run(t, db, "INSERT INTO numbers VALUES (3)")
	if err := first.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	standbyDB := first.Open(t, "pgx")
	eventually(t, func() bool { return ask[int](t, standbyDB, "SELECT count(*) FROM numbers") == 3 })
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	assertGone(t, second.Dir(), second.DSN())
	ask[int](t, db, "SELECT 1")

	// Closing the primary closes what is left.
	if err := primary.Close(); err != nil {
		t.Fatal(err)
	}
	assertGone(t, first.Dir(), first.DSN())
	assertGone(t, primary.Dir(), primary.DSN())
}

func TestPromote(t *testing.T) {
	needOwn(t)
	primary := pgtest.Start(t)
	run(t, primary.Open(t, "pgx"), "CREATE TABLE numbers (n int)")
	standby := primary.StartStandby(t)
	db := standby.Open(t, "pgx")
	session, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()

	if err := primary.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := standby.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	// The session that was open goes on, and may write now.
	if _, err := session.ExecContext(t.Context(), "INSERT INTO numbers VALUES (1)"); err != nil {
		t.Error(err)
	}
	if err := standby.Promote(t.Context()); err == nil {
		t.Error("a second Promote succeeded")
	}
	next := standby.StartStandby(t)
	nextDB := next.Open(t, "postgres")
	eventually(t, func() bool { return ask[int](t, nextDB, "SELECT count(*) FROM numbers") == 1 })
}

func TestStandbyThatFails(t *testing.T) {
	needOwn(t)
	dir := emptyTempDir(t)
	primary, err := pgtest.New(t.Context(), pgtest.Setting("max_wal_senders", "0"))
	if err != nil {
		t.Fatal(err)
	}
	defer primary.Close()
	// The standby cannot get what it needs, and waits for it until ctx ends.
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() {
		defer cancel()
		eventually(t, func() bool { return anyHolds(filepath.Join(dir, "pgtest.*/log"), "could not connect to the primary") })
	})
	_, err = primary.Standby(ctx)
	wg.Wait()
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "could not connect to the primary") {
		t.Errorf("Standby: %v, want that ctx is done, and the standby's log", err)
	}
	ask[int](t, primary.Open(t, "pgx"), "SELECT 1")
	if err := primary.Close(); err != nil {
		t.Error(err)
	}
	assertEmpty(t, dir)
}

// anyHolds reports whether the text is in one of the files.
func anyHolds(glob, text string) bool {
	paths, _ := filepath.Glob(glob)
	return slices.ContainsFunc(paths, func(path string) bool {
		content, err := os.ReadFile(path)
		return err == nil && strings.Contains(string(content), text)
	})
}

// eventually waits until cond holds.
func eventually(t *testing.T, cond func() bool) {
	t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for !cond() {
		if time.Now().After(deadline) {
			t.Error("it never came true")
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func sqlState(err error) string {
	var e interface{ SQLState() string }
	if errors.As(err, &e) {
		return e.SQLState()
	}
	return ""
}
