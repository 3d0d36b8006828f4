package pgtest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "github.com/lib/pq"              // the driver "postgres"
)

// Drivers holds the names of the database/sql drivers that importing this package
// registers: pgx/v5/stdlib and lib/pq. Tests of code that must work on both
// range over it.
var Drivers = []string{"pgx", "postgres"}

// Open opens a pool on the server's default database with one of [Drivers], and
// closes it when tb ends. Like [sql.Open] it does not connect yet. It fails tb on
// another driver's name.
func (s *Server) Open(tb testing.TB, driver string) *sql.DB {
	tb.Helper()
	return open(tb, driver, s.dsn)
}

func open(tb testing.TB, driver, dsn string) *sql.DB {
	tb.Helper()
	if !slices.Contains(Drivers, driver) {
		tb.Fatalf("pgtest: no driver %q: use one of %q", driver, Drivers)
	}
	db, err := sql.Open(driver, dsn)
	if err != nil {
		tb.Fatalf("pgtest: %v", err)
	}
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Errorf("pgtest: closing the pool: %v", err)
		}
	})
	return db
}

// A Database is an empty database on a [Server].
type Database struct {
	name, dsn string
}

// Database creates an empty database and drops it when tb ends, with whatever
// sessions are still in it. Tests with databases of their own can share a server and
// run in parallel: advisory locks are per database. What belongs to the whole server
// (the lock table, roles, max_connections) is still shared.
func (s *Server) Database(tb testing.TB) *Database {
	tb.Helper()
	name := "pgtest_" + strings.ToLower(rand.Text()[:16])
	// template1 cannot be copied while a session is in it; nobody can be in template0.
	if err := s.exec(tb.Context(), "CREATE DATABASE "+name+" TEMPLATE template0"); err != nil {
		tb.Fatalf("pgtest: creating a database: %v", err)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		err := s.exec(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
		// On a server of our own, which the test may have killed, nothing is left
		// behind in any case.
		if err != nil && s.own == nil {
			tb.Errorf("pgtest: dropping the database %s: %v", name, err)
		}
	})
	return &Database{name: name, dsn: withDatabase(s.dsn, name)}
}

// Name returns the database's name.
func (d *Database) Name() string { return d.name }

// DSN is [Server.DSN] for this database.
func (d *Database) DSN() string { return d.dsn }

// Open is [Server.Open] for this database.
func (d *Database) Open(tb testing.TB, driver string) *sql.DB {
	tb.Helper()
	return open(tb, driver, d.dsn)
}

// withDatabase names another database in a DSN of either form: a URL, or
// key=value pairs, of which the last counts.
func withDatabase(dsn, name string) string {
	u, err := url.Parse(dsn)
	if err != nil || !strings.HasPrefix(u.Scheme, "postgres") {
		return dsn + " dbname=" + name
	}
	u.Path, u.RawPath = "/"+name, ""
	q := u.Query()
	for _, key := range []string{"dbname", "database"} {
		q.Del(key)
	}
	u.RawQuery = q.Encode()
	return u.String()
}

func (s *Server) exec(ctx context.Context, query string) error {
	return withConn(ctx, s.dsn, func(conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, query)
		return err
	})
}

// withConn runs fn on a connection of its own, which is gone when withConn returns.
func withConn(ctx context.Context, dsn string, fn func(*sql.Conn) error) error {
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return fn(conn)
}
