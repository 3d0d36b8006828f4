package leader

import (
	"context"
	"database/sql"
	"fmt"
	"net/netip"
	"time"

	"github.com/pgadvisory/pgadvisory/advisory"
)

// A Holder is what the server knows of the session that leads (PostgreSQL's views pg_locks and pg_stat_activity).
//
// An ordinary role sees all of it for sessions of its own role and of those that it is a member of; of others it sees PID, Application and Role only, and the rest is
// zero. Members of pg_read_all_stats, as those of pg_monitor, see all of it for all.
type Holder struct {
	PID         int    // of the server process
	Application string // application_name, which each process should set in its connection string to be known by
	Role        string // the role it logged in as

	// Client is the address from which it is connected, which is the pooler's if there is one. It is the zero Addr for a Unix-domain socket.
	Client netip.Addr

	// Connected is when the session began, by the server's clock. Its leadership began then or later: the server keeps no record of when a lock was granted.
	Connected time.Time

	// Heard is when the session was last heard of: a leader sends a heartbeat every third of its Locker's TTL.
	Heard time.Time

	Restricted bool // the role of db may not see more than PID, Application and Role
}

// Leader returns who leads, asked from any process that can connect to the database; it need not be a candidate. It reports false if nobody leads. Leader is one round trip.
//
// It looks for the lock on [advisory.LeaseKey] of key. So for a moment, while leadership changes hands, it can name a candidate that looks at the lock, or whose term is
// about to begin. It does not find electors whose Locker has [advisory.PlainKeys]. The answer may be over when it arrives.
//
// On a standby, which does not know the locks of its primary, it returns an error that wraps [advisory.ErrStandby]. Other errors are
// ctx's and the driver's. Leader panics if db is nil.
func Leader(ctx context.Context, db *sql.DB, key advisory.Key) (holder Holder, ok bool, err error) {
	if db == nil {
		panic("leader: Leader: db is nil")
	}
	var standby bool
	var pid sql.NullInt64
	var application, role, client sql.NullString
	var connected, heard sql.NullTime
	// Without arguments, which cost lib/pq a round trip. The key is a number.
	err = db.QueryRowContext(ctx, `SELECT pg_is_in_recovery(), l.pid, a.application_name, a.usename, host(a.client_addr), a.backend_start, a.state_change
		FROM (SELECT) AS one LEFT JOIN pg_locks l ON l.locktype = 'advisory' AND l.granted AND l.mode = 'ExclusiveLock' AND l.objsubid = 1
			AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
			AND (l.classid::int8 << 32 | l.objid::int8) = '`+advisory.LeaseKey(key).String()+`'::int8
		LEFT JOIN pg_stat_activity a ON a.pid = l.pid`).Scan(&standby, &pid, &application, &role, &client, &connected, &heard)
	if err != nil {
		if reason := ctx.Err(); reason != nil {
			return Holder{}, false, fmt.Errorf("leader: Leader %v: %w (%v)", key, reason, err)
		}
		return Holder{}, false, fmt.Errorf("leader: Leader %v: %w", key, err)
	}
	if standby {
		return Holder{}, false, fmt.Errorf("leader: Leader %v: ask the primary: %w", key, advisory.ErrStandby)
	}
	if !pid.Valid {
		return Holder{}, false, nil
	}
	holder = Holder{PID: int(pid.Int64), Application: application.String, Role: role.String, Connected: connected.Time, Heard: heard.Time, Restricted: !connected.Valid}
	if client.Valid {
		if holder.Client, err = netip.ParseAddr(client.String); err != nil {
			return Holder{}, false, fmt.Errorf("leader: Leader %v: address of the client: %w", key, err)
		}
	}
	return holder, true, nil
}
