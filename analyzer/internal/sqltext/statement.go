package sqltext

// Statement is one statement of a text.
type Statement struct {
	// Verb is the statement's first word in upper case: SELECT, DO, CREATE, BEGIN, SET, CALL, EXEC (also for EXECUTE with
	// a procedure, and for the bare procedure call), and so on. After WITH and EXPLAIN ANALYZE it is the main query's verb
	// (SELECT, INSERT, …). An anonymous block of Oracle has BEGIN or DECLARE, and no Control. It is empty if a [Hole] hides it.
	Verb string

	// Control tells what the statement does to the transaction.
	Control Control

	// Calls are the calls of lock functions, in the order of the text.
	Calls []Call

	// Settings are what SET and set_config set.
	Settings []Setting

	// Query is the main query's outermost level: what is written after the CTEs. It is nil if the statement is no query.
	Query *Query

	// Writes reports whether the statement changes something besides locks and settings, or may: data, also in a CTE; the
	// schema; whatever a procedure, or other work in a DO block, does; what an unknown verb does.
	Writes bool

	// OtherCalls reports whether the statement calls a function which may do more than compute: not a lock function, not one
	// of the server's own that are known to be harmless. Functions in the arguments of a lock call do not count, they make
	// its key.
	OtherCalls bool

	// OtherColumns reports whether the result carries more than constants and what lock functions answered. The table which
	// only gives the keys does not count: SELECT pg_advisory_xact_lock(id) FROM t has no other columns.
	OtherColumns bool

	// OrderBy reports whether there is an ORDER BY at any level.
	OrderBy bool

	// Open reports whether a [Hole] stands where it may hold more than one operand: further clauses, or statements.
	Open bool

	// Pos and End are the statement's bytes in the text, without the semicolon.
	Pos, End int
}

// Control is what a statement does to the transaction.
type Control uint8

// What statements do to the transaction.
const (
	NoControl  Control = iota
	Begin              // BEGIN, START TRANSACTION, BEGIN TRAN
	Commit             // COMMIT, END, PREPARE TRANSACTION
	Rollback           // ROLLBACK, ABORT
	Savepoint          // SAVEPOINT, SAVE TRAN
	Release            // RELEASE SAVEPOINT
	RollbackTo         // ROLLBACK TO SAVEPOINT
)

func (c Control) String() string {
	return [...]string{"none", "begin", "commit", "rollback", "savepoint", "release", "rollback to"}[c]
}

// Setting is one setting that a statement changes.
type Setting struct {
	Name  string // lower case
	Scope Scope  // Transaction for SET LOCAL and set_config(…, true)
}

// Query is one level of a statement: a query, a CTE, or a subquery.
type Query struct {
	Parent  *Query   // the level around it; nil for the statement's own
	From    bool     // has rows to range over: FROM, or the table of an UPDATE, holds more than lock functions
	Tables  bool     // reads a table or view, itself or through subqueries and CTEs in FROM (false for unnest, VALUES …)
	OrderBy bool     // ORDER BY at this level
	Limit   bool     // LIMIT, FETCH FIRST or TOP at this level
	RowLock string   // UPDATE, NO KEY UPDATE, SHARE or KEY SHARE, if this level ends in such a row-locking clause
	Equal   []string // columns which WHERE fixes to one value (col = $1 AND …), lower case, without table name
}
