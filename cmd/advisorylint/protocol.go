package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/unitchecker"
)

// versionQuery is what the go command asks a tool for, to know whether results of an earlier run are still good.
const versionQuery = "-V=full"

// calledByGo reports whether args come from the go command (or another build system) which uses this program as a vet tool:
// it asks for the version or for the flags, or names the *.cfg file of one package after the flags.
func calledByGo(args []string) bool {
	if len(args) == 0 {
		return false
	}
	last := args[len(args)-1]
	return strings.HasSuffix(last, ".cfg") || len(args) == 1 && (undash(last) == undash(versionQuery) || undash(last) == "-flags")
}

// undash turns the two-dash form of a flag into the one-dash form.
func undash(arg string) string {
	if strings.HasPrefix(arg, "--") {
		return arg[1:]
	}
	return arg
}

// serveGo answers the go command. All but the version is package unitchecker's work, which reads the process's arguments,
// and ends the process.
func serveGo(rules []*analysis.Analyzer, args []string, stdout, stderr io.Writer) int {
	if undash(args[0]) == versionQuery {
		if err := writeToolID(stdout); err != nil {
			complain(stderr, err)
			return statusNotRun
		}
		return statusClean
	}
	delayCollection()
	unitchecker.Main(rules...)
	return statusClean
}

// writeToolID answers -V=full. unitchecker's own answer begins with the executable's path, and the go command, which splits
// the line at spaces, refuses it when there is a space in the path; the name alone does as well. The hash is taken from the
// file, as unitchecker does it, so that the go command drops kept results whenever the program changes.
func writeToolID(stdout io.Writer) error {
	path, err := os.Executable()
	if err != nil {
		return fmt.Errorf("cannot find this program's own file: %w", err)
	}
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("cannot read this program's own file: %w", err)
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return fmt.Errorf("cannot read this program's own file: %w", err)
	}
	_, err = fmt.Fprintf(stdout, "advisorylint version devel buildID=%x\n", hash.Sum(nil))
	return err
}
