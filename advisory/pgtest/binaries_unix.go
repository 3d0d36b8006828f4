//go:build unix

package pgtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

// places are where PostgreSQL's programs are when they are not on PATH. Of several
// versions in one place the newest is taken.
var places = []string{
	"/usr/lib/postgresql/*/bin",                               // Debian, Ubuntu
	"/usr/pgsql-*/bin",                                        // Red Hat, SUSE
	"/usr/libexec/postgresql*",                                // Alpine
	"/opt/homebrew/opt/postgresql@*/bin",                      // Homebrew on Apple silicon
	"/usr/local/opt/postgresql@*/bin",                         // Homebrew on Intel
	"/home/linuxbrew/.linuxbrew/opt/postgresql@*/bin",         // Homebrew on Linux
	"/Applications/Postgres.app/Contents/Versions/[0-9]*/bin", // Postgres.app
}

// findBinaries returns the directory of the postgres and initdb to use, in the
// order that the package's documentation gives. What has to be downloaded is
// put into home.
func findBinaries(ctx context.Context, home *home) (string, error) {
	if dir := os.Getenv("ADVISORY_TEST_PG"); dir != "" {
		if err := checkBinaries(ctx, home, dir); err != nil {
			return "", fmt.Errorf("pgtest: ADVISORY_TEST_PG=%s: %w", dir, err)
		}
		return dir, nil
	}
	var unfit []error
	for _, dir := range candidates() {
		err := checkBinaries(ctx, home, dir)
		if err == nil {
			return dir, nil
		}
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		unfit = append(unfit, fmt.Errorf("%s: %w", dir, err))
	}
	dir, err := download(ctx, home)
	if err != nil {
		return "", errors.Join(fmt.Errorf("pgtest: no PostgreSQL on this machine "+
			"(looked on PATH and in the usual places; ADVISORY_TEST_PG can name a directory, ADVISORY_TEST_DSN a server), "+
			"and none could be downloaded: %w", err), errors.Join(unfit...))
	}
	return dir, nil
}

// candidates lists the local directories that hold postgres and initdb.
func candidates() []string {
	var dirs []string
	add := func(dir string) bool {
		if !hasBinaries(dir) {
			return false
		}
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
		return true
	}
	if path, err := exec.LookPath("postgres"); err == nil {
		// The program on PATH is often a link. PostgreSQL finds its libraries and
		// initdb its postgres from where they really are.
		if real, err := filepath.EvalSymlinks(path); err != nil || !add(filepath.Dir(real)) {
			add(filepath.Dir(path))
		}
	}
	for _, place := range places {
		found, err := filepath.Glob(place)
		if err != nil {
			panic("pgtest: " + place + ": " + err.Error())
		}
		slices.SortStableFunc(found, func(a, b string) int { return cmp.Compare(version(b), version(a)) })
		for _, dir := range found {
			add(dir)
		}
	}
	return dirs
}

var lastNumber = regexp.MustCompile(`([0-9]+(\.[0-9]+)?)[^0-9]*$`)

// version reads the server's version from the path of its directory. It is 0 if
// there is none in it.
func version(dir string) float64 {
	match := lastNumber.FindStringSubmatch(dir)
	if match == nil {
		return 0
	}
	v, _ := strconv.ParseFloat(match[1], 64)
	return v
}

func hasBinaries(dir string) bool {
	for _, name := range []string{"postgres", "initdb"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.IsDir() || info.Mode()&0o111 == 0 {
			return false
		}
	}
	return true
}

// checkBinaries reports by its error why the programs in dir cannot be used:
// they are not there, or the server's user may not run them.
func checkBinaries(ctx context.Context, home *home, dir string) error {
	if !hasBinaries(dir) {
		return errors.New("the programs postgres and initdb are not in it")
	}
	for _, name := range []string{"postgres", "initdb"} {
		if out, err := home.output(ctx, filepath.Join(dir, name), "--version"); err != nil {
			return fmt.Errorf("%s cannot be run%s: %w%s", name, home.asOwner(), err, indented(out))
		}
	}
	return nil
}
