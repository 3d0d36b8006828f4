package cron

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// An Option changes how this package's functions work. Those that say nothing to a function are ignored by it.
type Option func(*settings)

type settings struct {
	schema        string
	crashed, fail int // attempts
	keep          time.Duration
}

func settingsOf(opts []Option) settings {
	set := settings{schema: DefaultSchema, crashed: 1, fail: 1}
	for _, opt := range opts {
		opt(&set)
	}
	return set
}

// In names the schema, in the sense of SQL, that holds the tables; it is [DefaultSchema] without this option. The name is taken as it is, as if quoted in
// SQL. Jobs in different schemas have nothing to do with each other.
//
// In panics if PostgreSQL would not take the name, or would cut it off: if it is empty, longer than 63 bytes, no UTF-8, or has a zero byte.
func In(schema string) Option {
	if schema == "" || len(schema) > 63 || !utf8.ValidString(schema) || strings.ContainsRune(schema, 0) {
		panic(fmt.Sprintf("cron: In(%q): this is no name of a schema; it needs 1 to 63 bytes of UTF-8", schema))
	}
	return func(set *settings) { set.schema = schema }
}

// RetryCrashed runs a tick again of which the last run crashed, if this is at most the given number of attempts in all. Whoever comes next with the tick
// does it; nobody waits for that. What a crashed run did outside of the database may be done twice.
//
// RetryCrashed panics if attempts is less than 1.
func RetryCrashed(attempts int) Option {
	mustAttempt("RetryCrashed", attempts)
	return func(set *settings) { set.crashed = attempts }
}

// RetryFailed runs a tick again of which the last run failed, if this is at most the given number of attempts in all. Whoever comes next with the tick does it.
//
// RetryFailed panics if attempts is less than 1.
func RetryFailed(attempts int) Option {
	mustAttempt("RetryFailed", attempts)
	return func(set *settings) { set.fail = attempts }
}

func mustAttempt(call string, attempts int) {
	if attempts < 1 {
		panic(fmt.Sprintf("cron: %s(%d): the first run is an attempt, too", call, attempts))
	}
}

// Keep deletes the rows of ticks which are older than d, by the server's clock, of all jobs in the schema. It does so after a run, at most
// [SweepBatch] rows at a time; [Sweep] deletes all at once. Ticks that old are not run afterwards: see [TooOld]. Without this option all
// rows are kept.
//
// Keep panics if d is not positive.
func Keep(d time.Duration) Option {
	if d <= 0 {
		panic(fmt.Sprintf("cron: Keep(%v): the time must be positive", d))
	}
	return func(set *settings) { set.keep = d }
}
