package advisory

import (
	"database/sql"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
	"weak"
)

// A server is what [Do] knows of the server behind a *sql.DB, and of the driver, so that it need not ask each time.
type server struct {
	driver driverKind
	// checked is set once a statement with the full guard went through: then this is no imitation, and READ COMMITTED is its default.
	checked atomic.Bool
	// unprepared is set once a prepared statement was not found, because a pooler gave the transaction another session.
	unprepared atomic.Bool
	// pinned is how many connections of the pool lockers keep, or want to.
	pinned atomic.Int64
}

type driverKind uint8

const (
	otherDriver driverKind = iota
	pgxDriver
	pqDriver
)

// servers has a *server for each weak.Pointer[sql.DB]. An entry goes when the pool is collected.
var servers sync.Map

func serverOf(db *sql.DB) *server {
	pointer := weak.Make(db)
	if s, ok := servers.Load(pointer); ok {
		return s.(*server)
	}
	s, found := servers.LoadOrStore(pointer, &server{driver: kindOf(db)})
	if !found {
		runtime.AddCleanup(db, func(p weak.Pointer[sql.DB]) { servers.Delete(p) }, pointer)
	}
	return s.(*server)
}

// kindOf tells the drivers apart by the type's package, since to name the type would import the driver.
func kindOf(db *sql.DB) driverKind {
	t := reflect.TypeOf(db.Driver())
	if t == nil { // a connector need not have one
		return otherDriver
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.PkgPath() {
	case "github.com/jackc/pgx/v5/stdlib":
		return pgxDriver
	case "github.com/lib/pq":
		return pqDriver
	}
	return otherDriver
}

// placeholders reports whether statements are to have arguments: the driver caches their plans, and they have never gone missing.
func (s *server) placeholders() bool { return s.driver == pgxDriver && !s.unprepared.Load() }

// plan says how a transaction below REPEATABLE READ is begun, and how its lock statement is to be made.
//
// The first time, and with drivers that are not known, the statement has the full guard. After that a server is known to be PostgreSQL, but
// it may have become a standby, and the default level may have changed. pgx runs prepared statements, in which to ask for both costs next to nothing. To lib/pq
// statements each word costs time, while its BEGIN can do the same: it says READ WRITE, which a standby refuses, and here also the level.
func (s *server) plan(set *settings) (options sql.TxOptions, g guard, placeholders bool) {
	options = sql.TxOptions{Isolation: set.isolation, ReadOnly: set.readOnly}
	placeholders = s.placeholders()
	g = set.guard()
	if g != fullGuard || !s.checked.Load() {
		return options, g, placeholders
	}
	switch {
	case placeholders:
		g = quickGuard
	case s.driver == pqDriver && !set.readOnly:
		g = noGuard
		if set.isolation == sql.LevelDefault {
			options.Isolation = sql.LevelReadCommitted
		}
	}
	return options, g, placeholders
}
