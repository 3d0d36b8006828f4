package site

import (
	"go/ast"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/pgadvisory/pgadvisory/analyzer/internal/flow"
	"github.com/pgadvisory/pgadvisory/analyzer/internal/sqltext"
)

// maxEmbedded bounds an embedded file that is read.
const maxEmbedded = 1 << 20

// embeds is what a package embeds of SQL that mentions a lock function.
type embeds struct {
	dir  string
	vars map[types.Object]string // strings and byte slices
	any  bool
}

// scan reads what a file embeds.
func (e *embeds) scan(pass *analysis.Pass, file *ast.File) {
	if !imports(file, `"embed"`) {
		return
	}
	e.dir = filepath.Dir(pass.Fset.Position(file.FileStart).Filename)
	for _, decl := range file.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok || gen.Tok != token.VAR {
			continue
		}
		for _, spec := range gen.Specs {
			v, ok := spec.(*ast.ValueSpec)
			if !ok || len(v.Names) != 1 {
				continue
			}
			doc := v.Doc
			if doc == nil && len(gen.Specs) == 1 {
				doc = gen.Doc
			}
			if obj := pass.TypesInfo.Defs[v.Names[0]]; obj != nil && doc != nil {
				e.variable(obj, doc)
			}
		}
	}
}

func imports(file *ast.File, path string) bool {
	for _, spec := range file.Imports {
		if spec.Path.Value == path {
			return true
		}
	}
	return false
}

// variable reads the files that go:embed puts into a variable.
func (e *embeds) variable(obj types.Object, doc *ast.CommentGroup) {
	for _, c := range doc.List {
		patterns, ok := strings.CutPrefix(c.Text, "//go:embed ")
		if !ok {
			continue
		}
		for _, pattern := range strings.Fields(patterns) {
			pattern = strings.TrimPrefix(strings.Trim(pattern, "\"`"), "all:")
			if !filepath.IsLocal(filepath.FromSlash(pattern)) {
				continue
			}
			if !isText(obj.Type()) {
				e.any = e.any || e.tree(pattern)
				continue
			}
			if text, ok := e.read(pattern); ok {
				if e.vars == nil {
					e.vars = map[types.Object]string{}
				}
				e.vars[obj] = text
				e.any = true
			}
		}
	}
}

// maxFiles bounds the files of one embedded tree that are read.
const maxFiles = 500

// tree reports whether one of the SQL files that a pattern names mentions a
// lock function.
func (e *embeds) tree(pattern string) bool {
	names, err := filepath.Glob(filepath.Join(e.dir, filepath.FromSlash(pattern)))
	if err != nil {
		return false
	}
	found, files := false, 0
	for _, name := range names {
		_ = filepath.WalkDir(name, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || found || files >= maxFiles {
				return fs.SkipAll
			}
			if filepath.Ext(path) == ".sql" {
				files++
				_, found = readSQL(path)
			}
			return nil
		})
	}
	return found
}

// read returns the text of an embedded file, if it mentions a lock function.
func (e *embeds) read(name string) (string, bool) {
	if e.dir == "" || !filepath.IsLocal(filepath.FromSlash(name)) {
		return "", false
	}
	return readSQL(filepath.Join(e.dir, filepath.FromSlash(name)))
}

// externTexts knows calls that return SQL: embed.FS's ReadFile, and Rebind of
// sqlx, which only writes placeholders in another way.
func (f *finder) externTexts(c *flow.Call) []flow.Text {
	if c.Method == nil || c.Method.Pkg() == nil || len(c.Args) == 0 {
		return nil
	}
	last := c.Args[len(c.Args)-1]
	switch c.Method.Name() {
	case "Rebind":
		if flow.IsString(last.Type()) {
			return f.prog.Texts(last, c.Frame)
		}
	case "In", "Named":
		if c.Recv == nil && isSqlx(c.Method) {
			return f.prog.Texts(c.Args[0], c.Frame)
		}
	case "ReadFile":
		if name, ok := recvName(c); ok && name != (typeName{"embed", "FS"}) || !ok && c.Method.Pkg().Path() != "io/fs" {
			return nil
		}
		var out []flow.Text
		for _, t := range f.prog.Texts(last, c.Frame) {
			if text, ok := f.embeds.read(t.S); ok {
				out = append(out, flow.Text{S: text})
			}
		}
		return out
	}
	return nil
}

func recvName(c *flow.Call) (typeName, bool) {
	if c.Recv == nil {
		return typeName{}, false
	}
	return nameOf(c.Recv.Type())
}

func isText(t types.Type) bool {
	if flow.IsString(t) {
		return true
	}
	s, ok := t.Underlying().(*types.Slice)
	return ok && types.Identical(s.Elem().Underlying(), types.Typ[types.Byte])
}

// readSQL returns a file's text if it mentions a lock function.
func readSQL(path string) (string, bool) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxEmbedded {
		return "", false
	}
	text, err := os.ReadFile(path)
	if err != nil || !sqltext.Mentions(string(text)) {
		return "", false
	}
	return string(text), true
}
