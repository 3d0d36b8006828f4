package advisory

import (
	"strconv"
	"strings"
)

// A statement is one SQL statement that takes locks. Its values are either written into the text, or placeholders with arguments.
//
// Functions are named with their schema and numbers with their type, so that no function of the same name in a user's schema, such as a convenient
// pg_advisory_xact_lock(text), takes their place. A number is quoted because of the smallest ones: -2147483648 without quotes is a bigint.
type statement struct {
	text         strings.Builder
	args         []any
	placeholders bool
}

func (s *statement) add(text string) { s.text.WriteString(text) }

func (s *statement) digits(n int64) {
	var buf [20]byte
	s.text.Write(strconv.AppendInt(buf[:0], n, 10))
}

// number adds a number of the given type.
func (s *statement) number(n int64, sqlType string) {
	if s.placeholders {
		s.arg(n)
	} else {
		s.add("'")
		s.digits(n)
		s.add("'")
	}
	s.add("::")
	s.add(sqlType)
}

// setting adds a number as text, which is what set_config takes.
func (s *statement) setting(n int64) {
	if s.placeholders {
		s.arg(strconv.FormatInt(n, 10))
		return
	}
	s.add("'")
	s.digits(n)
	s.add("'")
}

func (s *statement) arg(value any) {
	s.args = append(s.args, value)
	s.add("$")
	s.digits(int64(len(s.args)))
}

// call adds the call of a lock function for one key.
func (s *statement) call(function string, key Key, shared bool) {
	s.add("pg_catalog.")
	s.add(function)
	if shared {
		s.add("_shared")
	}
	s.add("(")
	if key.pair {
		s.number(int64(key.class()), "integer")
		s.add(",")
		s.number(int64(key.object()), "integer")
	} else {
		s.number(key.number, "bigint")
	}
	s.add(")")
}

// A guard is an SQL condition which is true where a lock means what it says, and which fails elsewhere, so that the server aborts the transaction before
// anything is locked. It fails by casting a text to a boolean, since the error (22P02) quotes the text: "advisory:", the value of
// crdb_version where there is one, t in recovery and f on a primary, the first four letters of the isolation level, and ";". See [refusal].
//
// The conditions are one concat compared by replace, not three tests and an ELSE branch: of all forms tried this is the shortest to parse and plan, which is most of
// what a lock statement costs.
type guard string

const (
	noGuard guard = "true"
	// serverGuard refuses standbys and servers whose lock functions do nothing.
	serverGuard = guardHead + "'read'" + guardTail
	// fullGuard refuses what serverGuard does, and transactions whose snapshot can be older than the lock.
	fullGuard = guardHead + "pg_catalog.left(" + guardLevel + ",4)" + guardTail
	// quickGuard refuses the same but for imitations of PostgreSQL at READ COMMITTED. It is long to parse and quick to run, for statements whose plan is cached.
	quickGuard = "CASE WHEN pg_catalog.pg_is_in_recovery() OR " + guardLevel + "<>'read committed' THEN " + fullGuard + " ELSE true END"

	guardHead guard = "pg_catalog.replace(pg_catalog.concat('" + marker + "',pg_catalog.current_setting('crdb_version',true),pg_catalog.pg_is_in_recovery(),"
	guardTail guard = ",';'),'" + marker + "fread;','t')::boolean"

	guardLevel guard = "pg_catalog.current_setting('transaction_isolation')"
)

func (s *settings) guard() guard {
	if s.oldSnapshot {
		return serverGuard
	}
	return fullGuard
}

// lock makes the statement that waits for one key. It returns one row.
//
// With a timeout, the old one is read by a subquery (OFFSET 0 keeps the planner from merging it), the new one is set and the lock taken while
// the arguments of the outermost call are computed, and that call puts the old one back. Each step needs the result of the one
// before, so the order does not rest on how the server happens to evaluate.
func (s *statement) lock(g guard, key Key, set *settings) {
	s.text.Grow(512) // the longest with a full guard
	if ms := set.milliseconds(); ms > 0 {
		s.add("SELECT pg_catalog.set_config('lock_timeout',old,CASE WHEN pg_catalog.set_config('lock_timeout',")
		s.setting(ms)
		s.add(",true) IS NOT NULL THEN ")
		s.call("pg_advisory_xact_lock", key, set.shared)
		s.add(" IS NOT NULL END) FROM (SELECT pg_catalog.current_setting('lock_timeout') AS old WHERE ")
		s.add(string(g))
		s.add(" OFFSET 0) o")
		return
	}
	s.add("SELECT ")
	s.call("pg_advisory_xact_lock", key, set.shared)
	if g != noGuard {
		s.add(" WHERE ")
		s.add(string(g))
	}
}

// tryLock makes the statement that tries one key without a timeout. It returns one row if the lock was granted, else none: the number of rows
// reaches the caller through Exec, and Exec without arguments is one round trip on every driver.
func (s *statement) tryLock(g guard, key Key, set *settings) {
	s.text.Grow(512)
	s.add("SELECT 1 WHERE ")
	if g != noGuard {
		s.add("CASE WHEN ")
		s.add(string(g))
		s.add(" THEN ")
	}
	s.call("pg_try_advisory_xact_lock", key, set.shared)
	if g != noGuard {
		s.add(" END")
	}
}
