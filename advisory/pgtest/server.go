package pgtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"testing"
)

// ErrExternal is the error of everything that needs a server of pgtest's own
// when ADVISORY_TEST_DSN names a running one: settings, standbys, restarting,
// killing. Tests skip on it: see [Server.SkipIfExternal].
var ErrExternal = errors.New("pgtest: this needs a server of its own, and ADVISORY_TEST_DSN names a running one: unset it")

// A Server is a PostgreSQL server for tests. It is safe for concurrent use.
type Server struct {
	dsn string
	own *instance // nil: the server of ADVISORY_TEST_DSN
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
	own, err := newInstance(ctx, c)
	if err != nil {
		return nil, err
	}
	return &Server{dsn: own.url(), own: own}, nil
}

func newExternal(ctx context.Context, dsn string) (*Server, error) {
	err := withConn(ctx, dsn, func(conn *sql.Conn) error { return conn.PingContext(ctx) })
	if err != nil {
		return nil, fmt.Errorf("pgtest: the server of ADVISORY_TEST_DSN cannot be used: %w", err)
	}
	return &Server{dsn: dsn}, nil
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
	s.closeAfter(tb)
	return s
}

func (s *Server) closeAfter(tb testing.TB) {
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
}

// Close stops the server and its standbys at once and removes their directories.
// Sessions that are still open are cut off. It does nothing to the server of
// ADVISORY_TEST_DSN, and nothing when called again.
func (s *Server) Close() error {
	if s.own == nil {
		return nil
	}
	return s.own.close()
}

// DSN returns the connection string of the server's superuser and default
// database, which both drivers accept: a URL, the same over restarts, or the value of
// ADVISORY_TEST_DSN as it is.
func (s *Server) DSN() string { return s.dsn }

// SkipIfExternal skips tb if the server is the one of ADVISORY_TEST_DSN, which
// cannot be restarted, killed or replicated.
func (s *Server) SkipIfExternal(tb testing.TB) {
	tb.Helper()
	if s.own == nil {
		tb.Skip(ErrExternal)
	}
}

// Restart stops the server in good order, as "pg_ctl restart" does, and starts it
// again on the same address, or just starts it if it is down after [Server.Kill]. Open
// sessions are ended with SQLSTATE 57P01. It returns when the server takes
// connections again. When ctx ends first, the server may be up or down, and
// another Restart goes on from there.
func (s *Server) Restart(ctx context.Context) error {
	if s.own == nil {
		return ErrExternal
	}
	return s.own.restart(ctx)
}

// Kill kills every process of the server with SIGKILL, as a crash would, and returns when
// all are gone. The server is then down until [Server.Restart], which recovers what was
// committed. Killing a server that is down does nothing.
func (s *Server) Kill(ctx context.Context) error {
	if s.own == nil {
		return ErrExternal
	}
	return s.own.kill(ctx)
}

// Standby makes a streaming replica of the server, with the same settings and an
// address of its own, and returns when it takes (read-only) connections and has all
// that was committed before the call. The caller may Close it; closing the
// primary closes it as well. The primary must be up.
func (s *Server) Standby(ctx context.Context) (*Server, error) {
	if s.own == nil {
		return nil, ErrExternal
	}
	own, err := s.own.newStandby(ctx)
	if err != nil {
		return nil, err
	}
	return &Server{dsn: own.url(), own: own}, nil
}

// StartStandby is [Server.Standby] for a test or benchmark: the standby is closed
// when tb ends. It fails tb if the standby does not start, and skips it if the
// server is external.
func (s *Server) StartStandby(tb testing.TB) *Server {
	tb.Helper()
	s.SkipIfExternal(tb)
	standby, err := s.Standby(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	standby.closeAfter(tb)
	return standby
}

// Promote turns a standby into a primary, and returns when it takes writes. Its sessions
// go on. The former primary is left alone and must be killed first where
// two primaries at once would matter.
func (s *Server) Promote(ctx context.Context) error {
	if s.own == nil {
		return ErrExternal
	}
	return s.own.promote(ctx)
}
