//go:build unix

package pgtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// newStandby copies the running server's data directory in backup mode (PostgreSQL
// documentation, "Making a Base Backup Using the Low Level API"), because
// pg_basebackup is not part of every distribution's server programs.
func (in *instance) newStandby(ctx context.Context) (*instance, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if err := in.mustBeUp(); err != nil {
		return nil, err
	}
	if in.replica {
		return nil, errors.New("pgtest: the server is a standby itself: make standbys from its primary, or promote it first")
	}

	home, err := newHome()
	if err != nil {
		return nil, err
	}
	standby := &instance{home: home, bin: in.bin, config: in.config, replica: true}
	err = in.backup(ctx, home)
	if err == nil {
		err = errors.Join(
			home.appendFile("data/postgresql.conf",
				fmt.Sprintf("primary_conninfo = 'host=127.0.0.1 port=%d user=postgres sslmode=disable'\n", in.port)),
			home.writeFile("data/standby.signal", ""),
		)
	}
	if err == nil {
		err = standby.startOnFreePort(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, home.close())
	}
	in.standbys = append(in.standbys, standby)
	return standby, nil
}

// backup makes a copy of the data directory in to. The copy holds no WAL: the standby
// streams all of it, and takes connections when it has come to the backup's end.
func (in *instance) backup(ctx context.Context, to *home) error {
	err := withConn(ctx, in.url(), func(conn *sql.Conn) error {
		var version int
		err := conn.QueryRowContext(ctx, "SELECT current_setting('server_version_num')::int").Scan(&version)
		if err != nil {
			return err
		}
		start, stop := "SELECT pg_backup_start('pgtest', true)", "SELECT labelfile FROM pg_backup_stop(false)"
		if version < 150000 {
			start, stop = "SELECT pg_start_backup('pgtest', true, false)", "SELECT labelfile FROM pg_stop_backup(false, false)"
		}
		// If anything fails in between, the end of this session ends the backup.
		if _, err := conn.ExecContext(ctx, start); err != nil {
			return err
		}
		if err := copyData(ctx, in.home.path("data"), to); err != nil {
			return err
		}
		var label string
		if err := conn.QueryRowContext(ctx, stop).Scan(&label); err != nil {
			return err
		}
		return to.writeFile("data/backup_label", label)
	})
	if err != nil {
		return fmt.Errorf("pgtest: copying the server for a standby: %w", err)
	}
	return nil
}

// emptied directories of the data directory are made anew by the standby, or
// belong to the primary alone.
var emptied = []string{
	"pg_dynshmem", "pg_notify", "pg_replslot", "pg_serial", "pg_snapshots",
	"pg_stat_tmp", "pg_subtrans", "pg_wal", "pg_wal/archive_status", "pg_wal/summaries",
}

// copyData copies the files of a running server. They change meanwhile, and some go away: replay
// of the WAL makes up for both. Only pg_control must be read last.
func copyData(ctx context.Context, from string, to *home) error {
	const control = "global/pg_control"
	err := filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return unlessGone(err)
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch {
		case entry.IsDir():
			return copyDir(name, to)
		case slices.Contains(emptied, filepath.Dir(name)), name == control, isOfTheMoment(entry.Name()):
			return nil
		case !entry.Type().IsRegular():
			return fmt.Errorf("%s is not a regular file: tablespaces elsewhere are not supported", name)
		}
		return unlessGone(copyFile(path, name, to))
	})
	if err != nil {
		return err
	}
	return copyFile(filepath.Join(from, control), control, to)
}

// isOfTheMoment reports whether a file only means something to the running primary.
func isOfTheMoment(name string) bool {
	return strings.HasPrefix(name, "postmaster.") || strings.HasPrefix(name, "pgsql_tmp") || name == "pg_internal.init"
}

func unlessGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func copyDir(name string, to *home) error {
	path := to.path(filepath.Join("data", name))
	if err := os.Mkdir(path, 0o700); err != nil {
		return err
	}
	return to.giveAway(path)
}

func copyFile(from, name string, to *home) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	path := to.path(filepath.Join("data", name))
	dst, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Close(), to.giveAway(path))
}
