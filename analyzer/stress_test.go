package analyzer_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// stressed are programs whose values lead back to themselves, or that can be
// followed in more ways than there is time for.
var stressed = map[string]string{
	"method that calls itself": `
		type T struct { n *T; db *sql.DB; f func(*T) *T }
		func (t *T) next() *T { if t.n != nil { return t.n.next() }; t.f = (*T).next; return t.f(t) }
		func (t *T) L() { for x := t; x != nil; x = x.next() { x.db.Exec("SELECT pg_advisory_lock(1)"); defer x.next().L() } }
		func NT(db *sql.DB) *T { t := &T{db: db}; t.n = t; return t }`,
	"method value in its own field": `
		type T struct { n *T; db *sql.DB; f func(*T) *T }
		func (t *T) next() *T { t.f = (*T).next; return t.f(t.n) }
		func (t *T) L() { for x := t; x != nil; x = x.next() { x.db.Exec("SELECT pg_advisory_lock(1)") } }
		func NT(db *sql.DB) *T { t := &T{db: db}; t.n = t; return t }`,
	"text put together in many branches": `
		func L(db *sql.DB, n []bool) { s := "SELECT pg_advisory_lock(1)"
		` + times(60, `if n[%[1]d] { s += " -- a%[1]d\n" } else { s += " -- b\n" }`) + `
		db.Exec(s) }`,
	"text that doubles": `
		func L(db *sql.DB) { s := "SELECT pg_advisory_lock(1);"
		` + times(60, `if len(s) > %d { s += s }`) + `
		db.Exec(s) }`,
	"text that is replaced by itself": `
		func L(db *sql.DB) { s := "SELECT pg_advisory_lock(1);"
		` + times(30, `s = strings.ReplaceAll(s, ";", s+";%d;")`) + `
		db.Exec(s) }`,
	"many locks and defers": `
		func L(ctx context.Context, db *sql.DB, f func(int) error) error {
		conn, err := db.Conn(ctx)
		if err != nil { return err }
		defer conn.Close()
		` + times(300, `if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(%[1]d)"); err != nil { return err }
		if err := f(%[1]d); err != nil { conn.ExecContext(ctx, "SELECT pg_advisory_unlock(%[1]d)"); if f(1) == nil { _ = 1 } }
		defer conn.ExecContext(ctx, "SELECT pg_advisory_unlock(%[1]d)")`) + `
		return nil }`,
	"helpers that all take locks, and call each other": mesh(16, "*sql.Tx", `"SELECT pg_advisory_lock(1)"`),
	"helpers that all call each other": mesh(16, "*sql.Conn", "q") + `
		func L(ctx context.Context, db *sql.DB) error {
		conn, err := db.Conn(ctx)
		if err != nil { return err }
		defer conn.Close()
		if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil { return err }
		f0(ctx, conn, "UPDATE t SET x = 1")
		return nil }`,
	"many branches under the lock": `
		func L(ctx context.Context, db *sql.DB, n []bool) error {
		conn, err := db.Conn(ctx)
		if err != nil { return err }
		defer conn.Close()
		if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil { return err }
		` + times(40, `a%[1]d := n[%[1]d]; if a%[1]d { println(%[1]d) }`) + `
		` + times(40, `if a%[1]d { defer println(%[1]d) }`) + `
		return nil }`,
}

// mesh returns functions that run a text, or call one of the others.
func mesh(n int, handle, text string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "func f%d(ctx context.Context, conn %s, q string) {\n", i, handle)
		for j := range n {
			fmt.Fprintf(&b, "if q == \"%[1]d\" { f%[1]d(ctx, conn, q) }\n", j)
		}
		fmt.Fprintf(&b, "conn.ExecContext(ctx, %s)\n}\n", text)
	}
	return b.String()
}

func times(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format+"\n", i)
	}
	return b.String()
}

// program returns the file around a body.
func program(body string) string {
	return `package p

import (
	"context"
	"database/sql"
	"strings"
)

var (
	_ context.Context
	_ strings.Builder
)
` + body
}

// TestStress runs the suite over programs which there must be a bound for: that
// it comes back is all that is asked.
func TestStress(t *testing.T) {
	if testing.Short() {
		t.Skip("type-checks the standard library and pgx from source")
	}
	_, importer := corpus(t)
	for name, body := range stressed {
		t.Run(name, func(t *testing.T) {
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, "stress.go", program(body), 0)
			if err != nil {
				t.Fatal(err)
			}
			pkg, info, ok := check(fset, file, importer)
			if !ok {
				t.Fatal("does not compile")
			}
			runSuite(t, fset, file, pkg, info)
		})
	}
}
