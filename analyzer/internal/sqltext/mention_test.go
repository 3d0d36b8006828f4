package sqltext_test

import (
	"strings"
	"testing"

	"github.com/pgadvisory/pgadvisory/analyzer/internal/sqltext"
)

func TestMentions(t *testing.T) {
	for _, text := range []string{
		"SELECT pg_advisory_lock(1)", "select PG_TRY_ADVISORY_XACT_LOCK($1)", "pg_advisory", "GET_LOCK('a', 1)", "get_lock", "Release_Lock",
		"RELEASE_ALL_LOCKS()", "EXEC sp_getapplock", "SP_RELEASEAPPLOCK", "dbms_lock.request", "k pg_advisory_lock v",
		strings.Repeat("knock, knock; vivid advice; deadlock; block ", 9) + "pg_Advisory_unlock",
	} {
		if !sqltext.Mentions(text) {
			t.Errorf("Mentions(%q) = false", text)
		}
		for name := range strings.FieldsSeq(text) {
			if sqltext.Lookup(strings.Trim(name, "()")) != nil && !sqltext.Mentions(name) {
				t.Errorf("Mentions(%q) = false, but it is a lock function", name)
			}
		}
	}
	for _, text := range []string{
		"", "k", "v", "lock", "SELECT 1", "SELECT id FROM jobs WHERE key = $1 FOR UPDATE", "deadlock", "block, unlock, clock, islock",
		"advisor", "dvisory", "et_lock", "elease_lock", "pplock", "bms_lock", "forget_loc", strings.Repeat("kv", 100),
	} {
		if sqltext.Mentions(text) {
			t.Errorf("Mentions(%q) = true", text)
		}
	}
}

func TestMentionsDoesNotAllocate(t *testing.T) {
	text := strings.Repeat("knock, knock; vivid advice; deadlock; block ", 9)
	if n := testing.AllocsPerRun(100, func() { sqltext.Mentions(text) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
