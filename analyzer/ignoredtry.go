package analyzer

import (
	"github.com/pgadvisory/pgadvisory/analyzer/internal/site"
	"github.com/pgadvisory/pgadvisory/analyzer/internal/sqltext"
)

const docIgnoredtry = `ignoredtry: report try-locks whose answer is thrown away

Wrong:

	res, err := tx.ExecContext(ctx, "SELECT pg_try_advisory_xact_lock($1)", key)
	n, _ := res.RowsAffected() // always 1: the row that says false

Right:

	var ok bool
	err := tx.QueryRowContext(ctx, "SELECT pg_try_advisory_xact_lock($1)", key).Scan(&ok)
	if err != nil || !ok {
		return err
	}

A try-lock never fails: it answers false if another session has the lock. A
program that does not look at the answer goes on without the lock. That is so
if the statement is run through Exec, if its rows are only counted, and if the
answer is scanned into a variable that nothing reads.

A statement that gives a row only if the lock was taken can be counted, and is
not reported if it is:

	SELECT FROM pg_try_advisory_xact_lock($1) AS got WHERE got

MySQL's GET_LOCK answers 0 when its time is over, SQL Server's sp_getapplock
returns a negative status: both are try-locks in this sense.

Silent where the answer goes to something that the rule does not see through.

Since: 0.1
`

var ignoredtry = rule(docIgnoredtry, func(r *reporter) {
	for _, s := range r.Sites {
		if !s.Is(sqltext.TryLock) || s.Unsent || !s.Answer.Known || s.Answer.Read {
			continue
		}
		r.report(s, "the answer of %s on %s is thrown away, so the program goes on without the lock when another session has it: %s",
			s.Lock.Func.Name, name(s), lookAt(s))
	}
})

// lookAt tells how to read the answer.
func lookAt(s *site.Site) string {
	switch {
	case s.Lock.Answer == sqltext.Status:
		return "read the return status, which is negative if the lock was not granted"
	case s.Lock.Func.Dialect == sqltext.MySQL:
		return "read it with QueryRow and Scan, and go on only if it is 1"
	case s.Lock.Answer == sqltext.Filters:
		return "go on only if there is a row"
	case s.Answer.Cells != nil:
		return "look at the variable that it is scanned into"
	}
	read := "read it with QueryRow and Scan"
	if isGorm(s) {
		read = "read it with Raw(…).Scan"
	}
	if s.Answer.Counted {
		return "RowsAffected is 1 whatever the answer is; " + read
	}
	return read
}
