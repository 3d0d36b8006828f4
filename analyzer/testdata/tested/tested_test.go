package tested

import (
	"database/sql"
	"testing"
)

func single(t *testing.T) *sql.DB {
	db, err := sql.Open("postgres", "")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	return db
}

func TestLock(t *testing.T) {
	if err := New(single(t)).Lock(t.Context()); err != nil {
		t.Error(err)
	}
	if err := Lock(t.Context(), single(t)); err != nil {
		t.Error(err)
	}
}

// an unlock that is not deferred: a test that panics is over.
func TestPinned(t *testing.T) {
	conn, err := single(t).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(t.Context(), "SELECT pg_advisory_lock(1)"); err != nil {
		t.Fatal(err)
	}
	TestLock(t)
	conn.ExecContext(t.Context(), "SELECT pg_advisory_unlock(1)")
}
