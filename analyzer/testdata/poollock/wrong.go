// Package poollock has session-level locks on pools, and beside them locks
// that look alike and are right.
package poollock

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const harvestKey = 91

const (
	lockPrefix = "pg_advisory_"
	takeSQL    = `
		-- one at a time
		select ` + lockPrefix + `lock($1) /* waits */`
)

var tryStatement = "SELECT pg_catalog.pg_try_advisory_lock(" + fmt.Sprint(harvestKey) + ")"

type orchard struct {
	db    *sql.DB
	pool  *pgxpool.Pool
	query string
}

func newOrchard(db *sql.DB, pool *pgxpool.Pool) *orchard {
	return &orchard{db: db, pool: pool, query: takeSQL}
}

func (o *orchard) literal(ctx context.Context) error {
	_, err := o.db.ExecContext(ctx, "SELECT pg_advisory_lock(7)") // want `pg_advisory_lock on the pool o.db locks a session that goes back .* \(poollock\)$`
	return err
}

func (o *orchard) constant(ctx context.Context) error {
	_, err := o.pool.Exec(ctx, takeSQL, harvestKey) // want `on the pool o.pool .*o.pool.Acquire.*poollock`
	return err
}

func (o *orchard) field(ctx context.Context) error {
	_, err := o.db.ExecContext(ctx, o.query, 3) // want `poollock`
	return err
}

func (o *orchard) variable(ctx context.Context) (ok bool, err error) {
	err = o.db.QueryRowContext(ctx, tryStatement).Scan(&ok) // want `poollock`
	return ok, err
}

func (o *orchard) formatted(ctx context.Context, shared bool) error {
	fn := "pg_advisory_lock"
	if shared {
		fn = "pg_advisory_lock_shared"
	}
	_, err := o.db.ExecContext(ctx, fmt.Sprintf("SELECT %s(%d, $1)", fn, harvestKey), 4) // want `poollock`
	return err
}

func (o *orchard) built(ctx context.Context) error {
	var b strings.Builder
	b.WriteString("SELECT ")
	b.WriteString("pg_advisory_lock")
	fmt.Fprintf(&b, "(%d)", harvestKey)
	_, err := o.db.ExecContext(ctx, b.String()) // want `poollock`
	return err
}

func (o *orchard) joined(ctx context.Context) error {
	_, err := o.db.ExecContext(ctx, strings.Join([]string{"SELECT", "pg_advisory_lock(1)"}, " ")) // want `poollock`
	return err
}

func (o *orchard) ranged(ctx context.Context) error {
	for _, q := range []string{"SELECT 1", "SELECT pg_advisory_lock(1)"} {
		if _, err := o.db.ExecContext(ctx, q); err != nil { // want `poollock`
			return err
		}
	}
	return nil
}

func (o *orchard) cte(ctx context.Context) error {
	_, err := o.db.ExecContext(ctx, "WITH l AS MATERIALIZED (SELECT pg_advisory_lock(1)) SELECT * FROM l") // want `poollock`
	return err
}

// embedded handles and other names for the type.

type store struct{ *sql.DB }

type database = sql.DB

type named struct{ h *database }

func (s store) lock(ctx context.Context) error {
	_, err := s.ExecContext(ctx, "SELECT pg_advisory_lock(1)") // want `on the pool s locks.*poollock`
	return err
}

func (n named) lock(ctx context.Context) error {
	_, err := n.h.ExecContext(ctx, "SELECT pg_advisory_lock(1)") // want `poollock`
	return err
}

var global *sql.DB

func onGlobal(ctx context.Context) error {
	_, err := global.ExecContext(ctx, "SELECT pg_advisory_lock(1)") // want `on the pool global .*poollock`
	return err
}

// prepared statements.

func preparedOnPool(ctx context.Context, db *sql.DB) error {
	stmt, err := db.PrepareContext(ctx, "SELECT pg_advisory_lock($1)")
	if err != nil {
		return err
	}
	defer stmt.Close()
	_, err = stmt.ExecContext(ctx, 1) // want `poollock`
	return err
}

type prepared struct{ lock *sql.Stmt }

func prepare(db *sql.DB) (p prepared, err error) {
	p.lock, err = db.Prepare("SELECT pg_advisory_lock($1)")
	return p, err
}

func (p prepared) take(ctx context.Context) error {
	_, err := p.lock.ExecContext(ctx, 1) // want `on the pool p.lock .*poollock`
	return err
}

// method values, method expressions, closures and generics.

func methodValue(ctx context.Context, db *sql.DB) error {
	exec := db.ExecContext
	_, err := exec(ctx, "SELECT pg_advisory_lock(1)") // want `poollock`
	return err
}

func methodExpression(ctx context.Context, db *sql.DB) error {
	_, err := (*sql.DB).ExecContext(db, ctx, "SELECT pg_advisory_lock(1)") // want `poollock`
	return err
}

func inClosure(ctx context.Context, db *sql.DB) func() error {
	return func() error {
		_, err := db.ExecContext(ctx, "SELECT pg_advisory_lock(1)") // want `poollock`
		return err
	}
}

type execer interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}

func generic[H execer](ctx context.Context, h H) error {
	_, err := h.ExecContext(ctx, "SELECT pg_advisory_lock(1)")
	return err
}

func callsGeneric(ctx context.Context, db *sql.DB, conn *sql.Conn) error {
	if err := generic(ctx, db); err != nil { // want `pg_advisory_lock, run by generic, on the pool db .*poollock`
		return err
	}
	return generic[*sql.Conn](ctx, conn)
}

// helpers: the call that hands the handle, or the text, in.

func lock(ctx context.Context, h execer, key int64) error {
	_, err := h.ExecContext(ctx, "SELECT pg_advisory_lock($1)", key)
	return err
}

func twice(ctx context.Context, h execer) error { return lock(ctx, h, 2) }

func callsHelpers(ctx context.Context, db *sql.DB, conn *sql.Conn) error {
	if err := lock(ctx, db, 1); err != nil { // want `run by lock, on the pool db .*poollock`
		return err
	}
	if err := lock(ctx, conn, 1); err != nil {
		return err
	}
	if err := twice(ctx, conn); err != nil {
		return err
	}
	return twice(ctx, db) // want `run by twice, on the pool db .*poollock`
}

func (o *orchard) exec(ctx context.Context, query string, args ...any) error {
	_, err := o.db.ExecContext(ctx, query, args...)
	return err
}

func (o *orchard) callsExec(ctx context.Context) error {
	if err := o.exec(ctx, "SELECT 1"); err != nil {
		return err
	}
	return o.exec(ctx, "SELECT pg_advisory_lock($1)", 4) // want `run by exec, on a pool .*poollock`
}

// an interface that only ever holds a pool.

type repo struct{ h execer }

func newRepo(db *sql.DB) *repo { return &repo{h: db} }

func (r *repo) take(ctx context.Context) error {
	_, err := r.h.ExecContext(ctx, "SELECT pg_advisory_lock(1)") // want `on the pool r.h .*poollock`
	return err
}

func callsRepo(ctx context.Context, db *sql.DB) error {
	return newRepo(db).take(ctx)
}

func local(ctx context.Context, db *sql.DB) error {
	var h execer = db
	_, err := h.ExecContext(ctx, "SELECT pg_advisory_lock(1)") // want `on the pool h .*poollock`
	return err
}

func pgxRows(ctx context.Context, pool *pgxpool.Pool) error {
	rows, err := pool.Query(ctx, "SELECT pg_advisory_lock(1)") // want `poollock`
	if err != nil {
		return err
	}
	rows.Close()
	return rows.Err()
}

func otherServers(ctx context.Context, db *sql.DB) error {
	var got int
	if err := db.QueryRowContext(ctx, "SELECT GET_LOCK('harvest', 10)").Scan(&got); err != nil || got != 1 { // want `GET_LOCK on the pool db .*poollock`
		return err
	}
	_, err := db.ExecContext(ctx, "BEGIN :r := DBMS_LOCK.REQUEST(:1, 6, 0, FALSE); END;") // want `DBMS_LOCK.REQUEST on the pool .*poollock`
	return err
}

func batch(ctx context.Context, pool *pgxpool.Pool) error {
	b := &pgx.Batch{}
	b.Queue("SELECT pg_advisory_lock(1)")
	b.Queue("SELECT 1")
	return pool.SendBatch(ctx, b).Close() // want `poollock`
}

func deferred(ctx context.Context, db *sql.DB) {
	defer db.ExecContext(ctx, "SELECT pg_advisory_lock(1)") // want `poollock`
	go db.ExecContext(ctx, "SELECT pg_advisory_lock(2)")    // want `poollock`
}

func multiline(ctx context.Context, pool *pgxpool.Pool) (ok bool, err error) {
	err = pool.
		QueryRow(ctx, "SELECT pg_try_advisory_lock(1)"). // want `poollock`
		Scan(&ok)
	return ok, err
}

func replaced(ctx context.Context, db *sql.DB, table string) error {
	const template = "SELECT pg_FN('TABLE'::regclass::oid::bigint)"
	text := strings.ReplaceAll(template, "FN", "advisory_lock")
	text = strings.NewReplacer("TABLE", table).Replace(text)
	_, err := db.ExecContext(ctx, strings.TrimSpace(text)) // want `poollock`
	return err
}

func quoted(ctx context.Context, db *sql.DB, name string) error {
	_, err := db.ExecContext(ctx, fmt.Sprintf("SELECT %[2]q.%[1]s(%[3]d)", "pg_advisory_lock", "pg_catalog", harvestKey)) // want `poollock`
	return err
}

func printed(ctx context.Context, db *sql.DB) error {
	_, err := db.ExecContext(ctx, fmt.Sprint("SELECT ", "pg_advisory_lock", "(", harvestKey, ")")) // want `poollock`
	return err
}

func throughPointer(ctx context.Context, db *sql.DB) error {
	p := &db
	q := &p
	return onPointer(ctx, *q)
}

func onPointer(ctx context.Context, p **sql.DB) error {
	_, err := (*p).ExecContext(ctx, "SELECT pg_advisory_lock(1)") // want `poollock`
	return err
}
