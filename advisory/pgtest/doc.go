// Package pgtest starts a real PostgreSQL server for tests and demos, and
// leaves nothing behind.
//
// A test takes a server of its own with [Start]:
//
//	srv := pgtest.Start(t)
//	db := srv.Open(t, "pgx")
//
// A package whose tests share one server starts it in TestMain:
//
//	var srv *pgtest.Server
//
//	func TestMain(m *testing.M) {
//		var err error
//		if srv, err = pgtest.New(context.Background()); err != nil {
//			log.Fatal(err)
//		}
//		code := m.Run()
//		srv.Close()
//		os.Exit(code)
//	}
//
// Each test then takes a database of its own with [Server.Database]: advisory locks
// are per database, so such tests can run in parallel.
//
// # Where the server comes from
//
// The first of these that is there is used (PostgreSQL 13 or newer):
//
//  1. The environment variable ADVISORY_TEST_DSN: a running server, used as it
//     is and never stopped. What needs a server of its own then answers
//     [ErrExternal], and tests skip.
//  2. ADVISORY_TEST_PG: a directory with the programs postgres and initdb. If it
//     is set and unfit, that is an error; nothing else is tried.
//  3. postgres and initdb on PATH, then those in the places where Linux
//     distributions, Homebrew and Postgres.app put them, the newest version first.
//  4. A download by github.com/fergusstrange/embedded-postgres, which keeps the
//     archive in the home directory.
//
// # How it ends
//
// A server runs until [Server.Close]. If the program panics, exits, or is killed
// by any signal, SIGKILL included, a watchdog process stops the server and removes
// its directory. It needs no signal handler, so the program's own handling of
// signals is left alone. Only killing the watchdog as well, with SIGKILL,
// leaves a directory behind.
//
// # Speed
//
// A server is up in about a second. Most of that is the creation of some thousand
// files, so a TMPDIR in memory makes it two to three times faster where there is enough
// of it (some 50 MB a server, and the WAL): GOTMPDIR=/tmp TMPDIR=/dev/shm go test ./...
//
// # What it is not
//
// It is made for speed: fsync is off. It trusts every connection that comes from
// 127.0.0.1, as superuser, so it is nothing for a machine whose other users are not
// trusted. It runs on Linux, macOS and other Unix systems; elsewhere only
// ADVISORY_TEST_DSN works.
package pgtest
