package autocommit

import (
	"context"
	"database/sql"
	"log"

	"github.com/jackc/pgx/v5"
)

func (s *shop) inTransaction(ctx context.Context, article int64) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", article); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "UPDATE stock SET n = n - 1 WHERE article = $1", article); err != nil {
		return err
	}
	return tx.Commit()
}

func (s *shop) nested(ctx context.Context) error {
	tx, err := s.pool.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback(ctx)
	inner, err := tx.Begin(ctx)
	if err != nil {
		return err
	}
	if _, err := inner.Exec(ctx, "SELECT pg_advisory_xact_lock(1)"); err != nil {
		return err
	}
	if _, err := tx.Conn().Exec(ctx, "SELECT pg_advisory_xact_lock(2)"); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

func lockArticle(ctx context.Context, tx *sql.Tx, article int64) error {
	_, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", article)
	return err
}

// one text, one statement, one batch.

func (s *shop) oneText(ctx context.Context) error {
	_, err := s.db.ExecContext(ctx, "SELECT pg_advisory_xact_lock(1); UPDATE stock SET n = 0; UPDATE shelf SET n = 0")
	return err
}

func (s *shop) oneStatement(ctx context.Context) error {
	_, err := s.db.ExecContext(ctx, "WITH l AS MATERIALIZED (SELECT pg_advisory_xact_lock(1)) UPDATE stock SET n = 0 FROM l")
	return err
}

func (s *shop) doBlock(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, "DO $$ BEGIN PERFORM pg_advisory_xact_lock(1); PERFORM restock(); END $$")
	return err
}

func (s *shop) callsFunction(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, "SELECT pg_advisory_xact_lock(1), restock()")
	return err
}

func (s *shop) batch(ctx context.Context) error {
	b := new(pgx.Batch)
	b.Queue("SELECT pg_advisory_xact_lock(1)")
	b.Queue("CALL restock()")
	return s.pool.SendBatch(ctx, b).Close()
}

// a transaction begun by hand.

func (s *shop) byHand(ctx context.Context) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_xact_lock(1)"); err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, "COMMIT")
	return err
}

func onGivenConnection(ctx context.Context, conn *sql.Conn) error {
	_, err := conn.ExecContext(ctx, "SELECT pg_advisory_xact_lock(1)")
	return err
}

func besideItsTransaction(ctx context.Context, conn *pgx.Conn) error {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback(ctx)
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_xact_lock(1)"); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// questions.

func (s *shop) free(ctx context.Context) (free bool, err error) {
	err = s.pool.QueryRow(ctx, "SELECT pg_try_advisory_xact_lock(1)").Scan(&free)
	return free, err
}

func (s *shop) show(ctx context.Context) error {
	var free bool
	if err := s.pool.QueryRow(ctx, "SELECT pg_try_advisory_xact_lock(1)").Scan(&free); err != nil {
		return err
	}
	if !free {
		log.Print("somebody is in the shop")
	}
	return nil
}

type status struct{ free bool }

func (s *shop) store(ctx context.Context, st *status) error {
	return s.pool.QueryRow(ctx, "SELECT pg_try_advisory_xact_lock(1)").Scan(&st.free)
}

func (s *shop) barrier(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, "SELECT pg_advisory_xact_lock(1)") //advisorylint:ignore autocommit waits for the others to leave
	return err
}

//advisorylint:ignore autocommit waits for the others to leave
func (s *shop) barriers(ctx context.Context) error {
	if _, err := s.pool.Exec(ctx, "SELECT pg_advisory_xact_lock(1)"); err != nil {
		return err
	}
	_, err := s.pool.Exec(ctx, "SELECT pg_advisory_xact_lock(2)")
	return err
}

func besideBeginFunc(ctx context.Context, s *shop) error {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	return pgx.BeginFunc(ctx, conn, func(pgx.Tx) error {
		_, err := conn.Exec(ctx, "SELECT pg_advisory_xact_lock(1)")
		return err
	})
}

func begin(ctx context.Context, conn *sql.Conn) error {
	_, err := conn.ExecContext(ctx, "BEGIN ISOLATION LEVEL SERIALIZABLE")
	return err
}

func begunByHelper(ctx context.Context, s *shop) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := begin(ctx, conn); err != nil {
		return err
	}
	if err := lockOnConn(ctx, conn); err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, "COMMIT")
	return err
}

func lockOnConn(ctx context.Context, conn *sql.Conn) error {
	_, err := conn.ExecContext(ctx, "SELECT pg_advisory_xact_lock(1)")
	return err
}
