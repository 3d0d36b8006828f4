package crosspkg

import (
	"context"

	"github.com/pgadvisory/pgadvisory/analyzer/testdata/crosspkg/db"
)

func wrapped(ctx context.Context, d *db.DB) error {
	if _, err := d.Exec(ctx, "SELECT pg_advisory_lock(1)"); err != nil { // want `run by Exec, on the pool behind d .*poollock`
		return err
	}
	if _, err := d.Exec(ctx, "SELECT pg_advisory_xact_lock(1)"); err != nil { // want `run by Exec, on the pool behind d is outside .*autocommit`
		return err
	}
	return d.InTx(ctx, func(tx *db.Tx) error {
		_, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(1)")
		return err
	})
}
