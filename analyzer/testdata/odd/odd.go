// Package odd has code of unusual shape.
package odd

import (
	"context"
	"database/sql"
	"iter"
	"slices"
)

// generics.

type handle interface{ *sql.DB | *sql.Conn | *sql.Tx }

type box[T any] struct {
	db    *sql.DB
	inner T
}

func (b *box[T]) lock(ctx context.Context) error {
	_, err := b.db.ExecContext(ctx, "SELECT pg_advisory_lock(1)") // want `poollock`
	return err
}

func newBox[T any](db *sql.DB, inner T) *box[T] { return &box[T]{db: db, inner: inner} }

func boxes(ctx context.Context, db *sql.DB) error {
	b := newBox(db, 1)
	if err := b.lock(ctx); err != nil {
		return err
	}
	return newBox(db, "").lock(ctx)
}

type runner interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}

type holder[R runner] struct{ r R }

func (h holder[R]) lock(ctx context.Context) error {
	_, err := h.r.ExecContext(ctx, "SELECT pg_advisory_lock(1)")
	return err
}

func holders(ctx context.Context, db *sql.DB, conn *sql.Conn) error {
	if err := (holder[*sql.DB]{db}).lock(ctx); err != nil { // want `poollock`
		return err
	}
	return holder[*sql.Conn]{conn}.lock(ctx)
}

func first[H handle](h H) H { return h }

func throughGeneric(ctx context.Context, db *sql.DB) error {
	_, err := first(db).ExecContext(ctx, "SELECT pg_advisory_lock(1)") // want `poollock`
	return err
}

// functions that call themselves and each other.

func around(ctx context.Context, r runner, n int) error {
	if n == 0 {
		_, err := r.ExecContext(ctx, "SELECT pg_advisory_lock(1)")
		return err
	}
	return back(ctx, r, n-1)
}

func back(ctx context.Context, r runner, n int) error { return around(ctx, r, n) }

func callsAround(ctx context.Context, db *sql.DB) error {
	return around(ctx, db, 3) // want `poollock`
}

type chain struct {
	next *chain
	db   *sql.DB
}

func (c *chain) last() *chain {
	for c.next != nil {
		c = c.next
	}
	return c
}

func (c *chain) lock(ctx context.Context) error {
	_, err := c.last().db.ExecContext(ctx, "SELECT pg_advisory_lock(1)") // want `poollock`
	return err
}

func grow(text string, n int) string {
	for range n {
		text = text + "("
		text = grow(text, n-1) + ")"
	}
	return text
}

func grown(ctx context.Context, db *sql.DB) error {
	_, err := db.ExecContext(ctx, grow("SELECT pg_advisory_lock", 2))
	return err
}

// iterators.

func keys() iter.Seq[int64] { return slices.Values([]int64{1, 2, 3}) }

func overFunc(ctx context.Context, db *sql.DB, dig func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	for key := range keys() {
		if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock($1)", key); err != nil {
			return err
		}
		defer conn.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", key)
	}
	return dig()
}

// gotos, labels, and code that is never run.

func jumps(ctx context.Context, db *sql.DB, dig func() error) (err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err = conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil { // want `lostunlock`
		goto out
	}
	if err = dig(); err != nil {
		goto out
	}
	_, err = conn.ExecContext(ctx, "SELECT pg_advisory_unlock(1)")
out:
	return err
}

func never(ctx context.Context, db *sql.DB) error {
	return nil
	_, err := db.ExecContext(ctx, "SELECT pg_advisory_lock(1)")
	return err
}

// package-level closures, and values that are computed at start.

var lockAll = func(ctx context.Context, db *sql.DB) error {
	_, err := db.ExecContext(ctx, statements["lock"]) // want `poollock`
	return err
}

var statements = map[string]string{
	"lock": "SELECT pg_advisory_lock(1)",
}

var started = func() error {
	return lockAll(context.Background(), nil)
}()

func init() {
	_ = started
}

// nothing but nil.
func onNil(ctx context.Context) error {
	var db *sql.DB
	_, err := db.ExecContext(ctx, "SELECT pg_advisory_lock(1)")
	return err
}

func _(ctx context.Context, db *sql.DB) {
	db.ExecContext(ctx, "SELECT pg_advisory_lock(1)") // want `poollock`
}

type recursive func(recursive) *sql.DB

func selfApplied(ctx context.Context, r recursive) {
	r(r).ExecContext(ctx, "SELECT pg_advisory_lock(1)") // want `poollock`
}

type pointer **sql.DB

func deep(ctx context.Context, p pointer) {
	(*(*p)).ExecContext(ctx, "SELECT pg_advisory_lock(1)") // want `poollock`
}

func array(ctx context.Context, dbs [3]*sql.DB, m map[string]*sql.DB, c chan *sql.DB) {
	dbs[1].ExecContext(ctx, "SELECT pg_advisory_lock(1)") // want `poollock`
	m["a"].ExecContext(ctx, "SELECT pg_advisory_lock(1)") // want `poollock`
	(<-c).ExecContext(ctx, "SELECT pg_advisory_lock(1)")  // want `poollock`
	for _, db := range dbs {
		db.ExecContext(ctx, "SELECT pg_advisory_lock(1)") // want `poollock`
	}
}

func asserted(ctx context.Context, v any) {
	if db, ok := v.(*sql.DB); ok {
		db.ExecContext(ctx, "SELECT pg_advisory_lock(1)") // want `poollock`
	}
	switch h := v.(type) {
	case *sql.DB:
		h.ExecContext(ctx, "SELECT pg_advisory_lock(1)") // want `poollock`
	case *sql.Conn:
		h.ExecContext(ctx, "SELECT pg_advisory_lock(1)")
	case runner:
		h.ExecContext(ctx, "SELECT pg_advisory_lock(1)")
	}
}

func tryOnNil(ctx context.Context) {
	(*sql.DB)(nil).ExecContext(ctx, "SELECT pg_try_advisory_lock(1)")                  // want `ignoredtry`
	func() *sql.DB { return nil }().ExecContext(ctx, "SELECT pg_try_advisory_lock(1)") // want `ignoredtry`
}
