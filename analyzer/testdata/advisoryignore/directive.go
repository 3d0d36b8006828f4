// Package advisoryignore has comments that ignore reports, and some that do not.
package advisoryignore

import (
	"context"
	"database/sql"
)

func trailing(ctx context.Context, db *sql.DB) {
	db.ExecContext(ctx, "SELECT pg_advisory_lock(1)") //advisorylint:ignore poollock the process ends right after
	db.ExecContext(ctx, "SELECT pg_advisory_lock(1)") // want `poollock`
}

func above(ctx context.Context, db *sql.DB) {
	//advisorylint:ignore poollock,ignoredtry the process ends right after
	db.ExecContext(ctx, "SELECT pg_try_advisory_lock(1)")
	db.ExecContext(ctx, "SELECT pg_advisory_lock(1)") // want `poollock`
}

// long has a statement on several lines.
func long(ctx context.Context, db *sql.DB) (ok bool, err error) {
	//advisorylint:ignore poollock the process ends right after
	err = db.
		QueryRowContext(ctx, `
			SELECT pg_try_advisory_lock(1)`).
		Scan(&ok)
	return ok, err
}

// whole is ignored as a whole.
//
//advisorylint:ignore poollock the process ends right after
func whole(ctx context.Context, db *sql.DB) {
	db.ExecContext(ctx, "SELECT pg_advisory_lock(1)")
	db.ExecContext(ctx, "SELECT pg_advisory_lock(2)")
	db.ExecContext(ctx, "SELECT pg_advisory_unlock(2)") // want `poolunlock`
}

func noReason(ctx context.Context, db *sql.DB) {
	//advisorylint:ignore poollock // want `gives no reason.* \(advisoryignore\)$`
	db.ExecContext(ctx, "SELECT pg_advisory_lock(1)") // want `poollock`
}

func spaced(ctx context.Context, db *sql.DB) {
	// advisorylint:ignore poollock the process ends right after // want `this is no directive, and silences nothing: write //advisorylint:ignore .advisoryignore`
	db.ExecContext(ctx, "SELECT pg_advisory_lock(1)") // want `poollock`
}

// The word advisorylint:ignore within a comment is prose.
func noRule(ctx context.Context, db *sql.DB) {
	//advisorylint:ignore // want `names no rule.*advisoryignore`
	db.ExecContext(ctx, "SELECT pg_advisory_lock(1)") // want `poollock`
}

func unknownRule(ctx context.Context, db *sql.DB) {
	//advisorylint:ignore poolock a typing error // want `names poolock, which is no rule: the rules are poollock, .*advisoryignore`
	db.ExecContext(ctx, "SELECT pg_advisory_lock(1)") // want `poollock`
}

func useless(ctx context.Context, conn *sql.Conn) {
	//advisorylint:ignore poollock the connection is pinned // want `silences no report of poollock: remove it.*advisoryignore`
	conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)")
}

func halfUseless(ctx context.Context, db *sql.DB) {
	//advisorylint:ignore poollock,poolunlock the process ends right after // want `silences no report of poolunlock.*advisoryignore`
	db.ExecContext(ctx, "SELECT pg_advisory_lock(1)")
}

//advisorylint:ignored is another word, and no directive
func otherWord() {}

func within(ctx context.Context, db *sql.DB, run func(func() error) error) error {
	//advisorylint:ignore poollock speaks of the call, not of what it is given // want `silences no report of poollock.*advisoryignore`
	return run(func() error {
		_, err := db.ExecContext(ctx, "SELECT pg_advisory_lock(1)") // want `poollock`
		return err
	})
}
