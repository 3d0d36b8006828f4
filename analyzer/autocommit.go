package analyzer

import (
	"github.com/pgadvisory/pgadvisory/analyzer/internal/site"
	"github.com/pgadvisory/pgadvisory/analyzer/internal/sqltext"
)

const docAutocommit = `autocommit: report transaction-level locks that are taken outside a transaction

Wrong:

	if _, err := db.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", key); err != nil {
		return err
	}
	_, err := db.ExecContext(ctx, "UPDATE …") // nothing is locked here

Right:

	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", key); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "UPDATE …"); err != nil {
		return err
	}
	return tx.Commit()

Without BEGIN each statement is a transaction of its own, so the lock is free
again when the statement ends: it is not kept until the connection goes back to
the pool. The outer db, used within a function that was handed a transaction,
is outside of that transaction as well.

Silent: a text with further statements, a DO block and a statement that also
changes data, for which the lock lives long enough; pgx's Batch, which is one
transaction; a connection on which a transaction was begun, or may have been
begun by a caller; a try-lock whose answer is returned, stored or shown, since
it may only ask. A try-lock whose answer decides on what is done next is
reported.

A lock that is taken only to wait until nobody holds it is right, and rare:

	//advisorylint:ignore autocommit only waits for those who hold it now

Since: 0.1
`

var autocommit = rule(docAutocommit, func(r *reporter) {
	for _, s := range r.Sites {
		if !takes(s) || s.Lock.Scope != sqltext.Transaction || s.Deep || s.Unsent || !s.Autocommitted() {
			continue
		}
		if s.Is(sqltext.TryLock) && !s.Gates() {
			continue
		}
		if s.On(site.Pool, site.Single) {
			r.report(s, "%s on %s is outside a transaction, so the lock is free again as the statement ends: begin a transaction, and lock and work in it", verb(s), name(s))
			continue
		}
		r.report(s, "%s on %s, where no transaction is open, is free again as the statement ends: begin a transaction, and lock and work in it", verb(s), name(s))
	}
})
