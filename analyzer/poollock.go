package analyzer

import (
	"github.com/pgadvisory/pgadvisory/analyzer/internal/site"
	"github.com/pgadvisory/pgadvisory/analyzer/internal/sqltext"
)

const docPoollock = `poollock: report session-level locks that are taken through a pool

Wrong:

	if _, err := db.ExecContext(ctx, "SELECT pg_advisory_lock($1)", key); err != nil {
		return err
	}
	defer db.ExecContext(ctx, "SELECT pg_advisory_unlock($1)", key)

Right, if the lock protects what one transaction does:

	tx, err := db.BeginTx(ctx, nil)
	…
	_, err = tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", key)

Right, if the lock must outlive transactions:

	conn, err := db.Conn(ctx)
	…
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock($1)", key); err != nil {
		return err
	}
	defer conn.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", key)

A session-level lock belongs to the session, that is to one connection. A pool
takes any connection for the statement and puts it back at once, with the lock
on it. The work that follows runs on other connections, the unlock most likely
too: then it frees nothing, and the key stays locked until that connection
happens to be closed. Meanwhile whoever is given the connection with the lock
on it can take the same lock again.

Reported for *sql.DB and statements prepared on one, *sqlx.DB, pgx's
*pgxpool.Pool, *bun.DB, and *gorm.DB outside of Transaction, Connection and
Begin, also where they are embedded, behind an interface whose value is known,
or handed to a helper. MySQL's GET_LOCK, SQL Server's sp_getapplock with the
owner Session and Oracle's DBMS_LOCK.REQUEST are session-level locks as well.

Silent: a pool which SetMaxOpenConns(1), or MaxConns in pgxpool's configuration,
limits to one connection; a *sql.DB that the same function opens and closes; a
text that takes the lock and frees it again; a handle of which nothing in reach
tells what it is.

Since: 0.1
`

var poollock = rule(docPoollock, func(r *reporter) {
	for _, s := range r.Sites {
		if !takes(s) || s.Lock.Scope != sqltext.Session || s.Deep || s.Unsent || !s.On(site.Pool) || r.paired(s) {
			continue
		}
		if s.Lock.Func.Dialect == sqltext.PostgreSQL {
			r.report(s, "%s on %s locks a session that goes back to the pool with the lock on it: pin one connection with %s for lock, work and unlock, or take pg_advisory_xact_lock in a transaction",
				verb(s), handle(s), pin(s))
			continue
		}
		r.report(s, "%s on %s locks a session that goes back to the pool with the lock on it: pin one connection with %s for lock, work and unlock",
			verb(s), handle(s), pin(s))
	}
})
