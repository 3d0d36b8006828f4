package sqltext_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pgadvisory/pgadvisory/analyzer/internal/sqltext"
)

// arguments are valid for PostgreSQL 15.
var arguments = []struct {
	list string // between the parentheses of pg_advisory_lock
	want []string
}{
	{"1", []string{"1"}},
	{" 1 , 2 ", []string{"1", "2"}},
	{"/* key */ 1 -- one\n", []string{"1"}},
	{"007", []string{"7"}},
	{"000", []string{"0"}},
	{"-0", []string{"0"}},
	{"-5", []string{"-5"}},
	{"- 5", []string{"-5"}},
	{"+5", []string{"5"}},
	{"(5)", []string{"5"}},
	{"((-5))", []string{"-5"}},
	{"9223372036854775807", []string{"9223372036854775807"}},
	{"1::bigint", []string{"1"}},
	{"-1::int8", []string{"-1"}},
	{"(1)::integer::bigint", []string{"1"}},
	{"CAST(1 AS bigint)", []string{"1"}},
	{"bigint '7'", []string{"7"}},
	{"'42'", []string{"42"}},
	{"' -42 '::bigint", []string{"-42"}},
	{"$$42$$", []string{"42"}},
	{"1::int, 2::int4", []string{"1", "2"}},
	{"$1", []string{"$1"}},
	{"$1::bigint", []string{"$1"}},
	{"($1)::bigint", []string{"$1"}},
	{"CAST($1 AS bigint)", []string{"$1"}},
	{"$1::int, ($2::text)::int", []string{"$1", "$2::text"}},
	{"HashText( 'It''s' )", []string{"hashtext('It''s')"}},
	{"hashtext('It''s')::bigint", []string{"hashtext('It''s')"}},
	{"hashtextextended($1::text, 0)", []string{"hashtextextended($1::text,0)"}},
	{"1 + 2", []string{"1+2"}},
	{"1 - -2", []string{"1- -2"}},
	{"('x' || md5($1))::bit(64)::bigint", []string{"('x'||md5($1))::bit(64)"}},
	{"CASE WHEN 1 > 2 THEN 3 ELSE 4 END", []string{"case when 1>2 then 3 else 4 end"}},
	{"(SELECT max(id) FROM seats)", []string{"(select max(id) from seats)"}},
	{"(ARRAY[1, 2])[1], 3", []string{"(array[1,2])[1]", "3"}},
	{"'seats'::regclass::oid::bigint", []string{"'seats'::regclass::oid"}},
	{`"hashtext"('a')`, []string{`"hashtext"('a')`}},
	{"NULL::bigint", []string{"null"}},
}

func TestArguments(t *testing.T) {
	for _, tt := range arguments {
		t.Run(tt.list, func(t *testing.T) { checkArgs(t, "SELECT pg_advisory_lock("+tt.list+")", tt.want) })
	}
}

func checkArgs(t *testing.T, sql string, want []string) {
	t.Helper()
	calls := sqltext.Parse(sql)[0].Calls
	if len(calls) != 1 {
		t.Fatalf("%d calls, want one", len(calls))
	}
	if diff := cmp.Diff(want, calls[0].Args); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestArgumentsElsewhere(t *testing.T) {
	for _, tt := range []struct {
		sql  string
		want []string
	}{
		{"SELECT pg_advisory_lock(0x2A)", []string{"42"}},
		{"SELECT pg_advisory_lock(1_000)", []string{"1000"}},
		{"SELECT pg_advisory_lock(0b101)", []string{"5"}},
		{"SELECT pg_advisory_lock(99999999999999999999999999)", []string{"99999999999999999999999999"}},
		{"SELECT pg_advisory_lock(1.50)", []string{"1.50"}},
		{"SELECT pg_advisory_lock(0xZZ)", []string{"0xZZ"}},
		{"SELECT pg_advisory_lock(?::bigint)", []string{"?"}},
		{"SELECT pg_advisory_lock(:Key::int8)", []string{":Key"}},
		{"SELECT pg_advisory_lock(@Key)", []string{"@Key"}},
		{"SELECT pg_advisory_lock(%d::bigint, %v)", []string{"%d", "%v"}},
		{"SELECT pg_advisory_lock(" + hole + "::bigint)", []string{hole}},
		{"SELECT pg_advisory_lock(a  b)", []string{"a b"}},
		{"SELECT pg_advisory_lock(1,,2)", []string{"1", "", "2"}},
		{"SELECT GET_LOCK('42', 010)", []string{"'42'", "10"}},
		{`SELECT GET_LOCK("back\"up", -1)`, []string{`'back"up'`, "-1"}},
		{"EXEC sp_getapplock N'a', N'Shared'", []string{"'a'", "'Shared'"}},
	} {
		t.Run(tt.sql, func(t *testing.T) { checkArgs(t, tt.sql, tt.want) })
	}
}
