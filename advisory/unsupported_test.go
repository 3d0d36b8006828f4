package advisory_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/DATA-DOG/go-sqlmock"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgadvisory/pgadvisory/advisory"
)

// What servers answer that are not PostgreSQL, and a PostgreSQL that speaks German: none of them can be staged with a real server here.
func TestOtherServers(t *testing.T) {
	for name, c := range map[string]struct {
		code, message string
		want          error
	}{
		"the guard sees crdb_version":      {"22P02", `invalid input syntax for type boolean: "advisory:CockroachDB CCL v25.1.0 (x86_64)fseri;"`, advisory.ErrUnsupported},
		"the guard's functions differ":     {"42883", `unknown signature: concat(string, bool, string)`, advisory.ErrUnsupported},
		"there is no such function":        {"42883", `function pg_advisory_xact_lock(unknown) does not exist`, advisory.ErrUnsupported},
		"there is no such setting":         {"42704", `unrecognized configuration parameter "transaction_isolation"`, advisory.ErrUnsupported},
		"advisory locks are switched off":  {"0A000", `advisory locks are not yet implemented`, advisory.ErrUnsupported},
		"a standby, in German":             {"22P02", `ungültige Eingabesyntax für Typ boolean: »advisory:tread;«`, advisory.ErrStandby},
		"an old snapshot, in German":       {"22P02", `ungültige Eingabesyntax für Typ boolean: »advisory:frepe;«`, advisory.ErrSnapshot},
		"too many locks, in German":        {"22P02", `ungültige Eingabesyntax für Typ boolean: »advisory:limit:1600;«`, advisory.ErrTooManyLocks},
		"the like, but not the guard's":    {"22P02", `invalid input syntax for type boolean: "maybe"`, nil},
		"the like, but of another version": {"22P02", `invalid input syntax for type boolean: "advisory:may"`, nil},
	} {
		db, mock, err := sqlmock.New()
		must(t, err)
		cause := &pgconn.PgError{Severity: "ERROR", Code: c.code, Message: c.message}
		mock.ExpectBegin()
		mock.ExpectExec("pg_advisory_xact_lock").WithoutArgs().WillReturnError(cause)
		mock.ExpectRollback()
		mock.ExpectClose()
		tx := begin(t, db, nil)
		err = advisory.Lock(testContext(t), tx, advisory.ID(42))
		if c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		for _, other := range []error{advisory.ErrUnsupported, advisory.ErrStandby, advisory.ErrSnapshot, advisory.ErrTooManyLocks, advisory.ErrTimeout} {
			if other != c.want && errors.Is(err, other) {
				t.Errorf("%s: %v, which is not what happened", name, other)
			}
		}
		if !errors.Is(err, cause) || !strings.HasPrefix(err.Error(), "advisory: ") {
			t.Errorf("%s: %v, want it to wrap the server's error", name, err)
		}
		must(t, tx.Rollback())
		must(t, db.Close())
		must(t, mock.ExpectationsWereMet())
	}
}
