package demo

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"time"
)

// A lockRow is one row of pg_locks, with what pg_stat_activity knows of its
// session.
type lockRow struct {
	program string
	pid     int
	state   string
	key     int64
	granted bool
}

// lockQuery shows the advisory locks in this database whose keys are a bigint
// (objsubid 1), which pg_locks shows in two halves.
const lockQuery = `
SELECT a.application_name, l.pid, coalesce(a.state, ''), (l.classid::bigint << 32) | l.objid::bigint, l.granted
FROM pg_locks l JOIN pg_stat_activity a USING (pid)
WHERE l.locktype = 'advisory' AND l.objsubid = 1
  AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
ORDER BY l.granted DESC, l.pid`

// locks reads which sessions hold advisory locks and which wait for one.
func (s *stage) locks(ctx context.Context) ([]lockRow, error) {
	rows, err := s.observer.QueryContext(ctx, lockQuery)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []lockRow
	for rows.Next() {
		var r lockRow
		if err := rows.Scan(&r.program, &r.pid, &r.state, &r.key, &r.granted); err != nil {
			return nil, err
		}
		found = append(found, r)
	}
	return found, rows.Err()
}

// holder returns the session that holds the one lock which is held.
func (s *stage) holder(ctx context.Context) (pid int, err error) {
	rows, err := s.locks(ctx)
	if err != nil {
		return 0, err
	}
	if len(rows) != 1 || !rows[0].granted {
		return 0, fmt.Errorf("expected one lock to be held, pg_locks has %v", rows)
	}
	return rows[0].pid, nil
}

// await reads pg_locks until want is satisfied, or for so long as patience lasts,
// and returns what it read last.
func (s *stage) await(ctx context.Context, patience time.Duration, want func([]lockRow) bool) ([]lockRow, error) {
	for end := time.Now().Add(patience); ; {
		rows, err := s.locks(ctx)
		if err != nil || want(rows) || time.Now().After(end) {
			return rows, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// locks writes rows of pg_locks as a table.
func (p *page) locks(rows []lockRow) {
	var cells [][]string
	for _, r := range rows {
		cells = append(cells, []string{r.program, strconv.Itoa(r.pid), r.state, strconv.FormatInt(r.key, 10), strconv.FormatBool(r.granted)})
	}
	p.table([]string{"PROGRAM", "PID", "STATE", "KEY", "GRANTED"}, cells)
}

// sessionOf asks a connection for the process that serves it.
func sessionOf(ctx context.Context, conn *sql.Conn) (pid int, err error) {
	err = conn.QueryRowContext(ctx, "SELECT pg_backend_pid()").Scan(&pid)
	return pid, err
}
