package sqltext_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pgadvisory/pgadvisory/analyzer/internal/sqltext"
)

func TestLookup(t *testing.T) {
	for name, want := range map[string]string{
		"pg_advisory_lock":                 "PostgreSQL lock session",
		"pg_advisory_lock_shared":          "PostgreSQL lock session shared",
		"pg_advisory_xact_lock":            "PostgreSQL lock transaction",
		"pg_advisory_xact_lock_shared":     "PostgreSQL lock transaction shared",
		"pg_try_advisory_lock":             "PostgreSQL try-lock session",
		"pg_try_advisory_lock_shared":      "PostgreSQL try-lock session shared",
		"pg_try_advisory_xact_lock":        "PostgreSQL try-lock transaction",
		"pg_try_advisory_xact_lock_shared": "PostgreSQL try-lock transaction shared",
		"pg_advisory_unlock":               "PostgreSQL unlock session",
		"pg_advisory_unlock_shared":        "PostgreSQL unlock session shared",
		"pg_advisory_unlock_all":           "PostgreSQL unlock all session",
		"GET_LOCK":                         "MySQL try-lock session",
		"RELEASE_LOCK":                     "MySQL unlock session",
		"RELEASE_ALL_LOCKS":                "MySQL unlock all session",
		"sp_getapplock":                    "SQL Server try-lock transaction",
		"sp_releaseapplock":                "SQL Server unlock transaction",
		"DBMS_LOCK.REQUEST":                "Oracle try-lock session",
		"DBMS_LOCK.RELEASE":                "Oracle unlock session",
	} {
		for _, spelt := range []string{name, strings.ToUpper(name), strings.ToLower(name), strings.ToUpper(name[:4]) + strings.ToLower(name[4:])} {
			f := sqltext.Lookup(spelt)
			if f == nil {
				t.Errorf("Lookup(%q) = nil", spelt)
				continue
			}
			got := fmt.Sprint(f.Dialect, " ", f.Op, " ", f.Scope)
			if f.Shared {
				got += " shared"
			}
			if f.Name != name || got != want {
				t.Errorf("Lookup(%q) = %s: %s, want %s: %s", spelt, f.Name, got, name, want)
			}
		}
	}
	for _, name := range []string{
		"", "pg_advisory", "pg_advisory_lock ", "pg_catalog.pg_advisory_lock", "pg_advisory_xact_unlock", "pg_try_advisory_unlock",
		"IS_FREE_LOCK", "IS_USED_LOCK", "REQUEST", "DBMS_LOCK.SLEEP", "DBMS_LOCK.ALLOCATE_UNIQUE", strings.Repeat("pg_advisory_lock", 9),
	} {
		if f := sqltext.Lookup(name); f != nil {
			t.Errorf("Lookup(%q) = %s, want none", name, f.Name)
		}
	}
}

func TestKey(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT pg_advisory_lock(1)":                                 "[1]",
		"SELECT pg_advisory_lock(1, 2)":                              "[1 2]",
		"SELECT pg_advisory_unlock_all()":                            "[]",
		"SELECT GET_LOCK('a', 10)":                                   "['a']",
		"EXEC sp_releaseapplock @LockOwner='Session', @Resource='a'": "['a']",
		"BEGIN :r := DBMS_LOCK.REQUEST(5, 6, 0); END;":               "[5]",
	} {
		if got := fmt.Sprint(sqltext.Parse(sql)[0].Calls[0].Key()); got != want {
			t.Errorf("%s: the key is %s, want %s", sql, got, want)
		}
	}
}
