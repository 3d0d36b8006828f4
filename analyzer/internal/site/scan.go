package site

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/pgadvisory/pgadvisory/analyzer/internal/flow"
	"github.com/pgadvisory/pgadvisory/analyzer/internal/sqltext"
)

// scan looks at the package's literals, and collects its ignore comments. It
// reports whether something in the package has to do with locks.
func scan(pass *analysis.Pass, res *Result, embedded *embeds) bool {
	matters, pgx := false, importsPgx(pass.Pkg)
	for _, file := range pass.Files {
		res.Directives = append(res.Directives, directivesOf(pass, file)...)
		embedded.scan(pass, file)
		if !matters {
			matters = scanFile(pass, file, pgx)
		}
	}
	return matters || embedded.any
}

// importsPgx reports whether a package imports pgx, whose pools have a size in
// their configuration, and give connections away.
func importsPgx(pkg *types.Package) bool {
	for _, p := range pkg.Imports() {
		if strings.HasPrefix(p.Path(), "github.com/jackc/pgx") {
			return true
		}
	}
	return false
}

func scanFile(pass *analysis.Pass, file *ast.File, pgx bool) bool {
	found, raw, bad := false, false, false
	ast.Inspect(file, func(n ast.Node) bool {
		if found {
			return false
		}
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.BasicLit:
			found = n.Kind == token.STRING && mentioned(n.Value)
		case *ast.CallExpr:
			found = runsParameter(pass, n)
		case *ast.SelectorExpr:
			switch n.Sel.Name {
			case "SetMaxOpenConns":
				// What a package says of its pools matters to those who lock.
				found = true
			case "MaxConns", "Hijack":
				found = pgx
			case "Raw":
				raw = true
			case "ErrBadConn":
				bad = true
			}
			found = found || raw && bad
		}
		return true
	})
	return found
}

// runsParameter reports whether a call hands a parameter or variable to a
// library as SQL: the function around it may be a helper that runs what other
// packages hand in.
func runsParameter(pass *analysis.Pass, call *ast.CallExpr) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || forms[sel.Sel.Name] == noForm && sel.Sel.Name != "Raw" {
		return false
	}
	for _, arg := range call.Args {
		id, ok := arg.(*ast.Ident)
		if !ok {
			continue
		}
		v, ok := pass.TypesInfo.Uses[id].(*types.Var)
		if !ok || v.IsField() || v.Parent() == pass.Pkg.Scope() || !flow.IsString(v.Type()) {
			continue
		}
		switch typeOf(pass.TypesInfo.TypeOf(sel.X)).role {
		case poolRole, connRole, txRole, chainRole:
			return true
		}
	}
	return false
}

// mentioned is [sqltext.Mentions] for a literal as it is written.
func mentioned(lit string) bool {
	if sqltext.Mentions(lit) {
		return true
	}
	// An escape may hide a name: nobody writes that, but it is SQL all the same.
	if len(lit) < 2 || lit[0] != '"' || !escaped(lit) {
		return false
	}
	s, err := strconv.Unquote(lit)
	return err == nil && sqltext.Mentions(s)
}

// escaped reports whether a literal has escapes for letters in it.
func escaped(lit string) bool {
	for i := 1; i < len(lit)-1; i++ {
		if lit[i] != '\\' {
			continue
		}
		switch lit[i+1] {
		case 'x', 'u', 'U', '0', '1':
			return true
		}
		i++
	}
	return false
}
