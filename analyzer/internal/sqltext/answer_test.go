package sqltext_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pgadvisory/pgadvisory/analyzer/internal/sqltext"
)

// fate renders where a call stands and what becomes of its answer: "SELECT returned 0", "WHERE filters not".
func fate(c sqltext.Call) string {
	s := fmt.Sprintf("%v %v", c.Place, c.Answer)
	if c.Answer == sqltext.Returned {
		s += fmt.Sprintf(" %d", c.Column)
	}
	if c.Negated {
		s += " not"
	}
	return s
}

// answers are valid for PostgreSQL 15.
var answers = []struct {
	sql  string
	want []string // of each call
}{
	// The caller gets it.
	{"SELECT pg_try_advisory_lock($1)", []string{"SELECT returned 0"}},
	{"SELECT 1, pg_try_advisory_lock(1) AS ok, pg_try_advisory_lock(2) got", []string{"SELECT returned 1", "SELECT returned 2"}},
	{"SELECT seats.*, pg_try_advisory_lock(id) FROM seats", []string{"SELECT returned -1"}},
	{"SELECT (pg_try_advisory_lock(1))::int::text", []string{"SELECT returned 0"}},
	{"SELECT CAST(pg_try_advisory_lock(1) AS int)", []string{"SELECT returned 0"}},
	{"SELECT pg_try_advisory_lock(1) = true, pg_try_advisory_lock(2) IS NOT FALSE, pg_try_advisory_lock(3) <> false",
		[]string{"SELECT returned 0", "SELECT returned 1", "SELECT returned 2"}},
	{"SELECT NOT pg_try_advisory_lock(1), pg_try_advisory_lock(2) IS NOT TRUE, NOT (pg_try_advisory_lock(3) = false)",
		[]string{"SELECT returned 0 not", "SELECT returned 1 not", "SELECT returned 2"}},
	{"SELECT coalesce(pg_try_advisory_lock(NULL), false)", []string{"SELECT returned 0"}},
	{"SELECT CASE WHEN pg_try_advisory_lock(1) THEN 1 ELSE -1 END", []string{"SELECT returned 0"}},
	{"SELECT bool_and(DISTINCT pg_try_advisory_lock(id)), array_agg(pg_try_advisory_lock(id) ORDER BY id) FROM seats",
		[]string{"SELECT returned 0", "SELECT returned 1"}},
	{"SELECT DISTINCT ON (id) pg_try_advisory_lock(id) FROM seats", []string{"SELECT returned 0"}},
	{"SELECT (SELECT pg_try_advisory_lock(1))", []string{"SELECT returned 0"}},
	{"SELECT pg_try_advisory_lock(1) UNION ALL SELECT pg_try_advisory_lock(2)", []string{"SELECT returned 0", "SELECT returned 0"}},
	{"VALUES (1, pg_try_advisory_lock(1)), (2, pg_try_advisory_lock(2))", []string{"SELECT returned 1", "SELECT returned 1"}},
	{"UPDATE seats SET free = false WHERE id = 1 RETURNING id, pg_try_advisory_lock(id)", []string{"SELECT returned 1"}},
	{"SELECT * FROM pg_try_advisory_lock(1)", []string{"FROM returned 0"}},
	{"SELECT l.* FROM pg_try_advisory_lock(1) AS l(ok)", []string{"FROM returned 0"}},
	{"SELECT l FROM pg_try_advisory_lock(1) l", []string{"FROM returned 0"}},
	{"SELECT 1, pg_try_advisory_lock FROM pg_try_advisory_lock(1)", []string{"FROM returned 1"}},
	{"SELECT NOT ok FROM pg_try_advisory_lock(1) AS l(ok)", []string{"FROM returned 0 not"}},
	{"SELECT seats.id, ok FROM seats CROSS JOIN LATERAL pg_try_advisory_lock(seats.id) AS ok", []string{"FROM returned 1"}},
	{"SELECT id, ok FROM (SELECT id, NOT pg_try_advisory_lock(id) FROM seats) s(id, ok)", []string{"SELECT returned 1 not"}},
	{"SELECT * FROM (SELECT pg_try_advisory_lock(1)) s", []string{"SELECT returned 0"}},
	{"WITH l AS (SELECT pg_try_advisory_lock(1) AS ok) SELECT l.ok FROM l", []string{"SELECT returned 0"}},
	{"WITH l AS (SELECT pg_try_advisory_lock(1)), m(ok) AS (SELECT * FROM l) SELECT 7, ok FROM m", []string{"SELECT returned 1"}},
	{"WITH RECURSIVE r(n,ok) AS (SELECT 0,true UNION ALL SELECT n+1,pg_try_advisory_xact_lock(($1::bigint[])[n+1]) FROM r " +
		"WHERE ok AND n<cardinality($1::bigint[])) SELECT bool_and(ok) FROM r", []string{"SELECT returned 0"}},

	// It decides whether there is a row.
	{"SELECT 1 WHERE pg_try_advisory_lock($1)", []string{"WHERE filters"}},
	{"SELECT 1 WHERE NOT pg_try_advisory_lock(1)", []string{"WHERE filters not"}},
	{"SELECT id FROM seats WHERE id = $1 AND (free AND pg_try_advisory_lock(id)) AND row BETWEEN 1 AND 3", []string{"WHERE filters"}},
	{"SELECT got FROM pg_try_advisory_xact_lock($1) AS got WHERE got", []string{"FROM filters"}},
	{"SELECT 1 FROM pg_try_advisory_lock(1) AS l(got) WHERE l.got IS TRUE", []string{"FROM filters"}},
	{"SELECT 1 FROM pg_try_advisory_lock(1) WHERE NOT pg_try_advisory_lock", []string{"FROM filters not"}},
	{"SELECT 1 FROM ROWS FROM (pg_try_advisory_lock(1), pg_try_advisory_lock(2)) AS l(a, b) WHERE a AND NOT b",
		[]string{"FROM filters", "FROM filters not"}},
	{"SELECT 1 FROM (SELECT pg_try_advisory_xact_lock(42) AS ok OFFSET 0) q WHERE ok", []string{"SELECT filters"}},
	{"SELECT 1 FROM (SELECT pg_try_advisory_lock(1)) q WHERE pg_try_advisory_lock = true", []string{"SELECT filters"}},
	{"SELECT s.id FROM seats s JOIN LATERAL pg_try_advisory_lock(s.id) l ON l", []string{"FROM filters"}},
	{"SELECT s.id FROM seats s JOIN log ON pg_try_advisory_lock(s.id)", []string{"ON filters"}},
	{"SELECT 1 WHERE (SELECT pg_try_advisory_lock(1))", []string{"SELECT filters"}},
	{"SELECT count(*) FROM seats HAVING bool_or(pg_try_advisory_lock(1))", []string{"WHERE filters"}},
	{"WITH l AS (SELECT id, pg_try_advisory_lock(id) AS ok FROM seats) SELECT id FROM l WHERE ok LIMIT 1", []string{"SELECT filters"}},
	{`WITH RECURSIVE walk AS (
		SELECT (j).*, pg_try_advisory_lock((j).id) AS locked
		FROM (SELECT j FROM jobs AS j WHERE queue = $1 AND asked_at <= now() ORDER BY asked_at, id LIMIT 1) AS t1
		UNION ALL (
			SELECT (j).*, pg_try_advisory_lock((j).id) AS locked
			FROM (
				SELECT (
					SELECT j FROM jobs AS j WHERE queue = $1 AND asked_at <= now() AND (asked_at, id) > (walk.asked_at, walk.id)
					ORDER BY asked_at, id LIMIT 1
				) AS j
				FROM walk WHERE walk.id IS NOT NULL LIMIT 1
			) AS t1
		)
	) SELECT id, queue, note FROM walk WHERE locked LIMIT 1`, []string{"SELECT filters", "SELECT filters"}},

	// The SQL uses it, or may.
	{"SELECT CASE WHEN pg_try_advisory_lock(1) THEN do_work() END", []string{"SELECT consumed"}},
	{"SELECT coalesce(pg_try_advisory_lock(id), free), CASE id WHEN 1 THEN pg_try_advisory_lock(1) END FROM seats",
		[]string{"SELECT consumed", "SELECT consumed"}},
	{"SELECT coalesce(pg_try_advisory_lock(1), NULL::boolean)", []string{"SELECT returned 0"}},
	{"SELECT CASE WHEN free THEN pg_try_advisory_lock(id) END FROM seats", []string{"SELECT consumed"}},
	{"SELECT 1 / pg_try_advisory_lock(1)::int", []string{"SELECT consumed"}},
	{"SELECT pg_try_advisory_lock(1) AND pg_try_advisory_lock(2)", []string{"SELECT consumed", "SELECT consumed"}},
	{"SELECT EXISTS (SELECT 1 WHERE pg_try_advisory_lock(1))", []string{"WHERE consumed"}},
	{"SELECT count(*) FROM (SELECT 1 WHERE pg_try_advisory_lock(1)) q", []string{"WHERE consumed"}},
	{"SELECT id FROM seats WHERE free OR pg_try_advisory_lock(id)", []string{"WHERE consumed"}},
	{"SELECT id FROM seats WHERE true = ANY (SELECT pg_try_advisory_lock(1))", []string{"SELECT consumed"}},
	{"SELECT ok, ok AND do_work() > 0 FROM (SELECT pg_try_advisory_lock(1) AS ok) q", []string{"SELECT consumed"}},
	{"SELECT id FROM seats ORDER BY pg_try_advisory_lock(id)", []string{"other consumed"}},
	{"INSERT INTO log SELECT true WHERE pg_try_advisory_xact_lock(5)", []string{"WHERE consumed"}},
	{"INSERT INTO log SELECT pg_try_advisory_xact_lock(5)", []string{"SELECT consumed"}},
	{"INSERT INTO log VALUES (pg_try_advisory_lock(1))", []string{"SELECT consumed"}},
	{"UPDATE seats SET free = pg_try_advisory_lock(id) WHERE pg_try_advisory_lock(9)", []string{"other consumed", "WHERE consumed"}},
	{"DELETE FROM jobs WHERE id = (SELECT id FROM jobs WHERE pg_try_advisory_xact_lock(id) LIMIT 1) RETURNING *", []string{"WHERE consumed"}},
	{"WITH c AS (SELECT id FROM jobs WHERE pg_try_advisory_xact_lock(id) LIMIT 1) UPDATE jobs SET note = 'x' FROM c WHERE c.id = jobs.id",
		[]string{"WHERE consumed"}},
	{"WITH l AS (SELECT pg_try_advisory_lock(1) AS ok) SELECT 1 FROM l a JOIN l b ON a.ok", []string{"SELECT consumed"}},
	{"CREATE TABLE made AS SELECT pg_try_advisory_lock(1) AS ok", []string{"SELECT consumed"}},
	{"DO $$ BEGIN IF pg_try_advisory_xact_lock(1) THEN RAISE NOTICE 'x'; END IF; END $$", []string{"other consumed"}},
	{"DO $$ DECLARE ok boolean; BEGIN SELECT pg_try_advisory_lock(1) INTO ok; EXECUTE 'SELECT pg_try_advisory_lock(2)' INTO ok; END $$",
		[]string{"SELECT consumed", "SELECT consumed"}},
	{"DO $$ BEGIN PERFORM 1 WHERE pg_try_advisory_lock(4); IF NOT FOUND THEN RAISE NOTICE 'x'; END IF; END $$", []string{"WHERE consumed"}},

	// Nothing sees it.
	{"SELECT 1 FROM pg_try_advisory_lock(1)", []string{"FROM dropped"}},
	{"SELECT 1 FROM (SELECT pg_try_advisory_lock(1) AS ok) q", []string{"SELECT dropped"}},
	{"WITH l AS (SELECT pg_try_advisory_lock(1) AS ok) SELECT count(*) FROM l", []string{"SELECT dropped"}},
	{"DO $$ BEGIN PERFORM pg_try_advisory_lock(1); EXECUTE 'SELECT pg_try_advisory_lock(2)'; END $$",
		[]string{"SELECT dropped", "SELECT dropped"}},
	{"EXPLAIN ANALYZE SELECT pg_try_advisory_lock(1)", []string{"SELECT dropped"}},
}

func TestAnswers(t *testing.T) {
	for _, tt := range answers {
		t.Run(tt.sql, func(t *testing.T) { checkFates(t, sqltext.Parse(tt.sql), tt.want) })
	}
}

func checkFates(t *testing.T, sts []sqltext.Statement, want []string) {
	t.Helper()
	var got []string
	for _, st := range sts {
		for _, c := range st.Calls {
			got = append(got, fate(c))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestAnswersElsewhere(t *testing.T) {
	for _, tt := range []struct {
		sql  string
		want []string
	}{
		{"SELECT GET_LOCK('a', 1)", []string{"SELECT returned 0"}},
		{"SELECT GET_LOCK('a', 1) = 1, GET_LOCK('a', 1) = 0", []string{"SELECT returned 0", "SELECT returned 1 not"}},
		{"SELECT IF(GET_LOCK('a', 1) = 1, 'yes', 'no'), IFNULL(GET_LOCK('a', 1), 0)", []string{"SELECT returned 0", "SELECT returned 1"}},
		{"SELECT GET_LOCK('a', 1) INTO @ok", []string{"SELECT consumed"}},
		{"SET @ok = GET_LOCK('a', 1)", []string{"other consumed"}},
		{"DO GET_LOCK('a', 1)", []string{"other dropped"}},
		{"SELECT DBMS_LOCK.REQUEST(1) FROM dual", []string{"SELECT returned 0"}},

		// What a hole may hold, may use the answer.
		{"SELECT 1 FROM pg_try_advisory_lock(1) AS ok " + hole, []string{"FROM consumed"}},
		{"SELECT " + hole + " FROM pg_try_advisory_lock(1) AS ok", []string{"FROM consumed"}},
		{"SELECT " + hole + ", pg_try_advisory_lock(1)", []string{"SELECT returned -1"}},
		{"SELECT ok FROM pg_try_advisory_lock(1) AS ok WHERE " + hole, []string{"FROM consumed"}},
		{"SELECT ok FROM pg_try_advisory_lock(1) AS ok, seats WHERE id = " + hole + " AND row IN (" + hole + ") LIMIT " + hole,
			[]string{"FROM returned 0"}},
		{"SELECT ok FROM pg_try_advisory_lock(" + hole + ") AS ok WHERE ok AND " + hole, []string{"FROM filters"}},
		{"WITH l AS (SELECT pg_try_advisory_lock(1) AS ok) SELECT ok FROM " + hole, []string{"SELECT consumed"}},
		{"WITH l AS (SELECT pg_try_advisory_lock(1) AS ok) SELECT 1 FROM " + hole, []string{"SELECT consumed"}},
		{"SELECT pg_try_advisory_lock(1) " + hole, []string{"SELECT consumed"}},
		{"SELECT pg_try_advisory_lock(" + hole + ") FROM " + hole + " WHERE id = " + hole, []string{"SELECT returned 0"}},
	} {
		t.Run(tt.sql, func(t *testing.T) { checkFates(t, sqltext.Parse(tt.sql), tt.want) })
	}
}
