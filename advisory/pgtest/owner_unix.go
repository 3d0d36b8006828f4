//go:build unix

package pgtest

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
)

// An owner is the user that the server runs as when we are root, because
// PostgreSQL refuses to run as root.
type owner struct {
	name     string
	uid, gid int
}

// serverOwner returns nil if we are not root.
func serverOwner() (*owner, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.ParseUint(u.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(u.Gid, 10, 32)
		if uidErr != nil || gidErr != nil || uid == 0 {
			continue
		}
		return &owner{name: name, uid: int(uid), gid: int(gid)}, nil
	}
	return nil, fmt.Errorf("pgtest: PostgreSQL does not run as root, and there is no user postgres or nobody to run it as")
}

func (o *owner) credential() *syscall.Credential {
	if o == nil {
		return nil
	}
	return &syscall.Credential{Uid: uint32(o.uid), Gid: uint32(o.gid)}
}

// asOwner says in an error's text which user was meant.
func (h *home) asOwner() string {
	if h.owner == nil {
		return ""
	}
	return fmt.Sprintf(" by the user %s, which the server runs as because we are root", h.owner.name)
}

// tempDir returns a directory for temporary files which the server's user can reach:
// the usual one, unless it is for root alone.
func tempDir(o *owner) (string, error) {
	usual, err := filepath.Abs(os.TempDir())
	if err != nil {
		return "", fmt.Errorf("pgtest: %w", err)
	}
	if o == nil {
		return usual, nil
	}
	for _, dir := range []string{usual, "/tmp", "/var/tmp"} {
		if o.reaches(dir) {
			return dir, nil
		}
	}
	return "", fmt.Errorf("pgtest: the server runs as the user %s because we are root, and that user "+
		"cannot enter %s; set TMPDIR to a directory that it can enter", o.name, usual)
}

// reaches reports whether the owner may pass through dir and every directory
// above it. Of the owner's groups it looks at the first only, which is the one
// that the server is given.
func (o *owner) reaches(dir string) bool {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	var above []string
	for real != filepath.Dir(real) {
		above = append(above, real)
		real = filepath.Dir(real)
	}
	return !slices.ContainsFunc(append(above, real), func(dir string) bool {
		info, err := os.Stat(dir)
		return err != nil || !info.IsDir() || !o.mayEnter(info)
	})
}

func (o *owner) mayEnter(info os.FileInfo) bool {
	execute := os.FileMode(0o001)
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		switch {
		case int(st.Uid) == o.uid:
			execute = 0o100
		case int(st.Gid) == o.gid:
			execute = 0o010
		}
	}
	return info.Mode()&execute != 0
}
