package sqltext

// Call is one call of a lock function in a statement.
type Call struct {
	Func *Func

	// Scope and Shared are those of Func, unless an argument decides: sp_getapplock's @LockOwner and @LockMode,
	// DBMS_LOCK.REQUEST's release_on_commit and lockmode. If that argument is not a constant, Scope is UnknownScope.
	Scope  Scope
	Shared bool

	// Args are the arguments in the order of the function's parameters, also if they are given by name; one left out between
	// others is empty. The text is that of the source without comments and needless space, words in lower case, constant
	// integers as the server prints them without their cast (+007::int8 is 7), string literals in single quotes. Placeholders
	// are kept as written, a cast to an integer type around them is dropped. A [Hole] is kept.
	Args []string

	// NameOnly reports that the text is nothing but the function's name: a builder, or the driver's procedure call, has the
	// arguments.
	NameOnly bool

	Place  Place
	Answer Answer

	// Negated reports that the answer is turned over: true, or a row, means that the lock function answered false.
	Negated bool

	// Column is the index of the result's column which carries the answer if Answer is Returned, else -1. It is -1 as well if
	// a star or a [Hole] stands before it.
	Column int

	// Query is the level which the call stands in; nil outside of queries (EXEC, IF in a DO block, a builder's fragment).
	Query *Query

	// Pos and End are the bytes of the function's name in the text, quotes included, schema or package not. They are -1 in a body which
	// is written as a string with escapes, where bytes of the text and of the body differ.
	Pos, End int
}

// Place is the clause that a call stands in, at the level of its [Call.Query].
type Place uint8

// The clauses that rules tell apart.
const (
	Other  Place = iota
	Select       // select list, RETURNING, VALUES
	From         // a function in FROM, also LATERAL
	Where        // WHERE or HAVING
	On           // the condition of a join
)

func (p Place) String() string {
	return [...]string{"other", "SELECT", "FROM", "WHERE", "ON"}[p]
}

// Answer is what becomes of the value that a lock function answers.
type Answer uint8

// What becomes of an answer.
const (
	// Consumed: the SQL itself uses it, or may, so that the caller has nothing to look at: IF in a DO block, a variable, a
	// CASE with more than constants, WHERE of a statement that writes.
	Consumed Answer = iota
	// Returned: a column of the result carries it, and nothing else uses it.
	Returned
	// Filters: it decides whether the statement returns a row.
	Filters
	// Dropped: nothing sees it: PERFORM, MySQL's DO, a column that no outer query reads.
	Dropped
	// Status: a procedure's return status, which only the driver can hand out (EXEC sp_getapplock …).
	Status
)

func (a Answer) String() string {
	return [...]string{"consumed", "returned", "filters", "dropped", "status"}[a]
}

// Key returns the arguments which say what is locked: all of them in PostgreSQL, the first one elsewhere.
func (c *Call) Key() []string {
	if c.Func.Dialect != PostgreSQL && len(c.Args) > 1 {
		return c.Args[:1]
	}
	return c.Args
}
