package advisory_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/lib/pq"
)

// assertDriverError checks that err wraps the error of either driver with the given SQLSTATE, and that its text is of this package.
func assertDriverError(t testing.TB, err error, state string) {
	t.Helper()
	pgxErr, isPgx := errors.AsType[*pgconn.PgError](err)
	pqErr, isPq := errors.AsType[*pq.Error](err)
	switch {
	case isPgx && pgxErr.Code == state, isPq && string(pqErr.Code) == state:
	default:
		t.Errorf("%v: does not wrap a driver's error with SQLSTATE %s", err, state)
	}
	if err != nil && !strings.HasPrefix(err.Error(), "advisory: ") {
		t.Errorf("%q does not begin with the package's name", err)
	}
}

func sqlState(err error) string {
	if e, ok := errors.AsType[interface {
		error
		SQLState() string
	}](err); ok {
		return e.SQLState()
	}
	return ""
}
