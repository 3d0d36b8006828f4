package site

import (
	"strings"

	"github.com/pgadvisory/pgadvisory/analyzer/internal/flow"
	"github.com/pgadvisory/pgadvisory/analyzer/internal/sqltext"
)

// unknownSQL returns what a call runs that may free locks, although no unlock
// is to be seen in it.
func (f *finder) unknownSQL(c *flow.Call) []pending {
	var out []pending
	for _, e := range f.executions(c.Instr, c.Frame) {
		if e.fixed != nil || e.frags || e.handle.value == nil {
			continue
		}
		for _, t := range e.texts {
			if f.mayFree(t.S) {
				out = append(out, pending{mayFree, e.handle})
				break
			}
		}
	}
	return out
}

// mayFree reports whether a text may free locks out of sight: it is not known,
// resets the session, or calls a function that is not the server's.
func (f *finder) mayFree(text string) bool {
	free, ok := f.freeing[text]
	if ok {
		return free
	}
	statements := sqltext.Parse(text)
	free = len(statements) == 0 && strings.Contains(text, sqltext.Hole)
	for i := range statements {
		free = free || runsUnknown(&statements[i], text)
	}
	free = free && !locks(statements)
	f.freeing[text] = free
	return free
}

func runsUnknown(st *sqltext.Statement, text string) bool {
	switch {
	case st.OtherCalls:
		return true
	case st.Verb == "SELECT":
		return st.Open && (st.Query == nil || !st.Query.From)
	case st.Verb == "DO":
		return strings.Contains(text, sqltext.Hole)
	}
	return !harmlessVerbs[st.Verb]
}

// harmlessVerbs are those of statements that free no lock. A word that is not
// here may be the name of a prepared statement.
var harmlessVerbs = func() map[string]bool {
	m := map[string]bool{}
	for verb := range strings.FieldsSeq(`INSERT UPDATE DELETE MERGE REPLACE TABLE VALUES SET SHOW RESET USE BEGIN START COMMIT
		END ROLLBACK ABORT SAVEPOINT RELEASE LOCK UNLOCK CREATE ALTER DROP TRUNCATE COPY LISTEN UNLISTEN NOTIFY ANALYZE VACUUM
		REINDEX CLUSTER REFRESH GRANT REVOKE COMMENT DECLARE FETCH MOVE CLOSE EXPLAIN CHECKPOINT PREPARE DEALLOCATE`) {
		m[verb] = true
	}
	return m
}()
