//go:build unix

package pgtest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pgadvisory/pgadvisory/advisory/pgtest"
)

func TestCandidates(t *testing.T) {
	root, err := filepath.EvalSymlinks(publicDir(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("ADVISORY_TEST_PG", "")
	for _, dir := range []string{"lib/9.6/bin", "lib/18/bin", "lib/14/bin", "brew/postgresql@17/bin", "brew/postgresql@9/bin"} {
		writePrograms(t, filepath.Join(root, dir), "#!/bin/sh\n")
	}
	// Not a server: initdb is missing, or is no program.
	if err := os.MkdirAll(filepath.Join(root, "lib/20/bin/initdb"), 0o755); err != nil {
		t.Fatal(err)
	}
	pgtest.Places(t, filepath.Join(root, "lib/*/bin"), filepath.Join(root, "brew/postgresql@*/bin"))

	path := filepath.Join(root, "path")
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", path)
	places := []string{"lib/18/bin", "lib/14/bin", "lib/9.6/bin", "brew/postgresql@17/bin", "brew/postgresql@9/bin"}
	check := func(what string, want ...string) {
		t.Helper()
		var got []string
		for _, dir := range pgtest.Candidates() {
			got = append(got, strings.TrimPrefix(dir, root+"/"))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	check("nothing on PATH", places...)

	if err := os.Symlink(filepath.Join(root, "lib/14/bin/postgres"), filepath.Join(path, "postgres")); err != nil {
		t.Fatal(err)
	}
	check("a link on PATH", "lib/14/bin", "lib/18/bin", "lib/9.6/bin", "brew/postgresql@17/bin", "brew/postgresql@9/bin")

	if err := os.Remove(filepath.Join(path, "postgres")); err != nil {
		t.Fatal(err)
	}
	writePrograms(t, path, "#!/bin/sh\n")
	check("programs on PATH", append([]string{"path"}, places...)...)
}

func TestNamedBinaries(t *testing.T) {
	needOwn(t)
	bin := shared.Bin()
	t.Setenv("ADVISORY_TEST_PG", bin)
	t.Setenv("PATH", "")
	pgtest.Places(t)
	srv := pgtest.Start(t)
	if srv.Bin() != bin {
		t.Errorf("the server comes from %s, want %s", srv.Bin(), bin)
	}

	empty := publicDir(t)
	broken := publicDir(t)
	writePrograms(t, broken, "#!/bin/sh\necho no such library >&2\nexit 127\n")
	for dir, want := range map[string]string{
		empty:          "postgres and initdb are not in it",
		"/nonexistent": "postgres and initdb are not in it",
		broken:         "no such library",
	} {
		t.Setenv("ADVISORY_TEST_PG", dir)
		_, err := pgtest.New(t.Context())
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "ADVISORY_TEST_PG="+dir) {
			t.Errorf("ADVISORY_TEST_PG=%s: %v, want %q", dir, err, want)
		}
	}
}

// Programs and directories that only root can reach are passed over, because the server
// runs as another user.
func TestOnlyReachableByRoot(t *testing.T) {
	needOwn(t)
	needRoot(t)
	private := t.TempDir()
	t.Setenv("TMPDIR", private)
	writePrograms(t, private, "#!/bin/sh\n")
	t.Setenv("ADVISORY_TEST_PG", "")
	t.Setenv("PATH", private)
	pgtest.Places(t, shared.Bin())
	srv := pgtest.Start(t)
	if srv.Bin() != shared.Bin() {
		t.Errorf("the server comes from %s, want %s", srv.Bin(), shared.Bin())
	}

	t.Setenv("ADVISORY_TEST_PG", private)
	_, err := pgtest.New(t.Context())
	if err == nil || !strings.Contains(err.Error(), "because we are root") {
		t.Errorf("New: %v, want the user named", err)
	}
}

// writePrograms makes dir look like a directory of PostgreSQL's programs.
func writePrograms(t *testing.T, dir, script string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"postgres", "initdb"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}
