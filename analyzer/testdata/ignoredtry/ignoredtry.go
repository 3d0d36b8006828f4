// Package ignoredtry tries locks, and does not always look whether it has them.
package ignoredtry

import (
	"context"
	"database/sql"
	"errors"
	"log"

	"github.com/jackc/pgx/v5"
)

var errTaken = errors.New("taken")

func byExec(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, "SELECT pg_try_advisory_xact_lock(1)") // want `the answer of pg_try_advisory_xact_lock on tx is thrown away, .* \(ignoredtry\)$`
	return err
}

func byRowsAffected(ctx context.Context, tx pgx.Tx) error {
	tag, err := tx.Exec(ctx, "SELECT pg_try_advisory_xact_lock(1)") // want `RowsAffected is 1 whatever the answer is; read it with QueryRow and Scan .ignoredtry`
	if err != nil {
		return err
	}
	if tag.RowsAffected() == 0 {
		return errTaken
	}
	return nil
}

func unread(ctx context.Context, tx *sql.Tx) error {
	var ok bool
	return tx.QueryRowContext(ctx, "SELECT pg_try_advisory_xact_lock(1)").Scan(&ok) // want `look at the variable.*ignoredtry`
}

func blank(ctx context.Context, tx *sql.Tx) error {
	var ok sql.NullBool
	err := tx.QueryRowContext(ctx, "SELECT pg_try_advisory_xact_lock(1)").Scan(&ok) // want `ignoredtry`
	_ = ok
	return err
}

func noScan(ctx context.Context, tx *sql.Tx) error {
	row := tx.QueryRowContext(ctx, "SELECT pg_try_advisory_xact_lock(1)") // want `ignoredtry`
	return row.Err()
}

func counted(ctx context.Context, tx pgx.Tx) (n int, err error) {
	rows, err := tx.Query(ctx, "SELECT pg_try_advisory_xact_lock(id) FROM seats ORDER BY id") // want `ignoredtry`
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		n++
	}
	return n, rows.Err()
}

func otherColumn(ctx context.Context, tx *sql.Tx) (id int64, err error) {
	var ok bool
	err = tx.QueryRowContext(ctx, "SELECT pg_try_advisory_xact_lock(1), max(id) FROM seats").Scan(&ok, &id) // want `ignoredtry`
	return id, err
}

func filtersUnread(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, "SELECT FROM pg_try_advisory_xact_lock(1) AS got WHERE got") // want `go on only if there is a row \(ignoredtry\)`
	return err
}

func mysql(ctx context.Context, conn *sql.Conn) error {
	_, err := conn.ExecContext(ctx, "SELECT GET_LOCK('seat', 3)") // want `GET_LOCK .* only if it is 1.*ignoredtry`
	return err
}

func mysqlDo(ctx context.Context, conn *sql.Conn) error {
	_, err := conn.ExecContext(ctx, "DO GET_LOCK('seat', 3)") // want `ignoredtry`
	return err
}

func applock(ctx context.Context, conn *sql.Conn) error {
	_, err := conn.ExecContext(ctx, "EXEC sp_getapplock @Resource = 'seat', @LockMode = 'Exclusive', @LockOwner = 'Session'") // want `negative .*ignoredtry`
	return err
}

func deferred(ctx context.Context, tx *sql.Tx) {
	defer tx.ExecContext(ctx, "SELECT pg_try_advisory_xact_lock(1)") // want `ignoredtry`
	tx.QueryRowContext(ctx, "SELECT pg_try_advisory_xact_lock(2)")   // want `ignoredtry`
}

// right.

func read(ctx context.Context, tx *sql.Tx) error {
	var ok bool
	if err := tx.QueryRowContext(ctx, "SELECT pg_try_advisory_xact_lock(1)").Scan(&ok); err != nil {
		return err
	}
	if !ok {
		return errTaken
	}
	return nil
}

func returned(ctx context.Context, tx pgx.Tx) (ok bool, err error) {
	err = tx.QueryRow(ctx, "SELECT pg_try_advisory_xact_lock(1)").Scan(&ok)
	return ok, err
}

func inClosure(ctx context.Context, tx pgx.Tx) error {
	var ok bool
	if err := func() error { return tx.QueryRow(ctx, "SELECT pg_try_advisory_xact_lock(1)").Scan(&ok) }(); err != nil {
		return err
	}
	if !ok {
		return errTaken
	}
	return nil
}

type seat struct{ taken bool }

func field(ctx context.Context, tx pgx.Tx, s *seat) error {
	return tx.QueryRow(ctx, "SELECT NOT pg_try_advisory_xact_lock(1)").Scan(&s.taken)
}

func pointer(ctx context.Context, tx pgx.Tx, ok *bool) error {
	return tx.QueryRow(ctx, "SELECT pg_try_advisory_xact_lock(1)").Scan(ok)
}

func rows(ctx context.Context, tx *sql.Tx) (all bool, err error) {
	rows, err := tx.QueryContext(ctx, "SELECT pg_try_advisory_xact_lock(id) FROM seats ORDER BY id")
	if err != nil {
		return false, err
	}
	defer rows.Close()
	all = true
	for rows.Next() {
		var ok bool
		if err := rows.Scan(&ok); err != nil {
			return false, err
		}
		all = all && ok
	}
	return all, rows.Err()
}

func collected(ctx context.Context, tx pgx.Tx) (bool, error) {
	rows, err := tx.Query(ctx, "SELECT pg_try_advisory_xact_lock(1)")
	if err != nil {
		return false, err
	}
	return pgx.CollectOneRow(rows, pgx.RowTo[bool])
}

func handedOn(ctx context.Context, tx *sql.Tx, scan func(*sql.Row) error) error {
	return scan(tx.QueryRowContext(ctx, "SELECT pg_try_advisory_xact_lock(1)"))
}

func returnedRow(ctx context.Context, tx *sql.Tx) *sql.Row {
	return tx.QueryRowContext(ctx, "SELECT pg_try_advisory_xact_lock(1)")
}

func filters(ctx context.Context, tx *sql.Tx) error {
	res, err := tx.ExecContext(ctx, "SELECT FROM pg_try_advisory_xact_lock(1) AS got WHERE got")
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, errTaken)
	}
	return nil
}

func filtersRow(ctx context.Context, tx *sql.Tx) error {
	var one int
	return tx.QueryRowContext(ctx, "SELECT 1 FROM pg_try_advisory_xact_lock(1) AS got WHERE got").Scan(&one)
}

func usedBySQL(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, "UPDATE seats SET taken = true WHERE id = 1 AND pg_try_advisory_xact_lock(1)")
	return err
}

func usedByBlock(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, "DO $$ BEGIN IF NOT pg_try_advisory_xact_lock(1) THEN RAISE 'taken'; END IF; END $$")
	return err
}

func shown(ctx context.Context, tx *sql.Tx) error {
	var ok bool
	err := tx.QueryRowContext(ctx, "SELECT pg_try_advisory_xact_lock(1)").Scan(&ok)
	log.Println("free:", ok)
	return err
}

func waits(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock(1)")
	return err
}

type returnStatus int32

func status(ctx context.Context, conn *sql.Conn) error {
	var status returnStatus
	_, err := conn.ExecContext(ctx, "EXEC sp_getapplock @Resource = 'seat', @LockMode = 'Exclusive', @LockOwner = 'Session'", &status)
	if status < 0 {
		return errTaken
	}
	return err
}

func rowInVariable(ctx context.Context, tx *sql.Tx) error {
	var row *sql.Row
	scan := func(dest ...any) error { return row.Scan(dest...) }
	row = tx.QueryRowContext(ctx, "SELECT pg_try_advisory_xact_lock(1)")
	var ok bool
	if err := scan(&ok); err != nil {
		return err
	}
	if !ok {
		return errTaken
	}
	return nil
}

func rowInLoop(ctx context.Context, tx *sql.Tx, n int) error {
	var row *sql.Row
	for range n {
		row = tx.QueryRowContext(ctx, "SELECT pg_try_advisory_xact_lock(1)") // want `ignoredtry`
	}
	var ok bool
	return row.Scan(&ok)
}

func collectedForNothing(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, "SELECT pg_try_advisory_xact_lock(1)") // want `ignoredtry`
	if err != nil {
		return err
	}
	_, err = pgx.CollectOneRow(rows, pgx.RowTo[bool])
	return err
}

func collectedAndReturned(ctx context.Context, tx pgx.Tx) (bool, error) {
	rows, err := tx.Query(ctx, "SELECT pg_try_advisory_xact_lock(1)")
	if err != nil {
		return false, err
	}
	return pgx.CollectOneRow(rows, pgx.RowTo[bool])
}
