package analyzer

import (
	"github.com/pgadvisory/pgadvisory/analyzer/internal/site"
	"github.com/pgadvisory/pgadvisory/analyzer/internal/sqltext"
)

const docPoolunlock = `poolunlock: report unlocks that are run through a pool

Wrong:

	_, err := db.ExecContext(ctx, "SELECT pg_advisory_unlock($1)", key)

Right, on the connection that took the lock:

	_, err := conn.ExecContext(ctx, "SELECT pg_advisory_unlock($1)", key)

Only the session that holds a session-level lock can free it. A pool runs the
statement on any connection. On another one than the lock's it answers false
with a warning, which drivers do not show, and the lock stays.

pg_advisory_unlock_all through a pool is reported too: it frees the locks of
one connection, nobody knows which.

Reported and silent for the same handles as poollock.

Since: 0.1
`

var poolunlock = rule(docPoolunlock, func(r *reporter) {
	for _, s := range r.Sites {
		if !frees(s) || s.Lock.Scope == sqltext.Transaction || s.Deep || s.Unsent || !s.On(site.Pool) || r.paired(s) {
			continue
		}
		if s.Is(sqltext.UnlockAll) {
			r.report(s, "%s on %s frees the locks of any one of its sessions: run it on the connection that holds the lock",
				verb(s), handle(s))
			continue
		}
		r.report(s, "%s on %s may reach another session than the lock did, where it answers false and frees nothing: run it on the connection that took the lock",
			verb(s), handle(s))
	}
})
