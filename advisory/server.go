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
	// checked is set once a statement with the full guard went through: then this is no imitation, and READ COMMITTED is what the server
	// does by default.
	checked atomic.Bool
	// unprepared is set once a prepared statement was not found, because a pooler gave the transaction another session.
	unprepared atomic.Bool
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

// plan says how a transaction at READ COMMITTED is begun, and how its lock statement is to be made.
//
// The first time, and with drivers that are not known, the statement has the full guard. After that READ COMMITTED is asked for in BEGIN, which costs nothing, and
// what is left to guard against is a standby. lib/pq's BEGIN says READ WRITE, which a standby refuses.
func (s *server) plan(set *settings) (options sql.TxOptions, g guard, placeholders bool) {
	options = sql.TxOptions{Isolation: set.isolation, ReadOnly: set.readOnly}
	placeholders = s.driver == pgxDriver && !s.unprepared.Load()
	if set.isolation >= sql.LevelRepeatableRead {
		return options, serverGuard, placeholders // AllowOldSnapshot was given
	}
	if s.driver == otherDriver || !s.checked.Load() {
		return options, set.guard(), placeholders
	}
	if set.isolation == sql.LevelDefault {
		options.Isolation = sql.LevelReadCommitted
	}
	if s.driver == pqDriver && !set.readOnly {
		return options, noGuard, placeholders
	}
	return options, standbyGuard, placeholders
}
