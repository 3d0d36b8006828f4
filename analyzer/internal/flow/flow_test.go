package flow_test

import (
	"go/types"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"

	_ "github.com/jackc/pgx/v5/pgxpool"

	"github.com/pgadvisory/pgadvisory/analyzer/internal/flow"
)

// TestAnyCode asks every question there is about code that was not written for
// it: interfaces in interfaces, values that depend on themselves, generics. The
// answers are the fixtures' business; here they only have to come. Most values
// are skipped: a linter asks about a few.
func TestAnyCode(t *testing.T) {
	if testing.Short() {
		t.Skip("type-checks large packages from source")
	}
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax},
		"database/sql", "net/http", "go/types", "text/template", "encoding/json", "maps", "slices",
		"github.com/jackc/pgx/v5", "github.com/jackc/pgx/v5/pgtype", "github.com/jackc/pgx/v5/pgxpool")
	if err != nil {
		t.Fatal(err)
	}
	for _, pkg := range pkgs {
		t.Run(pkg.PkgPath, func(t *testing.T) {
			t.Parallel()
			program, err := flow.Build(pass(pkg))
			if err != nil {
				t.Fatal(err)
			}
			calls := 0
			for _, fn := range program.Funcs {
				program.Callers(fn)
				program.Handed(fn)
				for _, b := range fn.Blocks {
					for _, instr := range b.Instrs {
						if call, ok := instr.(ssa.CallInstruction); ok {
							if calls++; calls%40 == 0 {
								ask(program, call)
							} else {
								program.Resolve(call, nil)
							}
						}
					}
				}
			}
			if calls == 0 {
				t.Error("no calls")
			}
		})
	}
}

func ask(program *flow.Program, call ssa.CallInstruction) {
	c := program.Resolve(call, nil)
	for _, v := range c.Operands() {
		if flow.IsString(v.Type()) {
			program.Texts(v, nil)
			continue
		}
		for _, l := range program.Trace(v, "", nil) {
			l.Type()
			l.In(call.Parent())
			if field, rest := l.Field(); field != nil {
				program.FieldStores(field, rest)
			}
		}
		flow.Uses(v, func(ssa.Instruction, ssa.Value) {})
		flow.Read(v, nil)
	}
}

func pass(pkg *packages.Package) *analysis.Pass {
	return &analysis.Pass{
		Fset: pkg.Fset, Files: pkg.Syntax, Pkg: pkg.Types, TypesInfo: pkg.TypesInfo, TypesSizes: pkg.TypesSizes,
		Report:           func(analysis.Diagnostic) {},
		ImportObjectFact: func(types.Object, analysis.Fact) bool { return false },
		ExportObjectFact: func(types.Object, analysis.Fact) {},
	}
}
