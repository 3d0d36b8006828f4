package cron

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"

	"github.com/pgadvisory/pgadvisory/advisory"
)

// DefaultSchema is the schema that holds the tables unless [In] names another.
const DefaultSchema = "pgadvisory_cron"

// version is the version of the tables that this package creates. Later ones only add to it, so that programs of different versions can run side by side.
const version = 1

const schemaText = `CREATE SCHEMA IF NOT EXISTS {schema};

-- One row per run of a tick of a job. A running one whose lock nobody holds has crashed.
CREATE TABLE IF NOT EXISTS {schema}.run (
	job      text        NOT NULL CHECK (job <> ''),
	tick     timestamptz NOT NULL,
	attempt  integer     NOT NULL CHECK (attempt > 0),
	state    text        NOT NULL CHECK (state IN ('running', 'succeeded', 'failed', 'crashed')),
	lock_key bigint      NOT NULL,
	started  timestamptz NOT NULL DEFAULT clock_timestamp(),
	ended    timestamptz,
	error    text,
	PRIMARY KEY (job, tick, attempt)
);
CREATE INDEX IF NOT EXISTS run_tick ON {schema}.run (tick);

-- One row: ticks before it may have been deleted, and are not run any more.
CREATE TABLE IF NOT EXISTS {schema}.swept (
	single boolean     PRIMARY KEY DEFAULT true CHECK (single),
	before timestamptz NOT NULL
);
INSERT INTO {schema}.swept (before) VALUES ('-infinity') ON CONFLICT DO NOTHING;

CREATE TABLE IF NOT EXISTS {schema}.version (
	single boolean PRIMARY KEY DEFAULT true CHECK (single),
	number integer NOT NULL
);
INSERT INTO {schema}.version (number) VALUES ({version}) ON CONFLICT DO NOTHING;
`

// Schema returns the SQL that creates the tables, for those who keep their own migrations. It can be run again, but not by two at a time.
//
// The program itself needs the rights to use the schema, to SELECT, INSERT, UPDATE and DELETE in its table run, and to SELECT and UPDATE in its table swept.
func Schema(opts ...Option) string { return statementsOf(settingsOf(opts).schema).create }

// Migrate creates the tables where they are missing, in one transaction. It may be called by many processes at a time, and whenever a program starts: when there is
// nothing to do it needs no right to create anything.
//
// Tables that a later version of this package has made are left as they are; it works with them. Errors are those of [advisory.Do], and the driver's.
// Migrate panics if db is nil.
func Migrate(ctx context.Context, db *sql.DB, opts ...Option) error {
	if db == nil {
		panic("cron: Migrate: db is nil")
	}
	schema := settingsOf(opts).schema
	s := statementsOf(schema)
	err := advisory.Do(ctx, db, advisory.Name("pgadvisory cron schema", schema), func(ctx context.Context, tx *sql.Tx) error {
		var exists bool
		if err := tx.QueryRowContext(ctx, s.exists).Scan(&exists); err != nil {
			return err
		}
		if exists {
			var number int
			err := tx.QueryRowContext(ctx, s.version).Scan(&number)
			if err == nil && number >= version {
				return nil
			}
			if err != nil && err != sql.ErrNoRows {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, s.create)
		return err
	}, advisory.Isolation(sql.LevelReadCommitted))
	if err != nil {
		return fmt.Errorf("cron: Migrate: schema %q: %w", schema, err)
	}
	return nil
}

// held is whether anybody holds the lock of a run.
const held = `EXISTS (
	SELECT FROM pg_catalog.pg_locks AS l
	WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted
	AND l.database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database())
	AND (l.classid::bigint << 32 | l.objid::bigint) = r.lock_key)`

// statements are the package's statements for one schema. In running, held is asked for rows alone that say they are running.
type statements struct {
	create, exists, version                            string
	begin, tooOld, last, crash, unclaim, succeed, fail string
	state, runs, mark, sweep                           string
}

// known holds the statements per schema, of which a program has few.
var known sync.Map

func statementsOf(schema string) *statements {
	if s, ok := known.Load(schema); ok {
		return s.(*statements)
	}
	name := `"` + strings.ReplaceAll(schema, `"`, `""`) + `"`
	in := func(text string) string {
		return strings.NewReplacer("{schema}", name, "{version}", fmt.Sprint(version), "{held}", held).Replace(text)
	}
	s := &statements{
		create: in(schemaText),
		// A literal rather than to_regclass with an argument: statements without arguments are one round trip on every driver.
		exists: "SELECT EXISTS (SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relname = 'version' AND n.nspname = " +
			literal(schema) + ")",
		version: in("SELECT number FROM {schema}.version"),
		begin: in(`INSERT INTO {schema}.run (job, tick, attempt, state, lock_key)
			VALUES ($1, $2, $3, 'running', $4) ON CONFLICT DO NOTHING`),
		tooOld: in("SELECT EXISTS (SELECT FROM {schema}.swept WHERE before > $1)"),
		last: in(`SELECT attempt, CASE WHEN state = 'running' AND (lock_key = $3 OR NOT {held}) THEN 'crashed' ELSE state END
			FROM {schema}.run AS r WHERE job = $1 AND tick = $2 ORDER BY attempt DESC LIMIT 1 FOR UPDATE`),
		crash: in(`UPDATE {schema}.run SET state = 'crashed', ended = clock_timestamp()
			WHERE job = $1 AND tick = $2 AND attempt = $3 AND state = 'running'`),
		unclaim: in(`DELETE FROM {schema}.run WHERE job = $1 AND tick = $2 AND attempt = $3 AND state = 'running' AND lock_key = $4`),
		succeed: in(`UPDATE {schema}.run SET state = 'succeeded', ended = clock_timestamp()
			WHERE job = $1 AND tick = $2 AND attempt = $3 AND state = 'running'`),
		fail: in(`UPDATE {schema}.run SET state = 'failed', ended = clock_timestamp(), error = $4
			WHERE job = $1 AND tick = $2 AND attempt = $3 AND state = 'running'`),
		state: in("SELECT state FROM {schema}.run WHERE job = $1 AND tick = $2 AND attempt = $3"),
		// A standby does not know who holds locks on its primary.
		runs: in(`SELECT tick, attempt, CASE WHEN state = 'running' AND NOT pg_catalog.pg_is_in_recovery() AND NOT {held} THEN 'crashed' ELSE state END,
			started, ended, coalesce(error, '')
			FROM {schema}.run AS r WHERE job = $1 ORDER BY tick DESC, attempt DESC LIMIT $2`),
		mark: in("UPDATE {schema}.swept SET before = greatest(before, $1) WHERE before < $1"),
		sweep: in(`DELETE FROM {schema}.run WHERE (job, tick, attempt) IN (
			SELECT job, tick, attempt FROM {schema}.run AS r
			WHERE tick < $1 AND (state <> 'running' OR NOT {held}) ORDER BY tick LIMIT $2 FOR UPDATE SKIP LOCKED)`),
	}
	known.Store(schema, s)
	return s
}

// literal quotes a text for SQL. The prefix makes it independent of standard_conforming_strings.
func literal(text string) string {
	return "E'" + strings.NewReplacer(`\`, `\\`, "'", "''").Replace(text) + "'"
}
