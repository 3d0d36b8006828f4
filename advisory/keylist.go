package advisory

import "slices"

// limitFraction is which part of the server's lock table one call may ask for.
//
// The table is shared by all sessions: max_locks_per_transaction × (max_connections + max_prepared_transactions) entries for certain, and at
// default settings about twice as many by the room left in shared memory. When it is full, plain SELECTs of other sessions fail, and so do new
// connections. With a quarter of the certain part, four such calls at a time still fit, and the other part is left to everybody's
// tables and indexes.
const limitFraction = 4

// sortKeys returns the keys in the order of [Key.Compare], each once, and how many of them are bigints. It leaves keys as it is.
func sortKeys(keys []Key) (sorted []Key, bigints int) {
	sorted = slices.Clone(keys)
	slices.SortFunc(sorted, Key.Compare)
	sorted = slices.Compact(sorted)
	bigints, _ = slices.BinarySearchFunc(sorted, Pair(-1<<31, -1<<31), Key.Compare)
	return sorted, bigints
}

// array adds the keys as the text of a bigint array. Pairs are packed so that they keep their order as numbers; see lockCase.
func (s *statement) array(keys []Key) {
	s.text.Grow(4 + 20*len(keys))
	s.add("'{")
	for i, key := range keys {
		if i > 0 {
			s.add(",")
		}
		s.digits(key.order())
	}
	s.add("}'")
}

// lockCase adds an expression that calls a lock function for the n-th key of an array, of which the first bigints are bigints and the
// others pairs.
func (s *statement) lockCase(function string, shared bool, n, key string, bigints int) {
	if shared {
		function += "_shared"
	}
	s.add("CASE WHEN " + n + "<=")
	s.digits(int64(bigints))
	s.add(" THEN pg_catalog." + function + "(" + key + ") ELSE pg_catalog." + function +
		"((" + key + ">>32)::integer,((" + key + "&4294967295)-2147483648)::integer) END")
}

// source adds a subquery which has one row if the guard holds and the server's lock table is large enough for so many keys, and fails
// otherwise. As a table of its own it is evaluated once, and before the first key.
func (s *statement) source(columns string, g guard, keys int) {
	s.add("(SELECT " + columns + " FROM (SELECT pg_catalog.current_setting('max_locks_per_transaction')::bigint*" +
		"(pg_catalog.current_setting('max_connections')::bigint+pg_catalog.current_setting('max_prepared_transactions')::bigint)/")
	s.digits(limitFraction)
	s.add(" AS most OFFSET 0) m WHERE CASE WHEN most<")
	s.digits(int64(keys))
	s.add(" THEN pg_catalog.concat('" + marker + "limit:',most,';')::boolean ELSE ")
	s.add(string(g))
	s.add(" END OFFSET 0)")
}

// lockAll makes the statement that waits for sorted keys one after the other. It returns one row.
//
// lock_timeout counts for each wait, so with a timeout what is left of it is set anew before each key.
func (s *statement) lockAll(keys []Key, bigints int, set *settings) {
	ms := set.milliseconds()
	columns := "1"
	if ms > 0 {
		columns = "pg_catalog.current_setting('lock_timeout') AS old,pg_catalog.clock_timestamp() AS began"
		s.add("SELECT pg_catalog.set_config('lock_timeout',pg_catalog.min(old),pg_catalog.count(CASE WHEN pg_catalog.set_config('lock_timeout',greatest(1,pg_catalog.ceil(")
		s.digits(ms)
		s.add("-1000*extract(epoch FROM pg_catalog.clock_timestamp()-began)))::bigint::pg_catalog.text,true) IS NOT NULL THEN (")
	} else {
		s.add("SELECT pg_catalog.count((")
	}
	s.lockCase("pg_advisory_xact_lock", set.shared, "n", "k", bigints)
	if ms > 0 {
		s.add(")::pg_catalog.text END)>0)")
	} else {
		s.add(")::pg_catalog.text)")
	}
	// The array comes sorted; ORDER BY says so to the server, which otherwise promises no order.
	s.add(" FROM (SELECT * FROM ")
	s.source(columns, set.guard(), len(keys))
	s.add(" g,pg_catalog.unnest(")
	s.array(keys)
	s.add("::bigint[]) WITH ORDINALITY u(k,n) ORDER BY n OFFSET 0) q")
}

// tryLockAll makes the text that tries to lock sorted keys, and waits for them no longer than the timeout if there is one. Its last statement
// returns one row if all were granted, else none.
//
// A transaction-level lock can only be given up by rolling back, so the keys are locked in a PL/pgSQL block with an EXCEPTION clause, which
// is a subtransaction: all of it in one round trip, where SAVEPOINT and ROLLBACK TO would take a second one. The answer comes out of the block by a setting, local
// to the transaction.
func (s *statement) tryLockAll(keys []Key, bigints int, set *settings) {
	s.add("DO $advisory$ DECLARE ks bigint[]:=")
	s.array(keys)
	s.add("; began timestamp with time zone:=pg_catalog.clock_timestamp(); old pg_catalog.text:=pg_catalog.current_setting('lock_timeout'); BEGIN PERFORM FROM ")
	s.source("1", set.guard(), len(keys))
	s.add(" g; PERFORM pg_catalog.set_config('advisory.granted','f',true); BEGIN FOR i IN 1..pg_catalog.cardinality(ks) LOOP ")
	if ms := set.milliseconds(); ms > 0 {
		s.add("PERFORM pg_catalog.set_config('lock_timeout',greatest(1,pg_catalog.ceil(")
		s.digits(ms)
		s.add("-1000*extract(epoch FROM pg_catalog.clock_timestamp()-began)))::bigint::pg_catalog.text,true); PERFORM ")
		s.lockCase("pg_advisory_xact_lock", set.shared, "i", "ks[i]", bigints)
		s.add("; END LOOP; PERFORM pg_catalog.set_config('lock_timeout',old,true); ")
	} else {
		s.add("IF NOT (") // PL/pgSQL would end the condition at the first THEN outside of parentheses
		s.lockCase("pg_try_advisory_xact_lock", set.shared, "i", "ks[i]", bigints)
		s.add(") THEN RAISE lock_not_available; END IF; END LOOP; ")
	}
	s.add("PERFORM pg_catalog.set_config('advisory.granted','t',true); EXCEPTION WHEN lock_not_available THEN NULL; END; END $advisory$;" +
		"SELECT 1 WHERE pg_catalog.current_setting('advisory.granted')::boolean")
}
