package sqltext_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pgadvisory/pgadvisory/analyzer/internal/sqltext"
)

const hole = sqltext.Hole

// name renders a call as function(arguments).
func name(c sqltext.Call) string {
	if c.NameOnly {
		return c.Func.Name
	}
	return c.Func.Name + "(" + strings.Join(c.Args, ", ") + ")"
}

// names renders all calls of a text, statement by statement.
func names(text string) []string {
	var all []string
	for _, st := range sqltext.Parse(text) {
		for _, c := range st.Calls {
			all = append(all, name(c))
		}
	}
	return all
}

// found are texts with calls in them. They are valid for PostgreSQL 15, but for those which end in its dialect's name.
var found = []struct {
	sql  string
	want []string
}{
	{"SELECT pg_advisory_lock(1)", []string{"pg_advisory_lock(1)"}},
	{"select pg_advisory_xact_lock($1);", []string{"pg_advisory_xact_lock($1)"}},
	{"SELECT PG_TRY_ADVISORY_LOCK(1)", []string{"pg_try_advisory_lock(1)"}},
	{"SeLeCt Pg_Advisory_Unlock_All ( )", []string{"pg_advisory_unlock_all()"}},
	{"SELECT pg_advisory_lock_shared(1, 2)", []string{"pg_advisory_lock_shared(1, 2)"}},
	{"SELECT pg_advisory_xact_lock_shared(1), pg_try_advisory_lock_shared(2), pg_try_advisory_xact_lock(3), " +
		"pg_try_advisory_xact_lock_shared(4), pg_advisory_unlock(2), pg_advisory_unlock_shared(2)",
		[]string{
			"pg_advisory_xact_lock_shared(1)", "pg_try_advisory_lock_shared(2)", "pg_try_advisory_xact_lock(3)",
			"pg_try_advisory_xact_lock_shared(4)", "pg_advisory_unlock(2)", "pg_advisory_unlock_shared(2)",
		}},

	// White space, comments, hints.
	{"\n\tSELECT\n\t\tpg_advisory_lock\n\t\t(\n\t\t\t1\n\t\t)\n", []string{"pg_advisory_lock(1)"}},
	{"-- name: LockRoute :exec\nSELECT pg_advisory_lock($1)\n", []string{"pg_advisory_lock($1)"}},
	{"SELECT /*+ SeqScan(t) */ pg_advisory_lock/* a /* nested */ comment */(1 -- one\n)", []string{"pg_advisory_lock(1)"}},
	{"/* SELECT 1; */ SELECT pg_advisory_lock(1) -- SELECT pg_advisory_lock(2)", []string{"pg_advisory_lock(1)"}},
	{"SELECT pg_advisory_lock(1) /* never closed? yes: */", []string{"pg_advisory_lock(1)"}},

	// Schemas and quotes.
	{"SELECT pg_catalog.pg_advisory_lock(1)", []string{"pg_advisory_lock(1)"}},
	{"SELECT PG_CATALOG . pg_advisory_lock (1)", []string{"pg_advisory_lock(1)"}},
	{`SELECT "pg_advisory_lock"(1)`, []string{"pg_advisory_lock(1)"}},
	{`SELECT "pg_catalog"."pg_advisory_lock"(1), pg_catalog."pg_advisory_unlock"(1)`, []string{"pg_advisory_lock(1)", "pg_advisory_unlock(1)"}},

	// Literals around and inside.
	{"SELECT pg_advisory_lock(hashtext('it''s; pg_advisory_lock(2)'))", []string{"pg_advisory_lock(hashtext('it''s; pg_advisory_lock(2)'))"}},
	{`SELECT 'a\', pg_advisory_lock(1)`, []string{"pg_advisory_lock(1)"}},
	{`SELECT E'a\', pg_advisory_lock(2), ', pg_advisory_lock(1)`, []string{"pg_advisory_lock(1)"}},
	{"SELECT $$ ' $$, pg_advisory_lock(1), $a$ $$ $b$ $a$", []string{"pg_advisory_lock(1)"}},
	{"SELECT pg_advisory_lock($1),$2::text", []string{"pg_advisory_lock($1)"}},
	{`SELECT "a""b('"."c", pg_advisory_lock(1) FROM (SELECT 1 AS c) AS "a""b('"`, []string{"pg_advisory_lock(1)"}},

	// Where statements hold calls.
	{"SELECT 1; SELECT pg_advisory_lock(1);; SELECT pg_advisory_unlock(1)", []string{"pg_advisory_lock(1)", "pg_advisory_unlock(1)"}},
	{"SELECT 1 FROM pg_advisory_lock(1)", []string{"pg_advisory_lock(1)"}},
	{"SELECT 1 FROM seats s, LATERAL pg_try_advisory_lock(s.id) l WHERE l", []string{"pg_try_advisory_lock(s.id)"}},
	{"SELECT 1 FROM ROWS FROM (pg_try_advisory_lock(1), pg_try_advisory_lock(2)) AS l(a, b)",
		[]string{"pg_try_advisory_lock(1)", "pg_try_advisory_lock(2)"}},
	{"SELECT id FROM seats WHERE pg_try_advisory_xact_lock(id)", []string{"pg_try_advisory_xact_lock(id)"}},
	{"SELECT s.id FROM seats s JOIN seats t ON t.id = s.id AND pg_try_advisory_lock(t.id)", []string{"pg_try_advisory_lock(t.id)"}},
	{"SELECT count(*) FROM seats HAVING bool_and(pg_try_advisory_lock(1))", []string{"pg_try_advisory_lock(1)"}},
	{"SELECT id FROM seats ORDER BY pg_try_advisory_lock(id)", []string{"pg_try_advisory_lock(id)"}},
	{"SELECT CASE WHEN id > 1 THEN pg_try_advisory_lock(id) END FROM seats", []string{"pg_try_advisory_lock(id)"}},
	{"SELECT ARRAY[pg_try_advisory_lock(1)], (ARRAY[1,2])[pg_try_advisory_lock(2)::int]",
		[]string{"pg_try_advisory_lock(1)", "pg_try_advisory_lock(2)"}},
	{"SELECT (SELECT (SELECT pg_try_advisory_lock(1)))", []string{"pg_try_advisory_lock(1)"}},
	{"SELECT pg_try_advisory_lock((SELECT id FROM seats WHERE pg_try_advisory_lock(2) LIMIT 1))",
		[]string{"pg_try_advisory_lock((select id from seats where pg_try_advisory_lock(2) limit 1))", "pg_try_advisory_lock(2)"}},
	{"WITH l AS (SELECT pg_advisory_xact_lock(1)) SELECT 1 FROM l", []string{"pg_advisory_xact_lock(1)"}},
	{"WITH l(x) AS NOT MATERIALIZED (SELECT pg_advisory_xact_lock(1)), m AS (SELECT * FROM l) SELECT 1 FROM m",
		[]string{"pg_advisory_xact_lock(1)"}},
	{"WITH gone AS (DELETE FROM seats WHERE pg_try_advisory_xact_lock(id) RETURNING id) SELECT 1",
		[]string{"pg_try_advisory_xact_lock(id)"}},
	{"SELECT pg_try_advisory_lock(1) UNION ALL (SELECT pg_try_advisory_lock(2)) EXCEPT SELECT pg_try_advisory_lock(3)",
		[]string{"pg_try_advisory_lock(1)", "pg_try_advisory_lock(2)", "pg_try_advisory_lock(3)"}},
	{"(SELECT pg_try_advisory_lock(1)) UNION (SELECT true) ORDER BY 1", []string{"pg_try_advisory_lock(1)"}},
	{"VALUES (pg_try_advisory_lock(1)), (pg_try_advisory_lock(2))", []string{"pg_try_advisory_lock(1)", "pg_try_advisory_lock(2)"}},
	{"INSERT INTO log (ok) VALUES (pg_try_advisory_lock(1)) ON CONFLICT DO NOTHING RETURNING pg_advisory_unlock(1)",
		[]string{"pg_try_advisory_lock(1)", "pg_advisory_unlock(1)"}},
	{"INSERT INTO log SELECT true WHERE pg_try_advisory_lock(1)", []string{"pg_try_advisory_lock(1)"}},
	{"INSERT INTO log WITH l AS (SELECT pg_try_advisory_lock(1) ok) SELECT ok FROM l", []string{"pg_try_advisory_lock(1)"}},
	{"UPDATE seats SET free = pg_try_advisory_lock(id) FROM log WHERE pg_try_advisory_lock(2)",
		[]string{"pg_try_advisory_lock(id)", "pg_try_advisory_lock(2)"}},
	{"DELETE FROM seats USING pg_try_advisory_lock(1) l WHERE l", []string{"pg_try_advisory_lock(1)"}},
	{"MERGE INTO seats s USING (SELECT 1 AS id WHERE pg_try_advisory_lock(1)) n ON n.id = s.id AND pg_try_advisory_lock(2) " +
		"WHEN MATCHED AND pg_try_advisory_lock(3) THEN UPDATE SET free = pg_try_advisory_lock(4)",
		[]string{"pg_try_advisory_lock(1)", "pg_try_advisory_lock(2)", "pg_try_advisory_lock(3)", "pg_try_advisory_lock(4)"}},
	{"CREATE TABLE made AS SELECT pg_try_advisory_lock(1) AS ok", []string{"pg_try_advisory_lock(1)"}},
	{"CREATE TEMP TABLE IF NOT EXISTS made (ok) ON COMMIT DROP AS (SELECT pg_try_advisory_lock(1))", []string{"pg_try_advisory_lock(1)"}},
	{"CREATE MATERIALIZED VIEW made AS SELECT pg_try_advisory_lock(1) AS ok", []string{"pg_try_advisory_lock(1)"}},
	{"EXPLAIN ANALYZE SELECT pg_advisory_lock(1)", []string{"pg_advisory_lock(1)"}},
	{"EXPLAIN (COSTS off, ANALYZE) SELECT pg_advisory_lock(1)", []string{"pg_advisory_lock(1)"}},
	{"COPY (SELECT pg_advisory_lock(1)) TO STDOUT", []string{"pg_advisory_lock(1)"}},
	{"DECLARE c CURSOR FOR SELECT pg_advisory_lock(1)", []string{"pg_advisory_lock(1)"}},
	{"CREATE FUNCTION f1() RETURNS void LANGUAGE sql BEGIN ATOMIC SELECT pg_advisory_lock(1); SELECT CASE WHEN true THEN 1 END; END; " +
		"SELECT pg_advisory_lock(2)", []string{"pg_advisory_lock(2)"}},

	// Blocks.
	{"DO $$ BEGIN PERFORM pg_advisory_lock(1); END $$", []string{"pg_advisory_lock(1)"}},
	{"DO LANGUAGE plpgsql 'BEGIN PERFORM pg_advisory_lock(hashtext(''x'')); END'", []string{"pg_advisory_lock(hashtext('x'))"}},
	{`DO E'BEGIN\n PERFORM pg_advisory_lock(hashtext(\'x\')); END'`, []string{"pg_advisory_lock(hashtext('x'))"}},
	{`DO $do$
		DECLARE
			ok boolean := pg_try_advisory_lock(1);
			r record;
			n int[];
		BEGIN
			<<rows>>
			FOR r IN SELECT id FROM seats WHERE pg_try_advisory_lock(id) LOOP
				IF NOT pg_try_advisory_lock(2) THEN CONTINUE rows; ELSIF pg_try_advisory_lock(3) THEN NULL; ELSE PERFORM pg_advisory_lock(4); END IF;
				CASE WHEN pg_try_advisory_lock(5) THEN ok := pg_try_advisory_lock(6); ELSE NULL; END CASE;
				SELECT CASE WHEN ok THEN 1 ELSE 2 END, pg_try_advisory_lock(7) INTO r;
				EXIT rows WHEN pg_try_advisory_lock(8);
			END LOOP;
			n[1] := pg_try_advisory_lock(13)::int;
			FOR i IN 1..3 LOOP PERFORM pg_advisory_lock(i); END LOOP;
			WHILE pg_try_advisory_lock(9) LOOP EXIT; END LOOP;
			BEGIN
				EXECUTE 'SELECT pg_advisory_lock(10)';
				EXECUTE format('SELECT pg_advisory_lock(%s)', 11);
			EXCEPTION WHEN others THEN
				RAISE NOTICE 'got %', pg_try_advisory_lock(12);
			END;
		END $do$`,
		[]string{
			"pg_try_advisory_lock(1)", "pg_try_advisory_lock(id)", "pg_try_advisory_lock(2)", "pg_try_advisory_lock(3)",
			"pg_advisory_lock(4)", "pg_try_advisory_lock(5)", "pg_try_advisory_lock(6)", "pg_try_advisory_lock(7)",
			"pg_try_advisory_lock(8)", "pg_try_advisory_lock(13)", "pg_advisory_lock(i)", "pg_try_advisory_lock(9)", "pg_advisory_lock(10)",
			"pg_advisory_lock(%s)", "pg_try_advisory_lock(12)",
		}},
	{"DO $a$ BEGIN EXECUTE $b$ DO $c$ BEGIN PERFORM pg_advisory_lock(1); END $c$ $b$; END $a$", []string{"pg_advisory_lock(1)"}},
}

func TestParseFindsCalls(t *testing.T) {
	for _, tt := range found {
		if diff := cmp.Diff(tt.want, names(tt.sql)); diff != "" {
			t.Errorf("%s\n(-want +got)\n%s", tt.sql, diff)
		}
	}
}

// foundElsewhere are texts with calls which are no SQL that PostgreSQL takes as it is.
var foundElsewhere = []struct {
	sql  string
	want []string
}{
	// Other ways to write parameters.
	{"SELECT pg_advisory_lock(?), pg_advisory_lock(?0), pg_advisory_lock(:key), pg_advisory_lock(@Key), pg_advisory_lock(%d), pg_advisory_lock({:key})",
		[]string{"pg_advisory_lock(?)", "pg_advisory_lock(?0)", "pg_advisory_lock(:key)", "pg_advisory_lock(@Key)", "pg_advisory_lock(%d)", "pg_advisory_lock({:key})"}},
	{"SELECT pg_advisory_lock(key => 1)", []string{"pg_advisory_lock(1)"}},

	// Holes.
	{"SELECT pg_advisory_lock(" + hole + ")", []string{"pg_advisory_lock(" + hole + ")"}},
	{"SELECT pg_advisory_lock(hashtext('" + hole + "'))", []string{"pg_advisory_lock(hashtext('" + hole + "'))"}},
	{"SELECT pg_advisory_lock(1" + hole + ", " + hole + "+2)", []string{"pg_advisory_lock(1" + hole + ", " + hole + "+2)"}},
	{hole + "SELECT pg_advisory_lock(1)", []string{"pg_advisory_lock(1)"}},
	{hole + " pg_advisory_lock(1)", []string{"pg_advisory_lock(1)"}},
	{"SELECT " + hole + ", pg_advisory_lock(1) FROM " + hole, []string{"pg_advisory_lock(1)"}},
	{"WITH l AS (SELECT pg_advisory_lock(1)) " + hole, []string{"pg_advisory_lock(1)"}},
	{"SELECT pg_advisory_lock(1)" + hole, []string{"pg_advisory_lock(1)"}},

	// Ends too early.
	{"SELECT pg_advisory_lock(1", []string{"pg_advisory_lock(1)"}},
	{"SELECT pg_advisory_lock(", []string{"pg_advisory_lock()"}},
	{"SELECT pg_advisory_lock('a", []string{"pg_advisory_lock('a')"}},
	{"DO $$ BEGIN PERFORM pg_advisory_lock(1)", []string{"pg_advisory_lock(1)"}},

	// MySQL.
	{"SELECT GET_LOCK('backup', 60)", []string{"GET_LOCK('backup', 60)"}},
	{"select release_lock(?)", []string{"RELEASE_LOCK(?)"}},
	{"SELECT RELEASE_ALL_LOCKS()", []string{"RELEASE_ALL_LOCKS()"}},
	{"DO RELEASE_LOCK('a'), RELEASE_LOCK('b')", []string{"RELEASE_LOCK('a')", "RELEASE_LOCK('b')"}},
	{"SET @ok = GET_LOCK('a', 1)", []string{"GET_LOCK('a', 1)"}},
	{"SELECT `id`, GET_LOCK(\"it's\", 0), 'it\\'s' FROM `t` # GET_LOCK('b', 0)", []string{"GET_LOCK('it''s', 0)"}},
	{"SELECT /* /* */ GET_LOCK('a', 1)", []string{"GET_LOCK('a', 1)"}},
	{"SELECT IF(GET_LOCK(CONCAT(DATABASE(), '.x'), 5) = 1, 'ok', 'no')", []string{"GET_LOCK(concat(database(),'.x'), 5)"}},
}

func TestParseFindsCallsElsewhere(t *testing.T) {
	for _, tt := range foundElsewhere {
		if diff := cmp.Diff(tt.want, names(tt.sql)); diff != "" {
			t.Errorf("%s\n(-want +got)\n%s", tt.sql, diff)
		}
	}
}

// notRun are texts, valid for PostgreSQL 15, which name lock functions but call none of the server's own.
var notRun = []string{
	"",
	" ; ;",
	"-- SELECT pg_advisory_lock(1)",
	"/* SELECT pg_advisory_lock(1) */",
	"SELECT 'pg_advisory_lock(1)', $$pg_advisory_lock(2)$$, $q$ it's pg_advisory_lock(3) $q$, E'\\'pg_advisory_lock(4)'",
	"SELECT 'SELECT pg_advisory_lock(1)' AS \"pg_advisory_lock(2)\"",
	"SELECT U&'pg_advisory_lock(1)', N'pg_advisory_lock(2)'",
	"SELECT id FROM jobs WHERE note = 'pg_advisory_lock(1)'",
	"SELECT pg_advisory_lock FROM (SELECT 1 AS pg_advisory_lock) t",
	"SELECT * FROM pg_proc WHERE proname = 'pg_advisory_lock'",
	"SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'",
	`SELECT myapp.pg_advisory_lock(1), "myapp"."pg_advisory_lock"(2), "PG_ADVISORY_LOCK"(3)`,
	"SELECT public.pg_advisory_lock(1)",
	"SELECT my_pg_advisory_lock(1), pg_advisory_lock_my(1)",
	"WITH l AS (SELECT pg_advisory_xact_lock(1)) SELECT 1",
	"WITH l AS MATERIALIZED (SELECT pg_advisory_xact_lock(1)), m AS (SELECT * FROM l) SELECT 1",
	"WITH RECURSIVE l(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM l WHERE pg_try_advisory_lock(n)) SELECT 1",
	"CREATE OR REPLACE FUNCTION enter(job bigint) RETURNS void LANGUAGE sql AS 'SELECT pg_advisory_lock(job)'",
	"CREATE FUNCTION f2() RETURNS void LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_lock(1); PERFORM 2; END $$",
	"CREATE FUNCTION f3() RETURNS void LANGUAGE sql BEGIN ATOMIC SELECT pg_advisory_lock(1); SELECT pg_advisory_lock(2); END",
	"CREATE FUNCTION f4(a int) RETURNS boolean LANGUAGE sql RETURN pg_try_advisory_lock(a)",
	"CREATE PROCEDURE p1() LANGUAGE sql BEGIN ATOMIC SELECT pg_advisory_lock(1); END",
	"CREATE TRIGGER tr BEFORE INSERT ON seats FOR EACH ROW WHEN (pg_try_advisory_lock(1)) EXECUTE FUNCTION suppress_redundant_updates_trigger()",
	"CREATE RULE ru AS ON INSERT TO seats DO ALSO (SELECT pg_advisory_lock(1); SELECT pg_advisory_lock(2))",
	"CREATE VIEW vi AS SELECT pg_try_advisory_lock(1)",
	"CREATE MATERIALIZED VIEW mv AS SELECT pg_try_advisory_lock(1) AS ok WITH NO DATA",
	"CREATE TABLE ta (ok boolean DEFAULT pg_try_advisory_lock(1), CHECK (pg_try_advisory_lock(2)))",
	"ALTER TABLE seats ALTER free SET DEFAULT pg_try_advisory_lock(1)",
	"COMMENT ON TABLE seats IS 'SELECT pg_advisory_lock(1)'",
	"GRANT EXECUTE ON FUNCTION pg_advisory_lock(bigint) TO PUBLIC",
	"REVOKE EXECUTE ON FUNCTION pg_catalog.pg_advisory_lock(bigint) FROM PUBLIC",
	"PREPARE pr AS SELECT pg_advisory_lock($1)",
	"EXPLAIN SELECT pg_advisory_lock(1)",
	"EXPLAIN (COSTS off, ANALYZE false) SELECT pg_advisory_lock(1)",
	"EXPLAIN VERBOSE SELECT pg_advisory_lock(1)",
	"DO $$ BEGIN -- PERFORM pg_advisory_lock(1);\n RAISE NOTICE 'pg_advisory_lock(2)'; END $$",
	"SET app.note = 'pg_advisory_lock(1)'",
}

func TestParseLeavesOutWhatIsNotRun(t *testing.T) {
	for _, sql := range notRun {
		if got := names(sql); got != nil {
			t.Errorf("%s: found %q", sql, got)
		}
	}
}

// notCalled are texts of other kinds without a call.
var notCalled = []string{
	hole,
	"SELECT pg_" + hole + "lock(1)",
	"SELECT pg_advisory_lock" + hole + "(1)",
	"SELECT " + hole + "pg_advisory_lock(1)",
	"SELECT " + hole + ".pg_advisory_lock(1)",
	"SELECT pg_%s_lock(1), %s.pg_advisory_lock(1), pg_advisory_lock%s(1)",
	"SELECT pg_advisory_lock, (1)",
	"SELECT $",
	"SELECT pg_catalog.pg_" + hole + "advisory_lock(1)",
	"/* SELECT pg_advisory_lock(1)",
	"SELECT 'pg_advisory_lock(1)",
	"WITH l AS",
	"SELECT bool_and() = , CASE END WHERE AND a",
	"pg_advisory_lock(1) is waiting",
	"lock with pg_advisory_lock(1)",
	"DO LANGUAGE plpython3u 'plpy.execute(\"SELECT pg_advisory_lock(1)\")'",
	"SELECT app.GET_LOCK('a', 1), `GET_LOCK`('a', 1)",
	"SELECT IS_FREE_LOCK('a'), IS_USED_LOCK('a') # GET_LOCK",
	"CREATE PROCEDURE p() BEGIN DO GET_LOCK('a', 1); IF 1 THEN DO RELEASE_LOCK('a'); END IF; END",
	"CREATE TRIGGER t BEFORE INSERT ON x FOR EACH ROW BEGIN DO GET_LOCK('a', 1); DO RELEASE_LOCK('a'); END",
	"PREPARE s FROM 'SELECT GET_LOCK(?, 1)'",
}

func TestParseWithoutCalls(t *testing.T) {
	for _, sql := range notCalled {
		if got := names(sql); got != nil {
			t.Errorf("%q: found %q", sql, got)
		}
	}
}
