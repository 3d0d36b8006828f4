package advisory_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pgadvisory/pgadvisory/advisory"
)

type nameVector struct {
	parts []string
	want  int64
}

// nameVectors are frozen: they are in the README, for programs in other languages.
var nameVectors = []nameVector{
	{nil, -2039914840885289964},
	{[]string{""}, -5812615543772869766},
	{[]string{"", ""}, 3983162290893594069},
	{[]string{"a"}, 4258557881403305461},
	{[]string{"a", "bc"}, 4589064456534337473},
	{[]string{"ab", "c"}, 6925784671553650220},
	{[]string{"abc", ""}, -745006308480641669},
	{[]string{"invoice", "2026", "17"}, 5018137681025886414},
	{[]string{"Zürich", "東京", "🔒"}, 8022758295369660623},
	{[]string{strings.Repeat("x", 1000)}, 3920391217622901351},
}

func TestNameVectors(t *testing.T) {
	for _, v := range nameVectors {
		if got := advisory.Name(v.parts...); got != advisory.ID(v.want) {
			t.Errorf("Name(%.40q) = %v, want %d", v.parts, got, v.want)
		}
	}
}

// The same in SQL, as the README shows it.
func TestNameInSQL(t *testing.T) {
	const query = `SELECT ('x' || encode(substr(sha256(coalesce(string_agg(int8send(octet_length(convert_to(p, 'UTF8'))) || convert_to(p, 'UTF8'), '' ORDER BY i), '')), 1, 8), 'hex'))::bit(64)::bigint
		FROM unnest($1::text[]) WITH ORDINALITY AS u(p, i)`
	utf8 := server.Database(t).Open(t, "pgx")
	if _, err := utf8.ExecContext(testContext(t), "CREATE DATABASE name_in_latin1 ENCODING LATIN1 LOCALE 'C' TEMPLATE template0"); err != nil {
		t.Fatal(err)
	}
	latin1 := open(t, "pgx", inDatabase(t, server.DSN(), "name_in_latin1"))
	t.Cleanup(func() {
		latin1.Close()
		utf8.ExecContext(testContext(t), "DROP DATABASE name_in_latin1")
	})
	for name, db := range map[string]*sql.DB{"UTF8": utf8, "LATIN1": latin1} {
		for _, v := range append(nameVectors, nameVector{[]string{"é", "üß"}, 0}) {
			parts := v.parts
			if parts == nil {
				parts = []string{}
			}
			if name == "LATIN1" && strings.Contains(fmt.Sprint(parts), "東") {
				continue // the server has no such characters
			}
			var got int64
			must(t, db.QueryRowContext(testContext(t), query, parts).Scan(&got))
			if advisory.ID(got) != advisory.Name(v.parts...) {
				t.Errorf("%s, %.40q: SQL says %d, Name %v", name, v.parts, got, advisory.Name(v.parts...))
			}
		}
	}
}

// inDatabase returns a DSN for another database of the same server.
func inDatabase(t testing.TB, dsn, name string) string {
	u, err := url.Parse(dsn)
	must(t, err)
	u.Path = "/" + name
	query := u.Query()
	query.Set("client_encoding", "UTF8") // pgx would take the server's
	u.RawQuery = query.Encode()
	return u.String()
}

func anyKey() *rapid.Generator[advisory.Key] {
	return rapid.OneOf(
		rapid.SampledFrom(edgeKeys),
		rapid.Map(rapid.Int64(), advisory.ID),
		rapid.Custom(func(t *rapid.T) advisory.Key {
			return advisory.Pair(rapid.Int32().Draw(t, "class"), rapid.Int32().Draw(t, "object"))
		}))
}

func TestKeyTextRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := anyKey().Draw(t, "key")
		parsed, err := advisory.ParseKey(key.String())
		if err != nil || parsed != key {
			t.Errorf("ParseKey(%q) = %v, %v", key.String(), parsed, err)
		}
		data, err := json.Marshal(map[advisory.Key]advisory.Key{key: key})
		if err != nil {
			t.Fatal(err)
		}
		var back map[advisory.Key]advisory.Key
		if err := json.Unmarshal(data, &back); err != nil || len(back) != 1 || back[key] != key {
			t.Errorf("%s came back as %v, %v", data, back, err)
		}
	})
}

func TestKeyString(t *testing.T) {
	for want, key := range map[string]advisory.Key{
		"0":                       {},
		"-42":                     advisory.ID(-42),
		"7:-3":                    advisory.Pair(7, -3),
		"-9223372036854775808":    advisory.ID(math.MinInt64),
		"-2147483648:-2147483648": advisory.Pair(math.MinInt32, math.MinInt32),
	} {
		if got := fmt.Sprint(key); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestParseKeyErrors(t *testing.T) {
	for _, s := range []string{"", " 1", "1 ", "x", "1:", ":1", "1:2:3", "9223372036854775808", "2147483648:1", "1:-2147483649", "0x10", "1.0", "(7,-3)"} {
		key, err := advisory.ParseKey(s)
		if err == nil {
			t.Errorf("ParseKey(%q) = %v, want an error", s, key)
			continue
		}
		if !strings.Contains(err.Error(), fmt.Sprintf("%q", s)) || !strings.Contains(err.Error(), "7:-3") {
			t.Errorf("ParseKey(%q): %q, want what was wrong and what is right", s, err)
		}
		var unchanged = advisory.ID(5)
		if unchanged.UnmarshalText([]byte(s)) == nil || unchanged != advisory.ID(5) {
			t.Errorf("UnmarshalText(%q) took it", s)
		}
	}
}

func TestCompare(t *testing.T) {
	ordered := []advisory.Key{
		advisory.ID(math.MinInt64), advisory.ID(-1), advisory.ID(0), advisory.ID(1), advisory.ID(math.MaxInt64),
		advisory.Pair(math.MinInt32, math.MinInt32), advisory.Pair(math.MinInt32, math.MaxInt32), advisory.Pair(-1, 0),
		advisory.Pair(0, -1), advisory.Pair(0, 0), advisory.Pair(0, 1), advisory.Pair(1, math.MinInt32), advisory.Pair(1, math.MaxInt32),
		advisory.Pair(math.MaxInt32, 0),
	}
	for i, a := range ordered {
		for j, b := range ordered {
			if got, want := a.Compare(b), i-j; got*want < 0 || (got == 0) != (want == 0) {
				t.Errorf("%v.Compare(%v) = %d", a, b, got)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfN(anyKey(), 3, 3).Draw(t, "keys")
		a, b, c := keys[0], keys[1], keys[2]
		if (a.Compare(b) == 0) != (a == b) || a.Compare(b) != -b.Compare(a) {
			t.Errorf("%v and %v: %d and %d", a, b, a.Compare(b), b.Compare(a))
		}
		if a.Compare(b) <= 0 && b.Compare(c) <= 0 && a.Compare(c) > 0 {
			t.Errorf("%v ≤ %v ≤ %v, but not %v ≤ %v", a, b, c, a, c)
		}
	})
	shuffled := slices.Clone(ordered)
	slices.Reverse(shuffled)
	slices.SortFunc(shuffled, advisory.Key.Compare)
	if diff := cmp.Diff(ordered, shuffled, compareKeys); diff != "" {
		t.Error(diff)
	}
}

func TestKeyInLog(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	log.Info("locked", "key", advisory.Pair(7, -3))
	if got, want := out.String(), "level=INFO msg=locked key=7:-3\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
