package pgtest_test

import (
	"testing"

	"github.com/pgadvisory/pgadvisory/advisory/pgtest"
)

func TestStart(t *testing.T) {
	srv := pgtest.Start(t)
	for _, driver := range pgtest.Drivers {
		var got string
		if err := srv.Open(t, driver).QueryRowContext(t.Context(), "SELECT current_database()").Scan(&got); err != nil {
			t.Fatal(err)
		}
		if got != "postgres" {
			t.Errorf("%s: database %q, want postgres", driver, got)
		}
		own := srv.Database(t)
		if err := own.Open(t, driver).QueryRowContext(t.Context(), "SELECT current_database()").Scan(&got); err != nil {
			t.Fatal(err)
		}
		if got != own.Name() {
			t.Errorf("%s: database %q, want %q", driver, got, own.Name())
		}
	}
}
