package sqltext_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pgadvisory/pgadvisory/analyzer/internal/sqltext"
)

// shapes grow in one direction each. Reading them must take time in proportion to their length.
var shapes = map[string]func(n int) string{
	"list":       func(n int) string { return "SELECT 1" + strings.Repeat(", pg_try_advisory_lock(id)", n) + " FROM t" },
	"statements": func(n int) string { return strings.Repeat("SELECT pg_advisory_lock(1);", n) },
	"unions": func(n int) string {
		return strings.Repeat("SELECT pg_try_advisory_lock(1), 2 UNION ALL ", n) + "SELECT 1, 2"
	},
	"parens": func(n int) string {
		return "SELECT " + strings.Repeat("(", n) + "pg_advisory_lock(1)" + strings.Repeat(")", n)
	},
	"open":       func(n int) string { return "SELECT " + strings.Repeat("(", n) },
	"openselect": func(n int) string { return strings.Repeat("(SELECT ", n) },
	"brackets":   func(n int) string { return "SELECT " + strings.Repeat("([", n) + strings.Repeat(")", n) },
	"nested": func(n int) string {
		return "SELECT " + strings.Repeat("pg_advisory_lock(", n) + "1" + strings.Repeat(")", n)
	},
	"scalars": func(n int) string {
		return strings.Repeat("SELECT (", n) + "SELECT pg_advisory_lock(1)" + strings.Repeat(")", n)
	},
	"keys": func(n int) string {
		return "SELECT " + strings.Repeat("pg_advisory_lock((SELECT ", n) + "1" + strings.Repeat("))", n)
	},
	"derived": func(n int) string {
		return strings.Repeat("SELECT * FROM (", n) + "SELECT pg_try_advisory_lock(1) ok" + strings.Repeat(") q", n)
	},
	"columns": func(n int) string {
		return "SELECT 1" + strings.Repeat(", a", n) + " FROM (SELECT 1" + strings.Repeat(", pg_try_advisory_lock(1) a", n) + ") q"
	},
	"from": func(n int) string {
		return "SELECT a FROM pg_try_advisory_lock(1) a" + strings.Repeat(", pg_try_advisory_lock(1) a", n)
	},
	"groups": func(n int) string {
		return "SELECT 1 FROM " + strings.Repeat("(", n) + "t" + strings.Repeat(" JOIN u ON true)", n)
	},
	"conditions": func(n int) string {
		return "SELECT 1 FROM t WHERE " + strings.Repeat("(a = 1 AND ", n) + "pg_try_advisory_lock(1)" + strings.Repeat(")", n)
	},
	"cases": func(n int) string {
		return "SELECT " + strings.Repeat("CASE WHEN ", n) + "pg_try_advisory_lock(1)" + strings.Repeat(" THEN 1 END", n)
	},
	"wrapped": func(n int) string {
		return "SELECT " + strings.Repeat("coalesce(", n) + "pg_try_advisory_lock(1)" + strings.Repeat(", false)", n)
	},
	"casts": func(n int) string { return "SELECT pg_advisory_lock(1" + strings.Repeat("::bigint", n) + ")" },
	"paths": func(n int) string { return "SELECT a" + strings.Repeat(".pg_advisory_lock", n) + "(1)" },
	"orders": func(n int) string {
		return "SELECT " + strings.Repeat("max(a ORDER BY ", n) + "1" + strings.Repeat(")", n)
	},
	"ctes": func(n int) string {
		return "WITH c AS (SELECT pg_try_advisory_lock(1) ok)" + strings.Repeat(", c AS (SELECT ok FROM c)", n) + " SELECT ok FROM c"
	},
	"readers": func(n int) string {
		return "WITH c AS (SELECT 1" + strings.Repeat(", pg_try_advisory_lock(1) ok", n) + ") SELECT 1" + strings.Repeat(", (SELECT ok FROM c)", n)
	},
	"recursive": func(n int) string {
		return "WITH RECURSIVE c AS (SELECT 1" + strings.Repeat(" UNION SELECT pg_try_advisory_lock(1) FROM c", n) + ") SELECT * FROM c"
	},
	"block": func(n int) string {
		return "DO $$ BEGIN " + strings.Repeat("IF a THEN PERFORM pg_advisory_lock(1); END IF; ", n) + "END $$"
	},
	"begins":  func(n int) string { return "DO $$ " + strings.Repeat("BEGIN ", n) + strings.Repeat("END; ", n) + "$$" },
	"routine": func(n int) string { return "CREATE FUNCTION f() " + strings.Repeat("BEGIN ATOMIC ", n) },
	"bodies": func(n int) string {
		s := "PERFORM pg_advisory_lock(1);"
		for i := range min(n, 300) {
			tag := "$" + strings.Repeat("a", i+1) + "$"
			s = "EXECUTE " + tag + " DO $b" + tag[1:] + " BEGIN " + s + " END $b" + tag[1:] + tag + ";"
		}
		return "DO $z$ BEGIN " + s + " END $z$"
	},
	"dollars": func(n int) string { return strings.Repeat("$a $b$ ", n) },
	"comments": func(n int) string {
		return strings.Repeat("/*", n) + strings.Repeat("*/", n) + "SELECT pg_advisory_lock(1)"
	},
	"quotes": func(n int) string { return "SELECT pg_advisory_lock('" + strings.Repeat("''", n) + "')" },
	"holes": func(n int) string {
		return "SELECT pg_advisory_lock(" + strings.Repeat(hole, n) + ")" + strings.Repeat(hole+" ", n)
	},
	"explain": func(n int) string { return strings.Repeat("EXPLAIN ANALYZE ", n) + "SELECT pg_advisory_lock(1)" },
	"batch":   func(n int) string { return strings.Repeat("IF 1 EXEC sp_getapplock 'a' ", n) },
	"blocks":  func(n int) string { return strings.Repeat("BEGIN x := DBMS_LOCK.REQUEST(1); ", n) },
	"labels":  func(n int) string { return "DO $$ " + strings.Repeat("<<a ", n) + "$$" },
	"ands":    func(n int) string { return "SELECT 1 WHERE a" + strings.Repeat(" BETWEEN 1 AND 2 AND NOT a", n) },
	"signs":   func(n int) string { return "SELECT pg_advisory_lock(" + strings.Repeat("-", n) + "1)" },
	"stems":   func(n int) string { return strings.Repeat("ack advis ", n) },
}

// TestShapes ends early only if reading is linear, and at all only if it does not recurse without bound.
func TestShapes(t *testing.T) {
	for name, shape := range shapes {
		text := shape(5000)
		sqltext.Parse(text)
		sqltext.ParseExpr(text)
		if t.Failed() {
			t.Fatal(name)
		}
	}
}

func BenchmarkShapes(b *testing.B) {
	for name, shape := range shapes {
		for _, n := range []int{1000, 10000} {
			text := shape(n)
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					sqltext.Parse(text)
				}
			})
		}
	}
}

func BenchmarkParse(b *testing.B) {
	for name, text := range map[string]string{
		"lock":  "SELECT pg_advisory_xact_lock($1)",
		"claim": "SELECT id FROM rides WHERE driver_id IS NULL AND pg_try_advisory_xact_lock(id) ORDER BY asked_at LIMIT 1",
		"block": "DO $do$ BEGIN PERFORM pg_advisory_xact_lock(61); ALTER TABLE visits ADD COLUMN IF NOT EXISTS note text; END $do$",
		"ctes": "WITH quiet AS MATERIALIZED (SELECT pg_advisory_xact_lock_shared(61)), gone AS (DELETE FROM visits USING quiet " +
			"WHERE at < now() - interval '1 month' RETURNING 1) SELECT count(*) FROM gone",
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				sqltext.Parse(text)
			}
		})
	}
}

func BenchmarkMentions(b *testing.B) {
	const prose = "A Tx is an in-progress database transaction. A transaction must end with a call to Commit or Rollback. After a call to " +
		"Commit or Rollback, all operations on the transaction fail with ErrTxDone. The statements prepared for a transaction are closed. "
	for name, text := range map[string]string{
		"short":  "could not open %q: %w",
		"medium": "SELECT id, name, created_at FROM accounts WHERE id = $1 AND deleted_at IS NULL",
		"long":   strings.Repeat(prose, 300),
		"worst":  strings.Repeat("lock dvi ", 7000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				sqltext.Mentions(text)
			}
		})
	}
}
