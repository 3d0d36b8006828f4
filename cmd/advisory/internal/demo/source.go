package demo

import (
	"embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"sync"
)

// The code that the demo shows is the code that it runs: it is read from the
// source files themselves.
//
//go:embed account.go leak.go
var sources embed.FS

// bodies holds the lines in between the braces of each function in sources, by
// the function's name, less the indentation of all of them.
var bodies = sync.OnceValue(func() map[string]string {
	entries, err := sources.ReadDir(".")
	if err != nil {
		panic(err)
	}
	found := map[string]string{}
	for _, entry := range entries {
		content, err := sources.ReadFile(entry.Name())
		if err != nil {
			panic(err)
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, entry.Name(), content, parser.SkipObjectResolution)
		if err != nil {
			panic(err) // it has been compiled
		}
		for _, decl := range file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok {
				from, to := fset.Position(fn.Body.Lbrace).Offset+1, fset.Position(fn.Body.Rbrace).Offset
				found[fn.Name.Name] = outdented(string(content[from:to]))
			}
		}
	}
	return found
})

// source returns the body of a function of the files embedded above.
func source(function string) string {
	body, ok := bodies()[function]
	if !ok {
		panic(fmt.Sprintf("demo: no function %s in the files that are shown", function))
	}
	return body
}

// outdented takes one tab off each line, and makes four spaces of the others.
func outdented(body string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.Trim(body, "\n")) {
		b.WriteString(strings.ReplaceAll(strings.TrimPrefix(line, "\t"), "\t", indent))
	}
	return strings.TrimRight(b.String(), "\n\t ") + "\n"
}
