package demo

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/pgadvisory/pgadvisory/analyzer"
)

// sample is a program full of mistakes. The directory's name keeps it out of the
// module's own packages.
//
//go:embed _sample/*.go
var sample embed.FS

const (
	sampleDir  = "_sample"
	sampleFile = "jobs.go"
	sampleMod  = "module example.com/shop\n\ngo 1.26\n"
)

// A finding is what the linter says about one place in the sample.
type finding struct {
	at      token.Position // the file's name is relative to the sample
	message string
}

func showLinter(ctx context.Context, p *page, _ *stage) error {
	p.title("4. Finding such mistakes in code")
	p.text(`The linter advisorylint reads Go code, and runs none of it. Here it reads a small program which has the mistake of
		step 2 and four other ways to lose a lock:`)
	p.space()
	begun := time.Now()
	found, err := lintSample(ctx)
	if errors.Is(err, errNoGo) {
		p.show("Left out: there is no go command on PATH.")
	}
	if err != nil {
		return err
	}
	duration := since(begun)
	source, err := sample.ReadFile(sampleDir + "/" + sampleFile)
	if err != nil {
		return err
	}
	lines := strings.Split(string(source), "\n")
	for _, f := range found {
		p.write(wrapped(fmt.Sprintf("%s: %s", f.at, f.message), "", indent))
		p.write(fmt.Sprintf("%s%d | %s\n", indent, f.at.Line, strings.TrimSpace(lines[f.at.Line-1])))
	}
	p.space()
	p.text(`%d findings in %s, and none for settle, which is right. For your own code:`, len(found), duration)
	p.space()
	p.show("go install github.com/pgadvisory/pgadvisory/cmd/advisorylint@latest")
	p.show("advisorylint ./...")
	return nil
}

var errNoGo = errors.New("the linter needs the go command to load a program")

// lintSample runs the linter's rules on the sample, in this process, and returns
// what they find in the order of the lines. Its error wraps errNoGo if there is no
// go command.
func lintSample(ctx context.Context) (found []finding, err error) {
	if _, err := exec.LookPath("go"); err != nil {
		return nil, fmt.Errorf("%w: %w", errNoGo, err)
	}
	dir, err := os.MkdirTemp("", "advisory-demo-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	pkg, err := loadSample(ctx, dir)
	if err != nil {
		return nil, err
	}
	graph, err := checker.Analyze(analyzer.Suite, []*packages.Package{pkg}, nil)
	if err != nil {
		return nil, err
	}
	for _, act := range graph.Roots {
		if act.Err != nil {
			return nil, fmt.Errorf("%v: %w", act, act.Err)
		}
		for _, d := range act.Diagnostics {
			at := pkg.Fset.Position(d.Pos)
			at.Filename = filepath.Base(at.Filename)
			found = append(found, finding{at, d.Message})
		}
	}
	slices.SortFunc(found, func(a, b finding) int {
		return cmp.Or(a.at.Line-b.at.Line, a.at.Column-b.at.Column, strings.Compare(a.message, b.message))
	})
	return found, nil
}

// loadSample makes the sample a module in dir and type-checks it.
func loadSample(ctx context.Context, dir string) (*packages.Package, error) {
	source, err := sample.ReadFile(sampleDir + "/" + sampleFile)
	if err != nil {
		return nil, err
	}
	for name, content := range map[string][]byte{sampleFile: source, "go.mod": []byte(sampleMod)} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return nil, err
		}
	}
	pkgs, err := packages.Load(&packages.Config{
		Context: ctx,
		// The standard library comes as export data, not as source, which takes a tenth
		// of the time. The sample needs nothing else.
		Mode: packages.LoadSyntax,
		Dir:  dir,
		// Whatever is set for the user's own modules must not hold for this one. An
		// interrupted go command leaves files in GOTMPDIR.
		Env: append(os.Environ(), "GO111MODULE=on", "GOWORK=off", "GOPROXY=off", "GOTOOLCHAIN=local",
			"GOPACKAGESDRIVER=off", "GOTMPDIR="+dir),
		BuildFlags: []string{"-mod=mod"},
	}, ".")
	if err != nil {
		return nil, fmt.Errorf("loading the sample program: %w", err)
	}
	var errs []error
	for _, pkg := range pkgs {
		for _, err := range pkg.Errors {
			errs = append(errs, err)
		}
	}
	if len(errs) > 0 || len(pkgs) != 1 {
		return nil, fmt.Errorf("the sample program does not load: %w", errors.Join(errs...))
	}
	// The rules would look at the imports for helpers that lock. The standard
	// library has none, and its source is not there.
	pkgs[0].Imports = nil
	return pkgs[0], nil
}
