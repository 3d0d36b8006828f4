//go:build unix

package pgtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	embeddedpostgres "github.com/fergusstrange/embedded-postgres"
)

// downloadConfig is changed by tests.
var downloadConfig = embeddedpostgres.DefaultConfig

// download lets embedded-postgres fetch PostgreSQL and unpack it into home, and
// returns the directory of its programs. The server is then run as any other: by
// itself the library does not work as root, nor does it end with our process.
func download(ctx context.Context, h *home) (string, error) {
	dir := h.path("postgresql")
	// The library cannot only unpack. What it does next is to make its runtime
	// directory, which fails below a link that leads nowhere.
	nowhere := h.path("nowhere")
	if err := os.Symlink(h.path("missing"), nowhere); err != nil {
		return "", err
	}
	archive, err := archiveDir(h)
	if err != nil {
		return "", err
	}
	library := embeddedpostgres.NewDatabase(downloadConfig().
		Port(0). // any free one: it looks whether it is
		CachePath(archive).
		BinariesPath(dir).
		RuntimePath(filepath.Join(nowhere, "runtime")).
		Logger(io.Discard))

	// It knows no ctx. When ctx ends, the download is left to itself, and home
	// is removed only after it.
	var unpacked error
	h.busy = make(chan struct{})
	go func() {
		defer close(h.busy)
		unpacked = startWithoutLog(library)
	}()
	select {
	case <-h.busy:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	// Its connections would look like leaked goroutines to a test.
	http.DefaultClient.CloseIdleConnections()

	if !strings.Contains(fmt.Sprint(unpacked), "unable to create runtime directory") {
		return "", fmt.Errorf("embedded-postgres: %v", unpacked)
	}
	err = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, h.giveAway(path))
	})
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, "bin")
	return bin, checkBinaries(ctx, h, bin)
}

// archiveDir is where the library keeps what it has downloaded: its own usual
// place, or home if that cannot be written to.
func archiveDir(h *home) (string, error) {
	if user, err := os.UserHomeDir(); err == nil {
		dir := filepath.Join(user, ".embedded-postgres-go")
		if err := os.MkdirAll(dir, 0o755); err == nil {
			return dir, nil
		}
	}
	dir := h.path("archive")
	return dir, os.Mkdir(dir, 0o755)
}

// startMu keeps apart the log files of several calls.
var startMu sync.Mutex

// startWithoutLog starts the library and removes the log file which it leaves in
// the directory for temporary files: the one which is new and which this process has open.
func startWithoutLog(library *embeddedpostgres.EmbeddedPostgres) error {
	startMu.Lock()
	defer startMu.Unlock()
	pattern := filepath.Join(os.TempDir(), "embedded_postgres_log*")
	before, _ := filepath.Glob(pattern) // the pattern is fine, and there is no other error
	err := library.Start()
	after, _ := filepath.Glob(pattern)
	for _, path := range after {
		if !slices.Contains(before, path) && isOpenHere(path) {
			os.Remove(path)
		}
	}
	return err
}

// isOpenHere reports whether this process has the file open.
func isOpenHere(path string) bool {
	file, err := os.Stat(path)
	if err != nil {
		return false
	}
	descriptors, _ := os.ReadDir("/dev/fd")
	return slices.ContainsFunc(descriptors, func(entry fs.DirEntry) bool {
		open, err := os.Stat(filepath.Join("/dev/fd", entry.Name()))
		return err == nil && os.SameFile(open, file)
	})
}
