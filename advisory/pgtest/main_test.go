//go:build unix

package pgtest_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/pgadvisory/pgadvisory/advisory/pgtest"
	"go.uber.org/goleak"
)

// shared is for the tests that leave it as it was.
var shared *pgtest.Server

func TestMain(m *testing.M) {
	if how := os.Getenv(childEnv); how != "" {
		child(how)
	}
	os.Exit(runAll(m))
}

func runAll(m *testing.M) int {
	var err error
	if shared, err = pgtest.New(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer shared.Close()

	// An example cannot skip itself.
	if os.Getenv("ADVISORY_TEST_DSN") != "" {
		flag.Parse()
		if err := flag.Set("test.skip", "^ExampleServer_StartStandby$"); err != nil {
			panic(err)
		}
	}
	code := m.Run()
	// A running server must cost no goroutine, or the tests of others would
	// find it.
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// needOwn skips a test that starts servers when only a running one may be used.
func needOwn(t *testing.T) {
	t.Helper()
	shared.SkipIfExternal(t)
}
