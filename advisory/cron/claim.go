package cron

import (
	"context"
	"database/sql"
)

// claim writes the row of a new attempt, or says why there is none. The caller holds the tick's lock. After Ran the row is committed.
func (r *run) claim(ctx context.Context) (Result, error) {
	var result Result
	err := r.transact(ctx, func(tx *sql.Tx) (err error) {
		result, err = r.claimIn(ctx, tx)
		return err
	})
	if err == nil {
		r.attempt = result.Attempt
		return result, nil
	}
	if result.Outcome == Ran {
		// COMMIT may have taken effect all the same. The row would look like a crash, of a job that never started. Should this fail as
		// well there is nothing else to try, and err is the error that matters.
		r.attempt = result.Attempt
		_ = r.insist(ctx, func(ctx context.Context) error {
			return r.transact(ctx, func(tx *sql.Tx) error {
				_, err := tx.ExecContext(ctx, r.sql.unclaim, r.job, r.tick, r.attempt, r.lock)
				return err
			})
		})
	}
	return Result{}, err
}

func (r *run) claimIn(ctx context.Context, tx *sql.Tx) (Result, error) {
	result := Result{Outcome: Ran, Attempt: 1}
	begun, err := changes(tx.ExecContext(ctx, r.sql.begin, r.job, r.tick, 1, r.lock))
	if err != nil {
		return Result{}, err
	}
	if begun {
		// After the insert, not before: that it succeeded can mean that the row was deleted a moment ago, and then this statement sees so.
		return r.unlessTooOld(ctx, tx, result)
	}
	var state string
	if err := tx.QueryRowContext(ctx, r.sql.last, r.job, r.tick, r.lock).Scan(&result.Attempt, &state); err == sql.ErrNoRows {
		return Result{Outcome: TooOld}, nil // it was there, and was deleted
	} else if err != nil {
		return Result{}, err
	}
	switch {
	case state == "running":
		// Its lock is not this one, but that of the other kind of run.
		result.Outcome = RunningElsewhere
		return result, nil
	case state == "crashed" && result.Attempt >= r.set.crashed:
		result.Outcome = Crashed
	case state == "succeeded", state == "failed" && result.Attempt >= r.set.fail:
		result.Outcome = AlreadyRan
	}
	if state == "crashed" {
		if _, err := tx.ExecContext(ctx, r.sql.crash, r.job, r.tick, result.Attempt); err != nil {
			return Result{}, err
		}
	}
	if result.Outcome != Ran {
		return result, nil
	}
	result.Attempt++
	if begun, err = changes(tx.ExecContext(ctx, r.sql.begin, r.job, r.tick, result.Attempt, r.lock)); err != nil {
		return Result{}, err
	}
	if !begun {
		result.Outcome = RunningElsewhere // a run of the other kind claimed it meanwhile
		return result, nil
	}
	return r.unlessTooOld(ctx, tx, result)
}

func (r *run) unlessTooOld(ctx context.Context, tx *sql.Tx, result Result) (Result, error) {
	var tooOld bool
	if err := tx.QueryRowContext(ctx, r.sql.tooOld, r.tick).Scan(&tooOld); err != nil {
		return Result{}, err
	}
	if !tooOld {
		return result, nil
	}
	_, err := tx.ExecContext(ctx, r.sql.unclaim, r.job, r.tick, result.Attempt, r.lock)
	return Result{Outcome: TooOld}, err
}

// changes reports whether a statement changed a row.
func changes(result sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0, err
}
