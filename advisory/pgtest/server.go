package pgtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
)

// ErrExternal is the error of everything that needs a server of pgtest's own
// when ADVISORY_TEST_DSN names a running one: restarting, killing, standbys,
// settings. Tests skip on it: see [Server.SkipIfExternal].
var ErrExternal = errors.New("pgtest: ADVISORY_TEST_DSN is set, and this needs a server of its own; unset it to run this")

// A Server is a PostgreSQL server for tests. It is safe for concurrent use.
type Server struct {
	dsn      string
	external bool

	mu       sync.Mutex // guards what follows, and is held while the server changes state
	closed   bool
	standby  bool
	bin      string // where postgres and initdb are
	home     *home
	config   config
	port     int
	process  *process  // nil while the server is down
	standbys []*Server // closed before this one
}

// New starts a server, or uses the one that ADVISORY_TEST_DSN names. ctx bounds the
// start only. The caller must Close the server.
//
// With ADVISORY_TEST_DSN and any option it returns [ErrExternal], because the
// settings of a running server are not touched. The error for a server which does
// not start holds the server's log.
func New(ctx context.Context, opts ...Option) (*Server, error) {
	c, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	if dsn := os.Getenv("ADVISORY_TEST_DSN"); dsn != "" {
		if len(opts) > 0 {
			return nil, ErrExternal
		}
		return newExternal(ctx, dsn)
	}

	home, err := newHome()
	if err != nil {
		return nil, err
	}
	s := &Server{home: home, config: c}
	if err := s.create(ctx); err != nil {
		return nil, errors.Join(err, home.close())
	}
	return s, nil
}

// Start is [New] for a test or benchmark: the server is closed when tb ends. It
// fails tb if the server does not start, and skips it on [ErrExternal].
func Start(tb testing.TB, opts ...Option) *Server {
	tb.Helper()
	s, err := New(tb.Context(), opts...)
	if errors.Is(err, ErrExternal) {
		tb.Skip(err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

func newExternal(ctx context.Context, dsn string) (*Server, error) {
	s := &Server{dsn: dsn, external: true}
	err := s.with(ctx, func(conn *sql.Conn) error { return conn.PingContext(ctx) })
	if err != nil {
		return nil, fmt.Errorf("pgtest: the server of ADVISORY_TEST_DSN cannot be used: %w", err)
	}
	return s, nil
}

// create makes a new data directory and starts the server on it.
func (s *Server) create(ctx context.Context) (err error) {
	if s.bin, err = findBinaries(ctx, s.home); err != nil {
		return err
	}
	if err := s.home.initdb(ctx, s.bin); err != nil {
		return err
	}
	if err := s.home.appendFile("data/postgresql.conf", s.config.conf()); err != nil {
		return err
	}
	return s.startOnFreePort(ctx)
}

// portTries bounds how often a port that was taken between the choice and the
// start is replaced by another.
const portTries = 10

func (s *Server) startOnFreePort(ctx context.Context) error {
	var err error
	for range portTries {
		if s.port, err = freePort(); err != nil {
			return err
		}
		s.process, err = s.home.startPostgres(ctx, s.bin, s.port)
		if err == nil {
			s.dsn = s.url("postgres")
			return nil
		}
		if !errors.Is(err, errPortTaken) {
			return err
		}
	}
	return err
}

func (s *Server) url(database string) string {
	u := url.URL{
		Scheme:   "postgres",
		User:     url.User("postgres"),
		Host:     "127.0.0.1:" + strconv.Itoa(s.port),
		Path:     "/" + database,
		RawQuery: "sslmode=disable",
	}
	return u.String()
}

// DSN returns the connection string of the server's superuser and default
// database, which both drivers accept. A server of pgtest's own gives a URL, the same
// over restarts; otherwise it is ADVISORY_TEST_DSN.
func (s *Server) DSN() string { return s.dsn }

// SkipIfExternal skips tb if the server is the one of ADVISORY_TEST_DSN, which
// cannot be restarted, killed or replicated.
func (s *Server) SkipIfExternal(tb testing.TB) {
	tb.Helper()
	if s.external {
		tb.Skip(ErrExternal)
	}
}

// Close stops the server and its standbys at once and removes their directories.
// Sessions that are still open are cut off. It does nothing to the server of
// ADVISORY_TEST_DSN, and nothing when called again.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.external {
		return nil
	}
	s.closed = true

	var errs []error
	for _, standby := range slices.Backward(s.standbys) {
		errs = append(errs, standby.Close())
	}
	errs = append(errs, s.home.close())
	if s.process != nil {
		s.process.reap()
		s.process = nil
	}
	return errors.Join(errs...)
}

// with runs fn on a connection of its own, which is gone when with returns.
func (s *Server) with(ctx context.Context, fn func(*sql.Conn) error) error {
	db, err := sql.Open("pgx", s.dsn)
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
