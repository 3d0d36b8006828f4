//go:build unix

package pgtest_test

import (
	"os"
	"strings"
	"testing"

	"github.com/pgadvisory/pgadvisory/advisory/pgtest"
)

func TestSettings(t *testing.T) {
	needOwn(t)
	const odd = "it's a \\ and a\nline's \"end\" \t# ü"
	srv := pgtest.Start(t,
		pgtest.Setting("max_connections", "50"),
		pgtest.Setting("max_locks_per_transaction", "33"),
		pgtest.Setting("fsync", "on"),
		pgtest.Setting("max_connections", "17"), // the last one counts
		pgtest.Setting("pgtest.odd", odd),
	)
	db := srv.Open(t, "pgx")
	for name, want := range map[string]string{
		"max_connections":           "17",
		"max_locks_per_transaction": "33",
		"fsync":                     "on",
		"pgtest.odd":                odd,
	} {
		if got := ask[string](t, db, "SELECT current_setting($1)", name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}

	run(t, db, "ALTER SYSTEM SET max_connections = 23")
	if err := srv.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := ask[string](t, srv.Open(t, "pgx"), "SHOW max_connections"); got != "23" {
		t.Errorf("after ALTER SYSTEM and Restart max_connections is %s, want 23", got)
	}
}

func TestBadSettings(t *testing.T) {
	needOwn(t)
	dir := emptyTempDir(t)
	for _, tt := range []struct{ name, value, want string }{
		{"max_connections", "many", `invalid value for parameter "max_connections": "many"`},
		{"a b", "1", `"a b" is not the name of a setting`},
		{"", "1", `"" is not the name of a setting`},
		{"x = 1\ny", "1", "is not the name of a setting"},
		{"Port", "1", "the setting port cannot be changed"},
		{"listen_addresses", "*", "the setting listen_addresses cannot be changed"},
		{"work_mem", "1\x00", "the value of the setting work_mem holds a NUL byte"},
	} {
		_, err := pgtest.New(t.Context(), pgtest.Setting(tt.name, tt.value))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Setting(%q, %q): %v, want %q in it", tt.name, tt.value, err, tt.want)
		}
	}
	r := runTest(func(tb testing.TB) { pgtest.Start(tb, pgtest.Setting("no_such_setting", "1")) })
	if !r.failed || !strings.Contains(r.text, `unrecognized configuration parameter "no_such_setting"`) {
		t.Errorf("Start: %+v, want it failed with the reason", r)
	}
	assertEmpty(t, dir)
}

// emptyTempDir makes an empty directory the one for temporary files, and lets
// everybody use it.
func emptyTempDir(t *testing.T) string {
	t.Helper()
	dir := publicDir(t)
	t.Setenv("TMPDIR", dir)
	return dir
}

// publicDir is a directory that the server's user can use, which t.TempDir is not.
func publicDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "public")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	return dir
}

func assertEmpty(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		t.Errorf("left behind in %s: %s", dir, entry.Name())
	}
}
