package sqltext

// Dialect is the SQL server that a lock function belongs to.
type Dialect uint8

// The servers that have named locks.
const (
	PostgreSQL Dialect = iota
	MySQL              // and MariaDB
	SQLServer
	Oracle
)

func (d Dialect) String() string {
	return [...]string{"PostgreSQL", "MySQL", "SQL Server", "Oracle"}[d]
}

// Op is what a lock function does.
type Op uint8

// What the lock functions do.
const (
	Lock      Op = iota // waits until the lock is held, or fails with an SQL error
	TryLock             // answers whether the lock is held: at once, or after a time limit
	Unlock              // frees one lock, and answers whether it was held
	UnlockAll           // frees all of the session's locks
)

func (o Op) String() string {
	return [...]string{"lock", "try-lock", "unlock", "unlock all"}[o]
}

// Scope is how long a lock or a setting lasts.
type Scope uint8

// The scopes. The zero value says that the text does not tell.
const (
	UnknownScope Scope = iota // the text leaves it to a parameter or to a [Hole]
	Session                   // until it is freed, or the session ends
	Transaction               // until the transaction ends
)

func (s Scope) String() string {
	return [...]string{"unknown", "session", "transaction"}[s]
}

// Func is one lock function of a server.
type Func struct {
	Name    string // as the server's documentation spells it, without schema
	Dialect Dialect
	Op      Op
	Scope   Scope // where an argument decides, what holds without that argument
	Shared  bool  // takes or frees the shared mode
}

// funcs is the one table of lock functions. IS_FREE_LOCK and IS_USED_LOCK take none. What GET_LOCK, sp_getapplock and
// DBMS_LOCK.REQUEST answer tells whether the lock is held, so they are try-locks, although they wait.
var funcs = [...]Func{
	{"pg_advisory_lock", PostgreSQL, Lock, Session, false},
	{"pg_advisory_lock_shared", PostgreSQL, Lock, Session, true},
	{"pg_advisory_xact_lock", PostgreSQL, Lock, Transaction, false},
	{"pg_advisory_xact_lock_shared", PostgreSQL, Lock, Transaction, true},
	{"pg_try_advisory_lock", PostgreSQL, TryLock, Session, false},
	{"pg_try_advisory_lock_shared", PostgreSQL, TryLock, Session, true},
	{"pg_try_advisory_xact_lock", PostgreSQL, TryLock, Transaction, false},
	{"pg_try_advisory_xact_lock_shared", PostgreSQL, TryLock, Transaction, true},
	{"pg_advisory_unlock", PostgreSQL, Unlock, Session, false},
	{"pg_advisory_unlock_shared", PostgreSQL, Unlock, Session, true},
	{"pg_advisory_unlock_all", PostgreSQL, UnlockAll, Session, false},
	{"GET_LOCK", MySQL, TryLock, Session, false},
	{"RELEASE_LOCK", MySQL, Unlock, Session, false},
	{"RELEASE_ALL_LOCKS", MySQL, UnlockAll, Session, false},
	{"sp_getapplock", SQLServer, TryLock, Transaction, false},
	{"sp_releaseapplock", SQLServer, Unlock, Transaction, false},
	{"DBMS_LOCK.REQUEST", Oracle, TryLock, Session, false},
	{"DBMS_LOCK.RELEASE", Oracle, Unlock, Session, false},
}

// longestName bounds what has to be folded before a name is looked up.
const longestName = len("pg_try_advisory_xact_lock_shared")

var byName = func() map[string]*Func {
	m := make(map[string]*Func, len(funcs))
	for i := range funcs {
		m[lower(funcs[i].Name)] = &funcs[i]
	}
	return m
}()

// Lookup returns the lock function of this name, or nil if it is none. Case does not matter; the name has no schema
// (Oracle's have their package: DBMS_LOCK.REQUEST). It does not allocate.
func Lookup(name string) *Func {
	if len(name) > longestName {
		return nil
	}
	var buf [longestName]byte
	for i := range len(name) {
		buf[i] = lowerByte(name[i])
	}
	return byName[string(buf[:len(name)])]
}
