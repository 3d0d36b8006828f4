package advisory_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pgadvisory/pgadvisory/advisory"
)

// randomText is mostly short, of all lengths modulo 12, and of any characters that PostgreSQL's text can have.
func randomText(r *rand.Rand) string {
	n := r.IntN(40)
	if r.IntN(100) == 0 {
		n = r.IntN(2000)
	}
	var b strings.Builder
	for range n {
		c := rune(1 + r.IntN(127))
		if r.IntN(4) == 0 {
			c = rune(1 + r.IntN(utf8.MaxRune))
		}
		if !utf8.ValidRune(c) {
			c = 'x'
		}
		b.WriteRune(c)
	}
	return b.String()
}

// 100,000 random texts hash to what the server makes of them.
func TestHashLikeTheServer(t *testing.T) {
	db := server.Database(t).Open(t, "pgx")
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	const total, batch = 100_000, 5_000
	for range total / batch {
		texts, seeds := make([]string, batch), make([]int64, batch)
		for i := range texts {
			texts[i], seeds[i] = randomText(r), int64(r.Uint64())
			if i%3 == 0 {
				seeds[i] = int64(i % 2)
			}
		}
		rows, err := db.QueryContext(testContext(t), `SELECT hashtext(s), hashtextextended(s, seed) FROM unnest($1::text[], $2::bigint[])
			WITH ORDINALITY u(s, seed, i) ORDER BY i`, texts, seeds)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		n := 0
		for ; rows.Next(); n++ {
			var short int32
			var long int64
			must(t, rows.Scan(&short, &long))
			if got := advisory.HashText(texts[n]); got != short {
				t.Fatalf("seed %d: HashText(%q) = %d, server %d", seed, texts[n], got, short)
			}
			if got := advisory.HashTextExtended(texts[n], seeds[n]); got != long {
				t.Fatalf("seed %d: HashTextExtended(%q, %d) = %d, server %d", seed, texts[n], seeds[n], got, long)
			}
		}
		must(t, rows.Err())
		if n != batch {
			t.Fatalf("%d rows, want %d", n, batch)
		}
	}
}

// The values are a server's, so that the function is tested on machines without one, too.
func TestHashVectors(t *testing.T) {
	for _, v := range []struct {
		text     string
		seed     int64
		short    int32
		extended int64
	}{
		{"", -7, -1477818771, 7897695672827216937},
		{"", 0, -1477818771, -6939563903564495251},
		{"a", -7, 1075015857, -1390133477695463801},
		{"a", 0, 1075015857, 3591986179850072241},
		{"Zürich 東京 🔒", -7, -116344068, -2488889254476124263},
		{"eleven byte", -7, 1185542870, -1924097736050222381},
		{"eleven byte", 0, 1185542870, -1446953353892728106},
		{"Zürich 東京 🔒", 0, -116344068, -3488933240397317380},
		{"twelve bytes", -7, 652846557, 7524365991215980085},
		{"twelve bytes", 0, 652846557, -7123776401673968163},
		{"thirteen byte", -7, -1367827268, -478846565982305293},
		{"thirteen byte", 0, -1367827268, -1147533121609491268},
	} {
		if got := advisory.HashText(v.text); got != v.short {
			t.Errorf("HashText(%q) = %d, want %d", v.text, got, v.short)
		}
		if got := advisory.HashTextExtended(v.text, v.seed); got != v.extended {
			t.Errorf("HashTextExtended(%q, %d) = %d, want %d", v.text, v.seed, got, v.extended)
		}
	}
}

func FuzzHashText(f *testing.F) {
	db := server.Database(f).Open(f, "pgx")
	for _, s := range []string{"", "a", "elevenbytes", "twelve bytes", "thirteen byte", "Zürich 東京 🔒"} {
		f.Add(s, int64(0))
		f.Add(s, int64(-1))
	}
	f.Fuzz(func(t *testing.T, s string, seed int64) {
		short, extended := advisory.HashText(s), advisory.HashTextExtended(s, seed)
		if advisory.HashTextExtended(s, 0)&0xffffffff != int64(uint32(short)) {
			t.Errorf("%q: HashText and HashTextExtended differ", s)
		}
		if !utf8.ValidString(s) || strings.Contains(s, "\x00") {
			return // not a text to PostgreSQL
		}
		var wantShort int32
		var wantExtended int64
		must(t, db.QueryRowContext(testContext(t), "SELECT hashtext($1), hashtextextended($1, $2)", s, seed).Scan(&wantShort, &wantExtended))
		if short != wantShort || extended != wantExtended {
			t.Errorf("%q, seed %d: %d and %d, server %d and %d", s, seed, short, extended, wantShort, wantExtended)
		}
	})
}

func TestHashDoesNotAllocate(t *testing.T) {
	text := strings.Repeat("some name ", 10)
	var sum int64
	if n := testing.AllocsPerRun(100, func() { sum += int64(advisory.HashText(text)) + advisory.HashTextExtended(text, 1) }); n != 0 || sum == 0 {
		t.Errorf("%v allocations", n)
	}
}
