package cron

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pgadvisory/pgadvisory/advisory"
)

// Key returns the key whose lock a run of a tick holds: Name("pgadvisory cron", schema, job, tick), with the tick in UTC in the form of [time.RFC3339Nano].
// [OnceLeased] holds a lease on it, whose key is [advisory.LeaseKey] of this one. It never changes.
func Key(job string, tick time.Time, opts ...Option) advisory.Key {
	return advisory.Name("pgadvisory cron", settingsOf(opts).schema, job, tick.UTC().Format(time.RFC3339Nano))
}

// A run is one call of Once or OnceLeased.
type run struct {
	call    string
	db      *sql.DB
	job     string
	tick    time.Time
	key     advisory.Key
	lock    int64 // the bigint that is locked on the server
	set     settings
	sql     *statements
	attempt int
	lease   *advisory.Lease // of OnceLeased: it fences the transactions
}

func newRun(call string, db *sql.DB, job string, tick time.Time, opts []Option) (*run, error) {
	tick = tick.UTC()
	r := &run{call: call, db: db, job: job, tick: tick, key: Key(job, tick, opts...), set: settingsOf(opts)}
	r.sql = statementsOf(r.set.schema)
	switch {
	case job == "" || !utf8.ValidString(job) || strings.ContainsRune(job, 0):
		return nil, r.failed(errors.New("the job's name must be text of UTF-8, without zero bytes, and not empty"))
	case tick.Nanosecond()%1000 != 0:
		return nil, r.failed(errors.New("the tick has nanoseconds: name it by the time it was scheduled for, for example with Truncate"))
	case tick.IsZero() || tick.Year() < 1 || tick.Year() > 9999:
		return nil, r.failed(errors.New("the tick must be a time in the years 1 to 9999"))
	}
	r.lock = number(r.key)
	return r, nil
}

// number returns the bigint of a key made by Name.
func number(key advisory.Key) int64 {
	n, err := strconv.ParseInt(key.String(), 10, 64)
	if err != nil {
		panic(err) // Name makes no pairs
	}
	return n
}

// failed says what an error is about, and what to do if the tables are missing.
func (r *run) failed(err error) error {
	return fmt.Errorf("cron: %s %q at %s: %w", r.call, r.job, r.tick.Format(time.RFC3339Nano), missing(r.set.schema, err))
}

// missing says what to do about tables that are not there.
func missing(schema string, err error) error {
	var coded interface{ SQLState() string }
	if errors.As(err, &coded) && (coded.SQLState() == "42P01" || coded.SQLState() == "3F000") {
		return fmt.Errorf("no tables in schema %q, create them with Migrate: %w", schema, err)
	}
	return err
}

// transact runs fn in a transaction of its own. Statements with arguments need one behind a pooler in transaction mode.
func (r *run) transact(ctx context.Context, fn func(tx *sql.Tx) error) error {
	return transact(ctx, r.db, false, func(tx *sql.Tx) error {
		if r.lease != nil {
			if err := r.lease.Fence(ctx, tx); err != nil {
				return err
			}
		}
		return fn(tx)
	})
}

func transact(ctx context.Context, db *sql.DB, readOnly bool, fn func(tx *sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted, ReadOnly: readOnly})
	if err != nil {
		return err
	}
	defer tx.Rollback() // does nothing after COMMIT
	if err := fn(tx); err != nil {
		return err
	}
	return tx.Commit()
}
