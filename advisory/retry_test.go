package advisory_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"github.com/pgadvisory/pgadvisory/advisory"
)

// failTimes returns a function for Do whose transaction fails with a real error of the server the first n times.
func failTimes(n int, statement string, calls *int) func(context.Context, *sql.Tx) error {
	return func(ctx context.Context, tx *sql.Tx) error {
		*calls++
		if *calls <= n {
			_, err := tx.ExecContext(ctx, statement)
			return err
		}
		return insert(ctx, tx)
	}
}

const (
	serializationFailure = "DO $$ BEGIN RAISE serialization_failure; END $$"
	deadlockDetected     = "DO $$ BEGIN RAISE deadlock_detected; END $$"
)

func TestRetry(t *testing.T) {
	eachDriver(t, func(t *testing.T, db *sql.DB) {
		createTable(t, db, "done (n int)")
		for name, c := range map[string]struct {
			statement string
			fails     int
			opts      []advisory.DoOption
			calls     int
			state     string
		}{
			"serialization failure": {serializationFailure, 2, []advisory.DoOption{advisory.Retry(3)}, 3, ""},
			"deadlock":              {deadlockDetected, 2, []advisory.DoOption{advisory.Retry(3)}, 3, ""},
			"bounded":               {deadlockDetected, 9, []advisory.DoOption{advisory.Retry(3)}, 3, "40P01"},
			"one attempt":           {deadlockDetected, 1, []advisory.DoOption{advisory.Retry(1)}, 1, "40P01"},
			"not asked for":         {serializationFailure, 1, nil, 1, "40001"},
			"another error":         {"SELECT 1/0", 1, []advisory.DoOption{advisory.Retry(3)}, 1, "22012"},
			"with a younger snapshot": {serializationFailure, 1,
				[]advisory.DoOption{advisory.Retry(3), advisory.Isolation(sql.LevelSerializable)}, 2, ""},
		} {
			calls := 0
			before := count(t, db, "done")
			err := advisory.Do(testContext(t), db, advisory.ID(1), failTimes(c.fails, c.statement, &calls), c.opts...)
			if calls != c.calls {
				t.Errorf("%s: fn was run %d times, want %d", name, calls, c.calls)
			}
			if got := sqlState(err); got != c.state {
				t.Errorf("%s: %v, want SQLSTATE %q", name, err, c.state)
			}
			if committed := count(t, db, "done") - before; (committed == 1) != (c.state == "") {
				t.Errorf("%s: %d rows committed", name, committed)
			}
			assertClean(t, db)
		}
	})
}

// When ctx ends between two attempts, both errors are in the result.
func TestRetryEndsWithContext(t *testing.T) {
	eachDriver(t, func(t *testing.T, db *sql.DB) {
		ctx, cancel := context.WithCancel(context.Background())
		calls := 0
		ran, err := advisory.TryDo(ctx, db, advisory.ID(1), func(ctx context.Context, tx *sql.Tx) error {
			calls++
			_, err := tx.ExecContext(ctx, serializationFailure)
			cancel()
			return err
		}, advisory.Retry(1000))
		if !ran || calls != 1 {
			t.Errorf("ran %v, fn was run %d times", ran, calls)
		}
		if !errors.Is(err, context.Canceled) || sqlState(err) != "40001" {
			t.Errorf("%v, want context.Canceled and 40001", err)
		}
		assertClean(t, db)
	})
}

func TestRetryPanics(t *testing.T) {
	for name, call := range map[string]func(){
		"Retry(0)":                func() { advisory.Retry(0) },
		"Isolation(Linearizable)": func() { advisory.Isolation(sql.LevelLinearizable) },
		"Isolation(Default)":      func() { advisory.Isolation(sql.LevelDefault) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s did not panic", name)
				}
			}()
			call()
		}()
	}
}
