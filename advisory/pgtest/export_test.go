//go:build unix

package pgtest

import (
	"path/filepath"
	"testing"

	embeddedpostgres "github.com/fergusstrange/embedded-postgres"
)

// Places replaces the directories that are searched for local binaries.
func Places(tb testing.TB, globs ...string) {
	old := places
	places = globs
	tb.Cleanup(func() { places = old })
}

// Candidates lists the directories that would be tried.
var Candidates = candidates

// DownloadFrom replaces the repository of binaries.
func DownloadFrom(tb testing.TB, url string) {
	old := downloadConfig
	downloadConfig = func() embeddedpostgres.Config {
		return old().BinaryRepositoryURL(url)
	}
	tb.Cleanup(func() { downloadConfig = old })
}

// Ports makes freePort answer these ports first.
func Ports(tb testing.TB, ports ...int) {
	old := freePort
	freePort = func() (int, error) {
		if len(ports) == 0 {
			return old()
		}
		port := ports[0]
		ports = ports[1:]
		return port, nil
	}
	tb.Cleanup(func() { freePort = old })
}

// Dir is the server's directory.
func (s *Server) Dir() string { return s.own.home.dir }

// Postmaster is the process id of the running server.
func (s *Server) Postmaster() int { return s.own.process.cmd.Process.Pid }

// Bin is the directory of the server's programs.
func (s *Server) Bin() string { return filepath.Clean(s.own.bin) }
