// Package advisory takes PostgreSQL's advisory locks through database/sql, with any driver, as a lock across processes.
//
// The default is the transaction-level lock. [Do] runs a function in a transaction which holds the lock, and [Lock] takes one in a
// transaction that the caller has begun; COMMIT and ROLLBACK free it, and so does the loss of the connection. Nothing has to be unlocked, and
// nothing can leak into the pool.
//
//	err := advisory.Do(ctx, db, advisory.Name("invoice", id), func(ctx context.Context, tx *sql.Tx) error {
//		// Nobody else is here with this invoice, in this process or another.
//		return nil
//	})
//
// A lock that must outlive a transaction is a [Lease] of a [Locker]: a session-level lock which is released, or lost and known to be lost.
//
//	lease, err := locker.Acquire(ctx, advisory.Name("import"))
//	if err != nil {
//		return err
//	}
//	defer lease.Release(ctx)
//	return work(lease.Context())
//
// # Handles
//
// Functions which lock take a [*sql.Tx] and not an interface. On a pool a transaction-level lock is gone when its statement ends, without an
// error; that way the mistake does not compile. A [*sql.DB] is taken only where the package begins the transaction itself.
//
// # Round trips
//
// Each call that takes locks is one round trip to the server, whatever its options and however many its keys (on pgx, [Do] prepares its statement the first
// times on a connection). Keys are written into the statement as numbers, and statements have no arguments, because lib/pq spends a round trip of its own on arguments and because a
// statement without arguments leaves nothing prepared behind: caches do not fill up with a statement per key, and poolers in
// transaction mode (PgBouncer and others) are safe. Only [Do] and [TryDo] use arguments, and only on pgx, where that is faster.
//
// # Errors
//
// Every error says which key it is about and what to do, and wraps the driver's error, so that errors.As finds a *pgconn.PgError or a *pq.Error.
// An error of the server's aborts the caller's transaction, as every error in SQL does; what remains is to roll back, all or to
// a savepoint set before. Rolling back to a savepoint frees the locks that were taken after it.
//
// When ctx has ended, the error is ctx's own whatever the driver made of it: errors.Is(err, ctx.Err()) is true.
package advisory
