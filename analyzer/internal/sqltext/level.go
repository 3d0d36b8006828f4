package sqltext

// level is one level of a statement while it is read.
type level struct {
	query  *Query // nil for a fragment, and for MySQL's DO
	parent *level
	verb   keyword
	verbAt int
	writes bool // INSERT, UPDATE, DELETE, MERGE
	role   role
	unit   *unit // for a scalar subquery: the expression of the parent which it stands in
	lo, hi int   // tokens; with the alias of a derived table
	at     int   // the parenthesis around a subquery

	name    string   // of a CTE or derived table
	columns []string // its column aliases
	items   []*unit  // select list
	sources []*source
	star    *unit // the first item that is a star
	assigns bool  // SELECT … INTO @variable
	many    bool  // gives more than one row, or may
	tables  bool  // reads tables, in any of the queries that UNION joins

	byItem, byCond map[string]*unit // the units which are nothing but a column's name
	clean          map[string]bool  // columns that carry lock answers and constants only
	pure           bool             // all columns are so
}

// role is what a level is to the one around it.
type role uint8

const (
	opaque  role = iota // anything else: EXISTS, IN, the source of an INSERT
	main                // the statement's outermost query
	derived             // a subquery in FROM
	cte
	scalar // a subquery in an expression
)

// unit is an item of a select list, or a part of a condition between ANDs.
type unit struct {
	name    string // an item's alias, or the name which the server gives the column
	index   int    // of an item in its list
	star    bool   // an item *, or t.*
	open    bool   // an item that begins with a hole, which may be several
	blur    bool   // a star or a hole stands before the item, so that its index is not that of the result's column
	cond    bool   // a part of a condition
	negated bool
	core    int // the token of the operand which is all that the unit hands on, -1 if it computes something
	column  string

	names      []string // the columns in it
	subs       []*level // the subqueries in it
	allColumns bool     // it holds a star, as in count(*)
	other      bool     // it holds what is neither a column, nor constant, nor a lock call
}

// source is an element of FROM.
type source struct {
	name  string   // as FROM names it: a table, a CTE, a function
	alias string   // alias, or else the last part of the name
	cols  []string // the column aliases
	level *level   // a derived table
	lock  *found   // a lock function
	clean bool     // no table: a function which the caller gives the rows, VALUES
}

// found is a call whose answer is not yet judged.
type found struct {
	call  Call
	level *level
	unit  *unit
	at    int     // the token which its name begins with
	src   *source // for a function in FROM
	// srcEnd is the token after that element, where its alias ends.
	srcEnd int
}

// itemName returns the name under which the level around sees an item.
func (l *level) itemName(u *unit) string {
	if u.index < len(l.columns) {
		return l.columns[u.index]
	}
	return u.name
}

// names returns the names of the items.
func (l *level) names() []string {
	names := make([]string, len(l.items))
	for i, u := range l.items {
		names[i] = l.itemName(u)
	}
	return names
}

// addItem and addCond index the units which are nothing but a column's name, so that answers are followed in linear time.

func (l *level) addItem(u *unit) {
	l.items = append(l.items, u)
	if u.star && l.star == nil {
		l.star = u
	}
	if u.column == "" {
		return
	}
	if l.byItem == nil {
		l.byItem = map[string]*unit{}
	}
	if _, ok := l.byItem[u.column]; !ok {
		l.byItem[u.column] = u
	}
}

func (l *level) addCond(u *unit) {
	if u.column == "" {
		return
	}
	if l.byCond == nil {
		l.byCond = map[string]*unit{}
	}
	l.byCond[u.column] = u
}
