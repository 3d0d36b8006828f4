package advisory_test

import (
	"os/exec"
	"strings"
	"testing"
)

// Who imports advisory gets nothing else with it: no driver, no module.
func TestImportsStandardLibraryOnly(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	const self = "github.com/pgadvisory/pgadvisory/advisory"
	if got := strings.Fields(string(out)); len(got) != 1 || got[0] != self {
		t.Errorf("packages outside of the standard library: %q, want only %s", got, self)
	}
}
