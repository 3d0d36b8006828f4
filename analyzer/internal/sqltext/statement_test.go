package sqltext_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pgadvisory/pgadvisory/analyzer/internal/sqltext"
)

// facts renders what a statement is: its verb, and a word for everything that it does.
func facts(st sqltext.Statement) string {
	words := []string{st.Verb}
	if st.Control != sqltext.NoControl {
		words = append(words, "{"+st.Control.String()+"}")
	}
	for _, f := range []struct {
		is   bool
		word string
	}{
		{st.Writes, "writes"}, {st.OtherCalls, "calls"}, {st.OtherColumns, "columns"}, {st.OrderBy, "order"}, {st.Open, "open"},
	} {
		if f.is {
			words = append(words, f.word)
		}
	}
	return strings.Join(words, " ")
}

// statements are valid for PostgreSQL 15.
var statements = []struct {
	sql  string
	want []string
}{
	// Nothing but locks.
	{"SELECT pg_advisory_xact_lock($1)", []string{"SELECT"}},
	{"SELECT pg_advisory_xact_lock(id) FROM seats WHERE row > $1", []string{"SELECT"}},
	{"SELECT pg_advisory_xact_lock(id) FROM seats ORDER BY id", []string{"SELECT order"}},
	{"SELECT pg_advisory_xact_lock(id) FROM (SELECT id FROM seats ORDER BY id) s", []string{"SELECT order"}},
	{"SELECT array_agg(pg_try_advisory_xact_lock(id) ORDER BY id) FROM seats", []string{"SELECT order"}},
	{"SELECT 1 FROM pg_advisory_xact_lock(1)", []string{"SELECT"}},
	{"SELECT a FROM ROWS FROM (pg_try_advisory_xact_lock(1), pg_try_advisory_xact_lock(2)) AS l(a, b)", []string{"SELECT"}},
	{"SELECT pg_advisory_xact_lock(id) FROM seats AS s (id) TABLESAMPLE system (50) WHERE free", []string{"SELECT"}},
	{"SELECT * FROM pg_advisory_xact_lock(1)", []string{"SELECT"}},
	{"SELECT 'locked' AS state, NULL, pg_advisory_xact_lock(hashtext($1))", []string{"SELECT"}},
	{"SELECT pg_advisory_xact_lock(do_work())", []string{"SELECT"}},
	{"WITH l AS (SELECT pg_advisory_xact_lock(1)) SELECT 1 FROM l", []string{"SELECT"}},
	{"WITH l AS (SELECT pg_try_advisory_xact_lock(1) AS ok) SELECT ok, * FROM l", []string{"SELECT"}},
	{"SELECT count(*) FROM (SELECT pg_advisory_xact_lock(k) FROM unnest($1::bigint[]) k) q", []string{"SELECT"}},
	{"SELECT k, pg_try_advisory_xact_lock(k) FROM unnest($1::bigint[]) k", []string{"SELECT"}},
	{"WITH RECURSIVE r(n,ok) AS (SELECT 0,true UNION ALL SELECT n+1,pg_try_advisory_xact_lock(($1::bigint[])[n+1]) FROM r " +
		"WHERE ok AND n<cardinality($1::bigint[])) SELECT bool_and(ok) FROM r", []string{"SELECT"}},
	{"VALUES (pg_try_advisory_xact_lock(1))", []string{"VALUES"}},
	{"DO $$ BEGIN PERFORM pg_advisory_xact_lock(1); IF pg_try_advisory_xact_lock(2) THEN RAISE NOTICE 'x'; END IF; END $$", []string{"DO"}},
	{"DO $$ BEGIN EXECUTE 'SELECT pg_advisory_xact_lock(1)'; END $$", []string{"DO"}},
	{"SET LOCAL lock_timeout = '1s'; SELECT pg_advisory_xact_lock(1)", []string{"SET", "SELECT"}},

	// The result holds more.
	{"SELECT pg_advisory_xact_lock(1), balance FROM accounts WHERE id = $1", []string{"SELECT columns"}},
	{"SELECT id FROM seats WHERE pg_try_advisory_xact_lock(id)", []string{"SELECT columns"}},
	{"SELECT *, pg_try_advisory_xact_lock(id) FROM seats", []string{"SELECT columns"}},
	{"SELECT pg_try_advisory_xact_lock(1), count(*) FROM seats", []string{"SELECT columns"}},
	{"SELECT pg_try_advisory_xact_lock(1), (SELECT note FROM jobs LIMIT 1)", []string{"SELECT columns"}},
	{"WITH l AS (SELECT pg_advisory_xact_lock(1)) SELECT a.balance FROM l, accounts a", []string{"SELECT columns"}},
	{"WITH l AS (SELECT id, pg_try_advisory_xact_lock(id) AS ok FROM seats) SELECT id FROM l WHERE ok", []string{"SELECT columns"}},
	{"SELECT s.* FROM (SELECT id, pg_try_advisory_xact_lock(id) FROM seats) s", []string{"SELECT columns"}},
	{"SELECT 1 AS n, pg_try_advisory_xact_lock(1) UNION ALL SELECT id, true FROM seats", []string{"SELECT columns"}},
	{"TABLE seats", []string{"TABLE columns"}},

	// It does more.
	{"SELECT do_work() FROM pg_advisory_xact_lock(1)", []string{"SELECT calls columns"}},
	{"SELECT pg_advisory_xact_lock(1) FROM do_work()", []string{"SELECT calls"}},
	{"SELECT pg_advisory_xact_lock(1) WHERE do_work() > 0", []string{"SELECT calls"}},
	{"SELECT pg_advisory_xact_lock(1), pg_sleep(0)", []string{"SELECT calls columns"}},
	{"WITH l AS (SELECT pg_advisory_xact_lock(1)), gone AS (DELETE FROM seats USING l RETURNING 1) SELECT count(*) FROM gone",
		[]string{"SELECT writes"}},
	{"WITH l AS (SELECT pg_advisory_xact_lock(1)) INSERT INTO log SELECT true FROM l", []string{"INSERT writes"}},
	{"UPDATE seats SET free = pg_try_advisory_lock(id) WHERE id = 1 RETURNING label", []string{"UPDATE writes columns"}},
	{"SELECT pg_try_advisory_xact_lock(1) AS ok INTO made", []string{"SELECT writes"}},
	{"DO $$ BEGIN PERFORM pg_advisory_xact_lock(1); UPDATE seats SET free = true; END $$", []string{"DO writes"}},
	{"DO $$ BEGIN PERFORM pg_advisory_xact_lock(1); ALTER TABLE seats ADD COLUMN c int; END $$", []string{"DO writes"}},
	{"DO $$ BEGIN PERFORM pg_advisory_xact_lock(1); PERFORM do_work(); END $$", []string{"DO calls"}},
	{"DO $$ BEGIN PERFORM pg_advisory_xact_lock(1); EXECUTE 'DELETE FROM ' || 'seats'; END $$", []string{"DO writes"}},
	{"DO $$ BEGIN PERFORM pg_advisory_xact_lock(1); EXECUTE 'DELETE FROM seats'; END $$", []string{"DO writes"}},
	{"DO $$ BEGIN PERFORM pg_advisory_xact_lock(1); CALL work(); END $$", []string{"DO writes"}},
	{"SELECT pg_advisory_xact_lock(61); ALTER TABLE seats ADD COLUMN c int;", []string{"SELECT", "ALTER writes"}},
	{"SELECT pg_advisory_xact_lock(61); SELECT label FROM seats", []string{"SELECT", "SELECT columns"}},

	// Verbs.
	{"( SELECT 1 )", []string{"SELECT"}},
	{"((SELECT 1) UNION SELECT 2)", []string{"SELECT"}},
	{"WITH a AS (SELECT 1), b AS (SELECT 2) UPDATE seats SET free = true", []string{"UPDATE writes"}},
	{"WITH a AS (SELECT 1) MERGE INTO log USING a ON true WHEN MATCHED THEN DELETE", []string{"MERGE writes"}},
	{"EXPLAIN ANALYZE UPDATE seats SET free = true", []string{"UPDATE writes columns"}},
	{"EXPLAIN UPDATE seats SET free = true", []string{"EXPLAIN"}},
	{"CALL work()", []string{"CALL writes"}},
	{"SHOW lock_timeout", []string{"SHOW"}},
	{"CREATE INDEX ON seats (label)", []string{"CREATE writes"}},
	{"LOCK TABLE seats IN SHARE MODE", []string{"LOCK"}},
	{"TRUNCATE seats", []string{"TRUNCATE writes"}},
	{"NOTIFY x", []string{"NOTIFY writes"}},
	{"COPY (SELECT 1) TO STDOUT", []string{"COPY"}},
	{"COPY seats (id) TO STDOUT", []string{"COPY"}},
	{"SELECT replace('a', 'b', 'c'), left('a', 1)", []string{"SELECT"}},
	{"SELECT date '2020-01-01', interval '1 day', current_date, now() AT TIME ZONE 'UTC', 1::numeric(10, 2)", []string{"SELECT columns"}},

	// Transactions.
	{"BEGIN", []string{"BEGIN {begin}"}},
	{"begin work; SELECT pg_advisory_xact_lock(1); COMMIT", []string{"BEGIN {begin}", "SELECT", "COMMIT {commit}"}},
	{"BEGIN ISOLATION LEVEL REPEATABLE READ", []string{"BEGIN {begin}"}},
	{"BEGIN READ ONLY", []string{"BEGIN {begin}"}},
	{"BEGIN NOT DEFERRABLE", []string{"BEGIN {begin}"}},
	{"START TRANSACTION", []string{"START {begin}"}},
	{"END", []string{"END {commit}"}},
	{"COMMIT AND CHAIN", []string{"COMMIT {commit}"}},
	{"ROLLBACK", []string{"ROLLBACK {rollback}"}},
	{"ABORT", []string{"ABORT {rollback}"}},
	{"SAVEPOINT s; ROLLBACK TO s; ROLLBACK WORK TO SAVEPOINT s; RELEASE SAVEPOINT s",
		[]string{"SAVEPOINT {savepoint}", "ROLLBACK {rollback to}", "ROLLBACK {rollback to}", "RELEASE {release}"}},
}

func TestStatements(t *testing.T) {
	for _, tt := range statements {
		t.Run(tt.sql, func(t *testing.T) { checkFacts(t, tt.sql, tt.want) })
	}
}

func checkFacts(t *testing.T, sql string, want []string) {
	t.Helper()
	var got []string
	for _, st := range sqltext.Parse(sql) {
		got = append(got, facts(st))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestStatementsElsewhere(t *testing.T) {
	for _, tt := range []struct {
		sql  string
		want []string
	}{
		// They need what a test's server does not have: settings, prepared statements and transactions.
		{"PREPARE TRANSACTION 'x'", []string{"PREPARE {commit}"}},
		{"COMMIT PREPARED 'x'", []string{"COMMIT writes"}},
		{"ROLLBACK PREPARED 'x'", []string{"ROLLBACK writes"}},
		{"PREPARE s AS SELECT 1", []string{"PREPARE"}},
		{"EXECUTE s(1)", []string{"EXECUTE writes"}},
		{"DO LANGUAGE plpython3u 'plpy.commit()'", []string{"DO writes"}},

		// Other servers.
		{"BEGIN IMMEDIATE", []string{"BEGIN {begin}"}},
		{"START REPLICA", []string{"START writes"}},
		{"SAVE x", []string{"SAVE writes"}},
		{"COPY seats FROM STDIN", []string{"COPY writes"}},
		{"FETCH ALL FROM c", []string{"FETCH"}},
		{"UPDATE " + hole + " SET " + hole, []string{"UPDATE writes"}},
		{"SELECT GET_LOCK('a', 1)", []string{"SELECT"}},
		{"DO GET_LOCK('a', 1)", []string{"DO"}},
		{"DO SLEEP(1)", []string{"DO calls"}},
		{"REPLACE INTO t VALUES (1)", []string{"REPLACE writes"}},
		{"EXECUTE sp_getapplock 'a', 'Exclusive'", []string{"EXEC"}},
		{"sp_releaseapplock 'a'", []string{"EXEC"}},
		{"{call sp_releaseapplock('a')}", []string{"CALL"}},
		{"SELECT TOP (1) id FROM t", []string{"SELECT columns"}},

		// Holes.
		{hole, []string{" writes open"}},
		{hole + " x", []string{" writes open"}},
		{hole + "SELECT 1", []string{"SELECT open"}},
		{"SELECT 1 " + hole, []string{"SELECT columns open"}},
		{"SELECT pg_advisory_xact_lock(" + hole + ")", []string{"SELECT"}},
		{"SELECT pg_advisory_xact_lock(id) FROM " + hole + " WHERE id = " + hole + " AND x = '" + hole + "' LIMIT " + hole, []string{"SELECT"}},
		{"SELECT pg_advisory_xact_lock(id) FROM t_" + hole + " WHERE a", []string{"SELECT"}},
		{"SELECT pg_advisory_xact_lock(id) FROM t" + hole, []string{"SELECT open"}},
		{"SELECT pg_advisory_xact_lock(id) FROM t WHERE id IN (" + hole + ")" + hole, []string{"SELECT open"}},
		{"SELECT pg_advisory_xact_lock(id) FROM t WHERE id = $1 " + hole, []string{"SELECT open"}},
		{"SELECT " + hole + " FROM pg_advisory_xact_lock(1)", []string{"SELECT columns"}},
		{"DO $$ " + hole + " $$", []string{"DO writes open"}},
		{"DO " + hole, []string{"DO writes"}},

		// No SQL.
		{"is waiting", []string{"IS writes"}},
		{"'text'", []string{" writes"}},
	} {
		t.Run(tt.sql, func(t *testing.T) { checkFacts(t, tt.sql, tt.want) })
	}
}

func TestStatementBytes(t *testing.T) {
	const sql = " SELECT 1 ;\n-- second\nSELECT pg_catalog.\"pg_advisory_lock\"(2) -- end\n"
	want := []string{"SELECT 1", `SELECT pg_catalog."pg_advisory_lock"(2)`}
	sts := sqltext.Parse(sql)
	var got []string
	for _, st := range sts {
		got = append(got, sql[st.Pos:st.End])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("(-want +got)\n%s", diff)
	}
	if c := sts[1].Calls[0]; sql[c.Pos:c.End] != `"pg_advisory_lock"` {
		t.Errorf("the call's name is at %q", sql[c.Pos:c.End])
	}
}

func TestCallBytesInBodies(t *testing.T) {
	for _, tt := range []struct {
		sql string
		at  bool // whether bytes of the text and of the body correspond
	}{
		{"DO $x$ BEGIN PERFORM pg_advisory_lock(1); END $x$", true},
		{"DO 'BEGIN PERFORM pg_advisory_lock(1); END'", true},
		{"DO 'BEGIN PERFORM pg_advisory_lock(hashtext(''a'')); END'", false},
		{`DO E'BEGIN\nPERFORM pg_advisory_lock(1); END'`, false},
		{"DO $x$ BEGIN EXECUTE 'SELECT pg_advisory_lock(1)'; END $x$", true},
		{"DO 'BEGIN EXECUTE ''SELECT pg_advisory_lock(1)''; END'", false},
	} {
		c := sqltext.Parse(tt.sql)[0].Calls[0]
		switch {
		case !tt.at && (c.Pos != -1 || c.End != -1):
			t.Errorf("%s: the name is at [%d:%d], want none", tt.sql, c.Pos, c.End)
		case tt.at && (c.Pos < 0 || tt.sql[c.Pos:c.End] != "pg_advisory_lock"):
			t.Errorf("%s: the name is at [%d:%d]", tt.sql, c.Pos, c.End)
		}
	}
}
