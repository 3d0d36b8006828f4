package demo

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/pgadvisory/pgadvisory/advisory/pgtest"
)

// A stage is the server that the demo plays on, with a database of the demo's
// own: advisory locks are per database, so on somebody else's server the demo meets
// no lock but its own.
type stage struct {
	server   *pgtest.Server
	admin    *sql.DB // on the server's default database
	database string  // empty as long as it cannot be there
	config   *pgx.ConnConfig
	observer *sql.DB // looks at the locks of the others
	version  string
}

// serverLimit is how long what must not be interrupted may take.
const serverLimit = 30 * time.Second

// external reports whether package pgtest uses a running server.
func external() bool { return os.Getenv("ADVISORY_TEST_DSN") != "" }

// prepare makes the database.
func (s *stage) prepare(ctx context.Context) (err error) {
	if s.config, err = pgx.ParseConfig(s.server.DSN()); err != nil {
		return err
	}
	s.admin = s.open("advisory demo")
	if err := s.admin.QueryRowContext(ctx, "SELECT split_part(current_setting('server_version'), ' ', 1)").Scan(&s.version); err != nil {
		return err
	}
	s.database = "advisory_demo_" + strings.ToLower(rand.Text()[:16]) // needs no quotes
	// If ctx could end the statement, the server might still complete it, after the
	// database has been dropped in vain.
	whole, cancel := context.WithTimeout(context.WithoutCancel(ctx), serverLimit)
	defer cancel()
	// template1 cannot be copied while a session is in it; nobody can be in template0.
	if _, err := s.admin.ExecContext(whole, "CREATE DATABASE "+s.database+" TEMPLATE template0"); err != nil {
		return fmt.Errorf("creating a database for the demo: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.config.Database = s.database
	s.observer = s.open("advisory demo")
	return nil
}

// close removes the database and the server, also when ctx has ended.
func (s *stage) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), serverLimit)
	defer cancel()
	var errs []error
	if s.observer != nil {
		errs = append(errs, s.observer.Close())
	}
	if s.database != "" {
		if _, err := s.admin.ExecContext(ctx, "DROP DATABASE IF EXISTS "+s.database+" WITH (FORCE)"); err != nil {
			errs = append(errs, fmt.Errorf("dropping the demo's database %s: %w", s.database, err))
		}
	}
	if s.admin != nil {
		errs = append(errs, s.admin.Close())
	}
	return errors.Join(append(errs, s.server.Close())...)
}

// connect opens a pool, and a first connection in it, so that times do not include
// that. The server knows its sessions by the program's name. The caller must close
// it.
func (s *stage) connect(ctx context.Context, program string) (*sql.DB, error) {
	db := s.open(program)
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func (s *stage) open(program string) *sql.DB {
	config := s.config.Copy()
	config.RuntimeParams["application_name"] = program
	return stdlib.OpenDB(*config)
}
