package site

import (
	"go/types"
	"strings"
)

// A family is a library: its types share the names and the ways of methods.
type family uint8

const (
	noFamily family = iota
	sqlFamily
	pgxFamily
	gormFamily
	bunFamily
)

// role is what a library's type is to a lock.
type role uint8

const (
	noRole    role = iota
	poolRole       // statements go to any of its sessions
	connRole       // one session
	txRole         // one transaction
	chainRole      // gorm's DB: any of these, the value tells which
	stmtRole       // a prepared statement: its handle and text are elsewhere
	batchRole      // statements for a later call
	queryRole      // a query under construction
	carryRole      // gives access to a handle, runs nothing itself
)

type typeName struct{ path, name string }

type handleType struct {
	family family
	role   role
}

// handleTypes is the one table of the types that run SQL. A new library is an
// entry here, its methods in [forms] and [derived], and fixtures.
var handleTypes = map[typeName]handleType{
	{"database/sql", "DB"}:   {sqlFamily, poolRole},
	{"database/sql", "Conn"}: {sqlFamily, connRole},
	{"database/sql", "Tx"}:   {sqlFamily, txRole},
	{"database/sql", "Stmt"}: {sqlFamily, stmtRole},

	{"github.com/jmoiron/sqlx", "DB"}:        {sqlFamily, poolRole},
	{"github.com/jmoiron/sqlx", "Conn"}:      {sqlFamily, connRole},
	{"github.com/jmoiron/sqlx", "Tx"}:        {sqlFamily, txRole},
	{"github.com/jmoiron/sqlx", "Stmt"}:      {sqlFamily, stmtRole},
	{"github.com/jmoiron/sqlx", "NamedStmt"}: {sqlFamily, stmtRole},

	{"github.com/jackc/pgx", "Conn"}:                {pgxFamily, connRole},
	{"github.com/jackc/pgx", "Tx"}:                  {pgxFamily, txRole},
	{"github.com/jackc/pgx", "Batch"}:               {pgxFamily, batchRole},
	{"github.com/jackc/pgx/pgxpool", "Pool"}:        {pgxFamily, poolRole},
	{"github.com/jackc/pgx/pgxpool", "Conn"}:        {pgxFamily, connRole},
	{"github.com/jackc/pgx/pgxpool", "Tx"}:          {pgxFamily, txRole},
	{"github.com/jackc/pgx/pgconn", "PgConn"}:       {pgxFamily, connRole},
	{"github.com/jackc/pgconn", "PgConn"}:           {pgxFamily, connRole},
	{"github.com/jackc/pgx/stdlib", "Conn"}:         {pgxFamily, carryRole},
	{"github.com/jackc/pgx/pgxpool", "Config"}:      {pgxFamily, carryRole},
	{"github.com/jackc/pgx/pgconn", "HijackedConn"}: {pgxFamily, carryRole},

	{"gorm.io/gorm", "DB"}: {gormFamily, chainRole},

	{"github.com/uptrace/bun", "DB"}:          {bunFamily, poolRole},
	{"github.com/uptrace/bun", "Conn"}:        {bunFamily, connRole},
	{"github.com/uptrace/bun", "Tx"}:          {bunFamily, txRole},
	{"github.com/uptrace/bun", "RawQuery"}:    {bunFamily, queryRole},
	{"github.com/uptrace/bun", "SelectQuery"}: {bunFamily, queryRole},
	{"github.com/uptrace/bun", "InsertQuery"}: {bunFamily, queryRole},
	{"github.com/uptrace/bun", "UpdateQuery"}: {bunFamily, queryRole},
	{"github.com/uptrace/bun", "DeleteQuery"}: {bunFamily, queryRole},
	{"github.com/uptrace/bun", "MergeQuery"}:  {bunFamily, queryRole},
}

// libraries are the packages of handleTypes. What they do among themselves is
// told by the tables, not found out.
var libraries = func() map[string]bool {
	paths := map[string]bool{}
	for name := range handleTypes {
		paths[name.path] = true
	}
	return paths
}()

// nameOf returns the package path and name of a named type or a pointer to
// one. A module's major version is left out of the path.
func nameOf(t types.Type) (typeName, bool) {
	if t == nil {
		return typeName{}, false
	}
	t = types.Unalias(t)
	if ptr, ok := t.(*types.Pointer); ok {
		t = types.Unalias(ptr.Elem())
	}
	named, ok := t.(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return typeName{}, false
	}
	return typeName{unversioned(named.Obj().Pkg().Path()), named.Obj().Name()}, true
}

// unversioned returns a package path without the element that names a major
// version of the module, and without a vendor directory before it.
func unversioned(path string) string {
	if _, after, ok := strings.Cut(path, "/vendor/"); ok {
		path = after
	}
	i := strings.Index(path, "/v")
	for i >= 0 {
		j := i + 2
		for j < len(path) && '0' <= path[j] && path[j] <= '9' {
			j++
		}
		if j > i+2 && (j == len(path) || path[j] == '/') {
			return path[:i] + path[j:]
		}
		next := strings.Index(path[i+1:], "/v")
		if next < 0 {
			break
		}
		i += 1 + next
	}
	return path
}

// typeOf looks a type up in the table.
func typeOf(t types.Type) handleType {
	name, ok := nameOf(t)
	if !ok {
		return handleType{}
	}
	return handleTypes[name]
}

// form is how a method runs SQL and hands its answer out.
type form uint8

const (
	noForm    form = iota
	execForm       // runs; hands out a number of rows at most
	rowForm        // runs; the answer is Scanned from the result
	rowsForm       // runs; the answer is Scanned from the result, row by row
	destForm       // runs; the answer goes to an argument
	rawForm        // gorm's Raw: runs when a finisher is called on the result
	chainForm      // runs what was built up on the receiver
	batchForm      // runs a batch
	freeForm       // runs; what becomes of the answer is not known
)

// forms tells how the methods of handles run SQL, by name: the libraries agree
// on the names. The text is the first parameter that is a string.
var forms = map[string]form{
	"Exec": execForm, "ExecContext": execForm, "MustExec": execForm, "MustExecContext": execForm,
	"NamedExec": execForm, "NamedExecContext": execForm,
	"QueryRow": rowForm, "QueryRowContext": rowForm, "QueryRowx": rowForm, "QueryRowxContext": rowForm,
	"Query": rowsForm, "QueryContext": rowsForm, "Queryx": rowsForm, "QueryxContext": rowsForm,
	"NamedQuery": rowsForm, "NamedQueryContext": rowsForm,
	"Get": destForm, "GetContext": destForm, "Select": destForm, "SelectContext": destForm,
	"SendBatch": batchForm, "ExecParams": freeForm,
}

// finishers are gorm's methods that run what Raw holds.
var finishers = map[string]form{
	"Scan": destForm, "Row": rowForm, "Rows": rowsForm, "Find": destForm, "First": destForm, "Take": destForm,
	"Last": destForm, "Pluck": freeForm, "Count": freeForm, "ScanRows": freeForm, "FindInBatches": freeForm,
}

// queryFinishers are bun's methods that run a query.
var queryFinishers = map[string]form{
	"Scan": destForm, "Exec": destForm, "Count": execForm, "Exists": freeForm, "Rows": rowsForm, "ScanAndCount": freeForm,
}

// preparers return prepared statements.
var preparers = map[string]bool{
	"Prepare": true, "PrepareContext": true, "Preparex": true, "PreparexContext": true,
	"PrepareNamed": true, "PrepareNamedContext": true,
}

// rebinders return a prepared statement bound to a transaction or connection.
var rebinders = map[string]bool{
	"Stmt": true, "StmtContext": true, "Stmtx": true, "StmtxContext": true, "NamedStmt": true, "NamedStmtContext": true,
}
