//go:build unix

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
	"syscall"
)

var (
	errClosed = errors.New("pgtest: the server is closed")
	errDown   = errors.New("pgtest: the server is down; Restart starts it")
)

// An instance is a server that pgtest has started.
type instance struct {
	home   *home
	bin    string // the directory of postgres and initdb
	port   int
	config config

	mu       sync.Mutex // held while the server changes its state
	closed   bool
	replica  bool
	process  *process    // nil while the server is down
	standbys []*instance // closed before this one
}

func newInstance(ctx context.Context, c config) (*instance, error) {
	home, err := newHome()
	if err != nil {
		return nil, err
	}
	in := &instance{home: home, config: c}
	if err := in.create(ctx); err != nil {
		return nil, errors.Join(err, home.close())
	}
	return in, nil
}

// create makes a new data directory and starts the server on it.
func (in *instance) create(ctx context.Context) (err error) {
	if in.bin, err = findBinaries(ctx, in.home); err != nil {
		return err
	}
	if err := in.home.initdb(ctx, in.bin); err != nil {
		return err
	}
	if err := in.home.appendFile("data/postgresql.conf", in.config.conf()); err != nil {
		return err
	}
	return in.startOnFreePort(ctx)
}

// portTries bounds how often a port that was taken between the choice and the
// start is replaced by another.
const portTries = 10

func (in *instance) startOnFreePort(ctx context.Context) (err error) {
	for range portTries {
		if in.port, err = freePort(); err != nil {
			return err
		}
		if err = in.start(ctx); !errors.Is(err, errPortTaken) {
			break
		}
	}
	return err
}

func (in *instance) start(ctx context.Context) (err error) {
	in.process, err = in.home.startPostgres(ctx, in.bin, in.port)
	return err
}

// url is the DSN of the superuser and its database.
func (in *instance) url() string {
	u := url.URL{
		Scheme:   "postgres",
		User:     url.User("postgres"),
		Host:     "127.0.0.1:" + strconv.Itoa(in.port),
		Path:     "/postgres",
		RawQuery: "sslmode=disable",
	}
	return u.String()
}

func (in *instance) close() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed {
		return nil
	}
	in.closed = true

	var errs []error
	for _, standby := range slices.Backward(in.standbys) {
		errs = append(errs, standby.close())
	}
	errs = append(errs, in.home.close())
	if in.process != nil {
		in.process.reap()
		in.process = nil
	}
	return errors.Join(errs...)
}

func (in *instance) restart(ctx context.Context) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed {
		return errClosed
	}
	if in.process != nil {
		if err := in.process.stop(ctx, syscall.SIGINT); err != nil {
			return fmt.Errorf("pgtest: stopping the server: %w", err)
		}
		in.process = nil
	}
	// What a killed server leaves behind names a process id that may be
	// another program's by now, and postgres would not start.
	if err := os.Remove(in.home.path("data/postmaster.pid")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("pgtest: %w", err)
	}
	return in.start(ctx)
}

func (in *instance) kill(ctx context.Context) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed {
		return errClosed
	}
	if in.process == nil {
		return nil
	}
	if err := in.process.kill(ctx); err != nil {
		return fmt.Errorf("pgtest: killing the server: %w", err)
	}
	in.process = nil
	return nil
}

func (in *instance) promote(ctx context.Context) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if err := in.mustBeUp(); err != nil {
		return err
	}
	if !in.replica {
		return errors.New("pgtest: the server is not a standby, so there is nothing to promote")
	}
	err := withConn(ctx, in.url(), func(conn *sql.Conn) error {
		var promoted bool
		err := conn.QueryRowContext(ctx, "SELECT pg_promote(true, 120)").Scan(&promoted)
		if err == nil && !promoted {
			err = errors.New("it was not done after 120 s")
		}
		return err
	})
	if err != nil {
		return in.home.explain("promoting the standby", err)
	}
	in.replica = false
	return nil
}

func (in *instance) mustBeUp() error {
	switch {
	case in.closed:
		return errClosed
	case in.process == nil:
		return errDown
	}
	return nil
}
