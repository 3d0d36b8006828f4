package advisory

import (
	"strconv"
	"time"
)

// Statements of a session that holds leases answer by their number of rows, which reaches the caller through Exec whatever the driver, without
// preparing a statement per key. None of them waits.
const (
	otherSession  = 0 // the statement has met another session than the one that holds the locks: there is a pooler in between
	refused       = 1 // the lock is not free, or was not held
	granted       = 2 // the lock is held, but fenced transactions of an earlier holder are in the way; or it was freed
	grantedFenced = 3 // the lock is held, and no earlier holder has a fenced transaction any more
)

// answer makes a statement out of the cases of a CASE expression, which the server computes one after the other until one applies.
func (s *statement) answer(pid int, cases func()) string {
	s.text.Grow(512)
	s.add("SELECT 1 FROM generate_series(1,CASE WHEN pg_backend_pid()<>")
	s.digits(int64(pid))
	s.add(" THEN 0 ")
	cases()
	s.add(" END)")
	return s.text.String()
}

// tryLease makes the statement that tries to take a lease's lock, and then the barrier.
func tryLease(pid int, n names, shared bool) string {
	var s statement
	return s.answer(pid, func() {
		s.add("WHEN NOT ")
		s.call("pg_try_advisory_lock", n.lease, shared)
		s.add(" THEN 1 ")
		s.barrier(n, shared)
	})
}

// tryBarrier makes the statement that tries the barrier alone.
func tryBarrier(pid int, n names, shared bool) string {
	var s statement
	return s.answer(pid, func() { s.barrier(n, shared) })
}

// barrier adds cases that take what fenced transactions hold, and give it up again at once.
func (s *statement) barrier(n names, shared bool) {
	for _, key := range n.barriers(shared) {
		s.add("WHEN NOT ")
		s.call("pg_try_advisory_lock", key, false)
		s.add(" THEN 2 WHEN NOT ")
		s.call("pg_advisory_unlock", key, false)
		s.add(" THEN 2 ")
	}
	s.add("ELSE 3")
}

func unlockLease(pid int, n names, shared bool) string {
	var s statement
	return s.answer(pid, func() {
		s.add("WHEN ")
		s.call("pg_advisory_unlock", n.lease, shared)
		s.add(" THEN 2 ELSE 1")
	})
}

func heartbeat(pid int) string {
	var s statement
	return s.answer(pid, func() { s.add("ELSE 2") })
}

// sessionSettings are what a session is given, so that the server ends it when its client is gone: the names, and the values for a ttl.
func sessionSettings(ttl time.Duration) [][2]string {
	ms := strconv.FormatInt(ttl.Milliseconds(), 10)
	third := ttl / 3
	seconds := strconv.Itoa(max(1, int(third/time.Second)))
	return [][2]string{
		{"idle_session_timeout", ms},
		{"client_connection_check_interval", strconv.FormatInt(third.Milliseconds(), 10)},
		{"tcp_keepalives_idle", seconds},
		{"tcp_keepalives_interval", seconds},
		{"tcp_keepalives_count", "2"},
		{"tcp_user_timeout", ms},
	}
}

// setUp makes the statement that gives a session its settings and its nonce, and returns one row: the pid and, as the text of SQL that puts them back, the
// old settings.
//
// The old values come out of a subquery, OFFSET 0 keeps it apart, and each new value is set only where the old text is known.
func setUp(nonce Key, ttl time.Duration) string {
	settings := sessionSettings(ttl)
	var s statement
	s.add("SELECT pg_backend_pid(),old FROM (SELECT concat_ws(' AND '")
	for _, setting := range settings {
		s.add(",format('set_config(%L,%L,false) IS NOT NULL','" + setting[0] + "',current_setting('" + setting[0] + "'))")
	}
	s.add(") AS old OFFSET 0) o WHERE old IS NOT NULL AND ")
	s.call("pg_try_advisory_lock", nonce, false)
	for _, setting := range settings {
		s.add(" AND set_config('" + setting[0] + "','" + setting[1] + "',CASE WHEN old IS NULL THEN true ELSE false END) IS NOT NULL")
	}
	return s.text.String()
}

// putBack makes the statement that undoes setUp. It has 2 rows if it did.
func putBack(pid int, nonce Key, old string) string {
	var s statement
	return s.answer(pid, func() {
		s.add("WHEN ")
		s.call("pg_advisory_unlock", nonce, false)
		s.add(" AND set_config('advisory.probe','',false) IS NOT NULL AND " + old)
		s.add(" THEN 2 ELSE 1")
	})
}

// waitSlice makes the statement that waits for a lock, and has it no longer than itself.
func waitSlice(key Key, shared bool) string {
	var s statement
	s.add("SELECT 1 WHERE CASE WHEN set_config('lock_timeout','")
	s.digits(sliceLimit.Milliseconds())
	s.add("',true) IS NOT NULL THEN ")
	s.call("pg_advisory_xact_lock", key, shared)
	s.add(" IS NOT NULL END")
	return s.text.String()
}
