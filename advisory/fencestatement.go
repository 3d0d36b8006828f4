package advisory

import (
	"strconv"
	"time"
)

// inLocks adds a condition that a row l of pg_locks is a granted lock on one of some keys, in this database.
func (s *statement) inLocks(keys ...Key) {
	s.add("l.locktype='advisory' AND l.granted AND l.database=(SELECT oid FROM pg_database WHERE datname=current_database()) AND (")
	for i, key := range keys {
		if i > 0 {
			s.add(" OR ")
		}
		s.add("(l.classid,l.objid,l.objsubid)=('")
		s.digits(int64(uint32(key.number >> 32)))
		s.add("','")
		s.digits(int64(uint32(key.number)))
		if key.pair {
			s.add("',2)")
		} else {
			s.add("',1)")
		}
	}
	s.add(")")
}

// fenceStatement makes the statement that fences a transaction. It fails with a marker and whether this is a standby if the lease's session does not hold what it should.
//
// The order is forced: the subquery over pg_locks needs the row of f, and OFFSET 0 keeps the planner from joining the two the other way round. pg_locks shows what is held at that
// moment, whatever the transaction's snapshot. pg_stat_activity would not do: it tells other roles nothing.
func fenceStatement(pid int, nonce Key, n names, shared bool, ttl time.Duration) string {
	const timeout = "idle_in_transaction_session_timeout"
	ms := strconv.FormatInt(ttl.Milliseconds(), 10)
	mode := "ExclusiveLock"
	if shared {
		mode = "ShareLock"
	}
	var s statement
	s.text.Grow(1500)
	s.add("WITH f AS MATERIALIZED (SELECT concat(")
	s.call("pg_advisory_xact_lock", n.own(shared), true)
	s.add("::text,set_config('" + timeout + "',CASE WHEN current_setting('" + timeout + "')::interval>'0' AND current_setting('" + timeout + "')::interval<='" + ms +
		" ms' THEN current_setting('" + timeout + "') ELSE '" + ms + "' END,true)) AS x)," +
		"c AS MATERIALIZED (SELECT count(*) AS n FROM f CROSS JOIN LATERAL (SELECT 1 FROM pg_locks l WHERE f.x IS NOT NULL AND l.pid=")
	s.digits(int64(pid))
	s.add(" AND (")
	s.inLocks(n.lease)
	s.add(" AND l.mode='" + mode + "' OR ")
	s.inLocks(nonce)
	s.add(") OFFSET 0) q) SELECT CASE WHEN n>=2 THEN 1 ELSE ('" + marker + "lost:'||pg_is_in_recovery()::text||':'||n)::int END FROM c")
	return s.text.String()
}

// endFenced makes the statement that signals the sessions with fenced transactions, and returns their pids in one text.
func endFenced(function string, fences []Key) string {
	var s statement
	s.add("SELECT string_agg(pid::text,' ') FROM (SELECT l.pid," + function + "(l.pid) AS ok FROM (SELECT DISTINCT l.pid FROM pg_locks l WHERE l.pid<>pg_backend_pid() AND ")
	s.inLocks(fences...)
	s.add(" OFFSET 0) l OFFSET 0) q WHERE ok")
	return s.text.String()
}

// drawToken draws a transaction ID, and makes sure that it is on disk: one that left nothing in the write-ahead log could be drawn again after a crash.
const drawToken = "SELECT x::text::int8,pg_backend_pid() FROM (SELECT pg_current_xact_id() AS x,pg_logical_emit_message(true,'advisory',''::text) AS m," +
	"set_config('synchronous_commit',CASE current_setting('synchronous_commit') WHEN 'off' THEN 'local' ELSE current_setting('synchronous_commit') END,true) AS c OFFSET 0) q" +
	" WHERE m IS NOT NULL AND c IS NOT NULL"
