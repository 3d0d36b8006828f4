package poollock

import (
	"context"
	"database/sql"
	"errors"
	"log"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// pinned connections.

func pinned(ctx context.Context, db *sql.DB, work func(context.Context) error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, takeSQL, harvestKey); err != nil {
		return err
	}
	defer conn.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", harvestKey)
	return work(ctx)
}

// pools of one.

type single struct{ db *sql.DB }

func openSingle(dsn string) (*single, error) {
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return &single{db}, nil
}

func (s *single) lock(ctx context.Context) error {
	_, err := s.db.ExecContext(ctx, "SELECT pg_advisory_lock(1)")
	return err
}

func (s *single) unlock(ctx context.Context) error {
	_, err := s.db.ExecContext(ctx, "SELECT pg_advisory_unlock(1)")
	return err
}

type limited struct{ db *sql.DB }

func newLimited(db *sql.DB) *limited {
	db.SetMaxOpenConns(1)
	return &limited{db: db}
}

func (l *limited) lock(ctx context.Context) error {
	_, err := l.db.ExecContext(ctx, "SELECT pg_advisory_lock(1)")
	return err
}

func limitedLater(ctx context.Context, l *limited) error { return lockOn(ctx, l.db) }

func lockOn(ctx context.Context, db *sql.DB) error {
	_, err := db.ExecContext(ctx, "SELECT pg_advisory_lock(1)")
	return err
}

func singlePgx(ctx context.Context, dsn string) error {
	cfg, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return err
	}
	cfg.MaxConns = 1
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return err
	}
	_, err = pool.Exec(ctx, "SELECT pg_advisory_lock(1)")
	return err
}

func singleDSN(ctx context.Context) error {
	pool, err := pgxpool.New(ctx, "postgres://localhost/?pool_max_conns=1")
	if err != nil {
		return err
	}
	_, err = pool.Exec(ctx, "SELECT pg_advisory_lock(1)")
	return err
}

// a database that is opened for the lock, and closed with it.
func dedicated(ctx context.Context, dsn string, work func() error) error {
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil {
		return err
	}
	return work()
}

// transactions under misleading names.

func shadow(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := func(db execer) error {
		_, err := db.ExecContext(ctx, "SELECT pg_advisory_xact_lock(1)")
		return err
	}(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// an interface that nothing pins down.

type keeper struct{ pool execer }

func (k *keeper) lock(ctx context.Context) error {
	_, err := k.pool.ExecContext(ctx, "SELECT pg_advisory_lock(1)")
	return err
}

func onParameter(ctx context.Context, db execer) error {
	_, err := db.ExecContext(ctx, "SELECT pg_advisory_lock(1)")
	return err
}

// either of two: the flow of values does not tell which.
func either(ctx context.Context, db *sql.DB, conn *sql.Conn) error {
	var h execer = db
	if conn != nil {
		h = conn
	}
	_, err := h.ExecContext(ctx, "SELECT pg_advisory_lock(1)")
	return err
}

// both in one text: one session does it all.
func inOneText(ctx context.Context, db *sql.DB) error {
	_, err := db.ExecContext(ctx, "SELECT pg_advisory_lock(1); CALL harvest(); SELECT pg_advisory_unlock(1)")
	return err
}

// hooks of the pool, on each of its connections.
func hooks(cfg *pgxpool.Config) {
	cfg.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "SELECT pg_advisory_lock_shared(5)")
		return err
	}
	cfg.BeforeAcquire = func(ctx context.Context, conn *pgx.Conn) bool {
		_, err := conn.Exec(ctx, "SELECT pg_advisory_lock_shared(6)")
		return err == nil
	}
	cfg.AfterRelease = func(conn *pgx.Conn) bool {
		_, err := conn.Exec(context.Background(), "SELECT pg_advisory_unlock_all()")
		return err == nil
	}
}

// texts that are not run.

var errWaiting = errors.New("SELECT pg_advisory_lock(1) is waiting")

var functions = []string{"pg_advisory_lock", "pg_advisory_unlock"}

func texts(ctx context.Context, db *sql.DB) error {
	log.Print("SELECT pg_advisory_lock(1)")
	if _, err := db.ExecContext(ctx, "COMMENT ON TABLE trees IS 'use SELECT pg_advisory_lock(1)'"); err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx, "INSERT INTO help VALUES ($1)", "SELECT pg_advisory_lock(1)"); err != nil {
		return err
	}
	for _, f := range functions {
		if _, err := db.ExecContext(ctx, "SELECT has_function_privilege($1, 'execute')", f); err != nil {
			return err
		}
	}
	_, err := db.ExecContext(ctx, "SELECT 1 -- pg_advisory_lock(1)")
	return err
}

// not a handle, though it looks like one.
type recorder struct{ texts []string }

func (r *recorder) ExecContext(_ context.Context, q string, _ ...any) (sql.Result, error) {
	r.texts = append(r.texts, q)
	return nil, nil
}

func recorded(ctx context.Context) error {
	r := &recorder{}
	_, err := r.ExecContext(ctx, "SELECT pg_advisory_lock(1)")
	return err
}
