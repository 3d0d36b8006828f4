package sqltext_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pgadvisory/pgadvisory/analyzer/internal/sqltext"
)

// level renders what a query level is.
func level(q *sqltext.Query) string {
	if q == nil {
		return "none"
	}
	var words []string
	for _, f := range []struct {
		is   bool
		word string
	}{{q.From, "from"}, {q.Tables, "tables"}, {q.OrderBy, "order"}, {q.Limit, "limit"}, {q.Parent != nil, "inner"}} {
		if f.is {
			words = append(words, f.word)
		}
	}
	if q.RowLock != "" {
		words = append(words, "for "+strings.ToLower(q.RowLock))
	}
	for _, col := range q.Equal {
		words = append(words, col+"=")
	}
	return strings.Join(words, " ")
}

// queries are valid for PostgreSQL 15.
var queries = []struct {
	sql   string
	main  string
	calls []string // the level of each call
}{
	{"SELECT pg_advisory_xact_lock(1)", "", []string{""}},
	{"SELECT pg_advisory_xact_lock(1) LIMIT 1", "limit", []string{"limit"}},
	{"SELECT pg_advisory_xact_lock(id) FROM seats", "from tables", []string{"from tables"}},
	{"SELECT pg_advisory_xact_lock(s.id) FROM seats AS s WHERE s.id = $1", "from tables id=", []string{"from tables id="}},
	{"SELECT pg_advisory_xact_lock(id) FROM seats WHERE $1 = id AND (row = 2 AND label = 'a'::text) AND free",
		"from tables id= row= label=", []string{"from tables id= row= label="}},
	{"SELECT pg_advisory_xact_lock(id) FROM seats WHERE id = $1 OR row = 2", "from tables", []string{"from tables"}},
	{"SELECT pg_advisory_xact_lock(id) FROM seats WHERE id > $1 AND id = row AND row = row + 1", "from tables", []string{"from tables"}},
	{"SELECT pg_advisory_xact_lock(id) FROM seats WHERE NOT id = $1", "from tables", []string{"from tables"}},
	{"SELECT pg_advisory_xact_lock(s.id) FROM seats s JOIN jobs j ON j.id = 1", "from tables", []string{"from tables"}},
	{"SELECT pg_advisory_xact_lock(id) FROM seats ORDER BY id LIMIT 3", "from tables order limit", []string{"from tables order limit"}},
	{"SELECT pg_advisory_xact_lock(id) FROM seats FETCH FIRST 3 ROWS ONLY", "from tables limit", []string{"from tables limit"}},
	{"SELECT pg_advisory_xact_lock(id) FROM seats OFFSET 1", "from tables", []string{"from tables"}},
	{"SELECT pg_advisory_xact_lock(id) FROM (SELECT id FROM seats ORDER BY id LIMIT 3) s", "from tables", []string{"from tables"}},
	{"SELECT 1 FROM (SELECT pg_try_advisory_xact_lock(id) FROM seats LIMIT 3) s", "from tables", []string{"from tables limit inner"}},
	{"SELECT pg_advisory_xact_lock(k) FROM unnest($1::bigint[]) AS k", "from", []string{"from"}},
	{"SELECT pg_advisory_xact_lock(k) FROM generate_series(1, 3) k ORDER BY k", "from order", []string{"from order"}},
	{"SELECT pg_advisory_xact_lock(k) FROM (VALUES (1), (2)) AS v(k)", "from", []string{"from"}},
	{"SELECT pg_advisory_xact_lock(k) FROM (VALUES (1)) AS v(k)", "", []string{""}},
	{"SELECT pg_advisory_xact_lock(k) FROM (SELECT 1 UNION ALL SELECT 2) AS v(k)", "from", []string{"from"}},
	{"WITH k AS (SELECT id FROM seats) SELECT pg_advisory_xact_lock(id) FROM k", "from tables", []string{"from tables"}},
	{"WITH k AS (SELECT 1 AS id) SELECT pg_advisory_xact_lock(id) FROM k", "", []string{""}},
	{"SELECT got FROM pg_try_advisory_xact_lock($1) AS got WHERE got", "", []string{""}},
	{"SELECT 1 FROM (pg_try_advisory_xact_lock(1) a CROSS JOIN pg_try_advisory_xact_lock(2) b)", "", []string{"", ""}},
	{"SELECT pg_advisory_xact_lock(id) FROM (seats NATURAL JOIN log)", "from tables", []string{"from tables"}},
	{"SELECT pg_advisory_xact_lock(seats.id) FROM seats LEFT JOIN jobs USING (id), ONLY log TABLESAMPLE system (50)", "from tables",
		[]string{"from tables"}},
	{"SELECT pg_advisory_xact_lock(1) UNION ALL SELECT pg_advisory_xact_lock(2)", "", []string{"", ""}},
	{"SELECT label FROM seats WHERE id = $1 FOR UPDATE", "from tables for update id=", nil},
	{"SELECT label FROM seats FOR NO KEY UPDATE OF seats SKIP LOCKED", "from tables for no key update", nil},
	{"SELECT label FROM seats FOR SHARE NOWAIT", "from tables for share", nil},
	{"SELECT label FROM seats ORDER BY id LIMIT 1 FOR KEY SHARE", "from tables order limit for key share", nil},
	{"SELECT label FROM seats FOR UPDATE LIMIT 1", "from tables limit for update", nil},
	{"WITH s AS (SELECT id FROM seats FOR UPDATE) SELECT id FROM s", "from tables", nil},
	{"SELECT id FROM (SELECT id FROM seats FOR UPDATE) s", "from tables", nil},
	{"SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY id) FROM seats GROUP BY row", "from tables", nil},
	{"SELECT ALL pg_advisory_xact_lock(k) FROM unnest($1::bigint[]) WITH ORDINALITY AS u(k, n)", "from", []string{"from"}},
	{"SELECT 1 WHERE CASE WHEN true AND false THEN true ELSE false END AND pg_try_advisory_lock(1)", "", []string{""}},
	{"SELECT substring('abc' FROM 2 FOR 1), extract(epoch FROM now()) WHERE 1 IS DISTINCT FROM 2", "", nil},
	{"SELECT 1 AS limit, 2 AS \"from\" WHERE 'a FOR UPDATE' <> 'LIMIT'", "", nil},
	{"UPDATE seats SET free = pg_try_advisory_lock(id) WHERE id = $1", "from tables id=", []string{"from tables id="}},
	{"DELETE FROM seats USING jobs WHERE pg_try_advisory_lock(seats.id)", "from tables", []string{"from tables"}},
	{"DO $$ BEGIN PERFORM pg_advisory_xact_lock(id) FROM seats WHERE id = 1 ORDER BY id; END $$", "none", []string{"from tables order id="}},
	{"DO $$ BEGIN IF pg_try_advisory_xact_lock(1) THEN NULL; END IF; END $$", "none", []string{"none"}},
}

func TestQueries(t *testing.T) {
	for _, tt := range queries {
		t.Run(tt.sql, func(t *testing.T) { checkLevels(t, tt.sql, tt.main, tt.calls) })
	}
}

func checkLevels(t *testing.T, sql, main string, calls []string) {
	t.Helper()
	sts := sqltext.Parse(sql)
	if len(sts) != 1 {
		t.Fatalf("%d statements, want one", len(sts))
	}
	if got := level(sts[0].Query); got != main {
		t.Errorf("the main query: %q, want %q", got, main)
	}
	var got []string
	for _, c := range sts[0].Calls {
		got = append(got, level(c.Query))
	}
	if diff := cmp.Diff(calls, got); diff != "" {
		t.Errorf("the calls (-want +got)\n%s", diff)
	}
}

func TestQueriesElsewhere(t *testing.T) {
	for _, tt := range []struct {
		sql, main string
		calls     []string
	}{
		{"SELECT `a` FROM `t` WHERE `id` = ? LIMIT 1 FOR UPDATE", "from tables limit for update id=", nil},
		{"SELECT `a` FROM `t` LOCK IN SHARE MODE", "from tables for share", nil},
		{"SELECT TOP 1 id FROM t", "from tables limit", nil},
		{"SELECT top FROM t", "from tables", nil},
		{"SELECT TOP 10 PERCENT id FROM t", "from tables limit", nil},
		{"SELECT @@rowcount, 1e+5 FROM dual", "", nil},
		{"SELECT a FROM t FOR XML AUTO", "from tables", nil},
		{"SELECT DBMS_LOCK.REQUEST(1) FROM dual", "", []string{""}},
		{"SELECT pg_advisory_lock(id) FROM " + hole + " WHERE id = " + hole + " AND x = %d", "from tables id= x=", []string{"from tables id= x="}},
	} {
		t.Run(tt.sql, func(t *testing.T) { checkLevels(t, tt.sql, tt.main, tt.calls) })
	}
}

// settings are valid for PostgreSQL 15.
var settings = []struct {
	sql  string
	want []sqltext.Setting
}{
	{"SET search_path TO north, public", []sqltext.Setting{{Name: "search_path", Scope: sqltext.Session}}},
	{"SET SESSION lock_timeout = 1000", []sqltext.Setting{{Name: "lock_timeout", Scope: sqltext.Session}}},
	{"SET LOCAL App.Region = 'north'", []sqltext.Setting{{Name: "app.region", Scope: sqltext.Transaction}}},
	{"set local \"statement_timeout\" to default", []sqltext.Setting{{Name: "statement_timeout", Scope: sqltext.Transaction}}},
	{"SET TIME ZONE 'UTC'", []sqltext.Setting{{Name: "timezone", Scope: sqltext.Session}}},
	{"SET LOCAL ROLE postgres", []sqltext.Setting{{Name: "role", Scope: sqltext.Transaction}}},
	{"SET SESSION AUTHORIZATION DEFAULT", []sqltext.Setting{{Name: "session_authorization", Scope: sqltext.Session}}},
	{"SET yaml.a.b = 1", []sqltext.Setting{{Name: "yaml.a.b", Scope: sqltext.Session}}},
	{"SET SCHEMA 'north'", []sqltext.Setting{{Name: "search_path", Scope: sqltext.Session}}},
	{"SET NAMES 'UTF8'", []sqltext.Setting{{Name: "client_encoding", Scope: sqltext.Session}}},
	{"SELECT set_config('lock_timeout', '1s', true), set_config('app.region', $1, FALSE)",
		[]sqltext.Setting{{Name: "lock_timeout", Scope: sqltext.Transaction}, {Name: "app.region", Scope: sqltext.Session}}},
	{"SELECT pg_catalog.set_config($1, $2, $3)", []sqltext.Setting{{}}},
	{"DO $$ BEGIN SET LOCAL lock_timeout = '1s'; PERFORM set_config('app.region', 'x', false); END $$",
		[]sqltext.Setting{{Name: "lock_timeout", Scope: sqltext.Transaction}, {Name: "app.region", Scope: sqltext.Session}}},
	{"SET TRANSACTION ISOLATION LEVEL READ COMMITTED", nil},
	{"SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE", nil},
	{"SET CONSTRAINTS ALL DEFERRED", nil},
	{"UPDATE seats SET label = 'x' WHERE label = 'SET LOCAL a = 1'", nil},
	{"SELECT 'SET a = 1', current_setting('lock_timeout')", nil},
	{"RESET lock_timeout", nil},
	{"INSERT INTO log VALUES (true) ON CONFLICT DO NOTHING -- SET a = 1", nil},
}

func TestSettings(t *testing.T) {
	elsewhere := settings[:len(settings):len(settings)]
	for _, sql := range []string{"SET @x = 1", "SET NOCOUNT ON", "INSERT INTO t SET a = 1"} {
		elsewhere = append(elsewhere, struct {
			sql  string
			want []sqltext.Setting
		}{sql, nil})
	}
	for _, tt := range elsewhere {
		var got []sqltext.Setting
		for _, st := range sqltext.Parse(tt.sql) {
			got = append(got, st.Settings...)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s\n(-want +got)\n%s", tt.sql, diff)
		}
	}
}
