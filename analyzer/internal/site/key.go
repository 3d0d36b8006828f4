package site

import (
	"strconv"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/pgadvisory/pgadvisory/analyzer/internal/flow"
	"github.com/pgadvisory/pgadvisory/analyzer/internal/sqltext"
)

// freesAnother reports whether an unlock is for another lock of the function:
// all three keys are constants.
func (w *holder) freesAnother(unlock *Site) bool {
	if !unlock.Is(sqltext.Unlock) || unlock.Lock.Func.Dialect != w.lock.Lock.Func.Dialect || len(w.byInstr[w.lock.Instr]) != 1 {
		return false
	}
	held, ok := constKey(w.lock)
	freed, known := constKey(unlock)
	if !ok || !known || held == freed {
		return false
	}
	for _, o := range w.sites {
		if !o.Is(sqltext.Lock, sqltext.TryLock) || outermost(o.Fn) != outermost(w.fn) {
			continue
		}
		if key, ok := constKey(o); ok && key == freed {
			return true
		}
	}
	return false
}

// constKey returns the key of a lock call, if it is made of constant integers
// in the text, or in the arguments of the statement.
func constKey(s *Site) (key string, ok bool) {
	parts := s.Lock.Key()
	out := make([]string, len(parts))
	for i, part := range parts {
		if _, err := strconv.ParseInt(part, 10, 64); err == nil {
			out[i] = part
			continue
		}
		n, err := strconv.Atoi(strings.TrimPrefix(part, "$"))
		if err != nil || part[0] != '$' || s.Helper != "" || len(s.run.args) != 1 {
			return "", false
		}
		args := (*flow.Program)(nil).Elements(s.run.args[0])
		if n < 1 || n > len(args) {
			return "", false
		}
		c, isConst := number(args[n-1])
		if !isConst {
			return "", false
		}
		out[i] = strconv.FormatInt(c, 10)
	}
	return strings.Join(out, ","), len(out) > 0
}

// number returns the constant integer that was put into an interface.
func number(v ssa.Value) (int64, bool) { return flow.ConstInt(dynamic(v)) }
