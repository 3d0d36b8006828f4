package sqltext_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pgadvisory/pgadvisory/analyzer/internal/sqltext"
)

func TestParseExpr(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []string
	}{
		// A function's name alone.
		{"pg_advisory_xact_lock", []string{"pg_advisory_xact_lock: other returned -1"}},
		{" pg_catalog.PG_TRY_ADVISORY_LOCK ", []string{"pg_try_advisory_lock: other returned -1"}},
		{`"pg_advisory_lock"`, []string{"pg_advisory_lock: other returned -1"}},
		{"get_lock", []string{"GET_LOCK: other returned -1"}},
		{"myapp.pg_advisory_lock", nil},
		{"pg_advisory_lockx", nil},
		{"pg_advisory_lock" + hole, nil},

		// Select lists.
		{"pg_try_advisory_lock(?)", []string{"pg_try_advisory_lock(?): other returned 0"}},
		{"pg_try_advisory_lock(?) AS ok", []string{"pg_try_advisory_lock(?): other returned 0"}},
		{"id, pg_try_advisory_lock(id, 2)", []string{"pg_try_advisory_lock(id, 2): other returned 1"}},
		{"NOT pg_try_advisory_lock(?)", []string{"pg_try_advisory_lock(?): other returned 0 not"}},
		{"*, pg_try_advisory_lock(?)", []string{"pg_try_advisory_lock(?): other returned -1"}},
		{"CASE WHEN pg_try_advisory_lock(?) THEN f() END", []string{"pg_try_advisory_lock(?): other consumed"}},
		{"SELECT pg_try_advisory_lock(?)", []string{"pg_try_advisory_lock(?): SELECT returned 0"}},

		// Conditions, subqueries, tables.
		{"pg_try_advisory_lock(id) AND x", []string{"pg_try_advisory_lock(id): other consumed"}},
		{"EXISTS (SELECT 1 WHERE pg_try_advisory_lock(1))", []string{"pg_try_advisory_lock(1): WHERE consumed"}},
		{"(SELECT pg_try_advisory_lock(1)) AS ok", []string{"pg_try_advisory_lock(1): SELECT returned 0"}},
		{"pg_try_advisory_lock(?) AS l(ok)", []string{"pg_try_advisory_lock(?): other consumed"}},
		{"id IN (?) /* pg_advisory_lock(1) */ AND name = 'pg_advisory_lock(2)'", nil},
		{"", nil},
		{",", nil},
		{hole, nil},
	} {
		t.Run(tt.text, func(t *testing.T) {
			var got []string
			for _, c := range sqltext.ParseExpr(tt.text) {
				got = append(got, name(c)+": "+fate(c))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
