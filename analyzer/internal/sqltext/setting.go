package sqltext

import "strings"

// set reads what follows SET.
func (r *reader) set(lo, hi int) {
	i, of := lo, Session
	switch {
	case r.isWord(i, "local"):
		i, of = i+1, Transaction
	case r.isWord(i, "session") && !r.is(i+1, "="):
		i++
	}
	if name := r.settingName(i, hi); name != "" {
		r.st.Settings = append(r.st.Settings, Setting{Name: name, Scope: of})
	}
	r.scan(lo, hi, scope{}) // MySQL: SET @ok = GET_LOCK(…)
}

// settingName returns the name of the setting which SET changes, or "" if it changes something else: a variable, the
// transaction's mode, constraints.
func (r *reader) settingName(i, hi int) string {
	if i >= hi || r.toks[i].kind != word && r.toks[i].kind != quoted {
		return ""
	}
	p := r.path(i, hi)
	switch r.name(i) {
	case "time": // TIME ZONE
		return "timezone"
	case "role":
		return "role"
	case "names":
		return "client_encoding"
	case "schema":
		return "search_path"
	case "authorization": // SESSION AUTHORIZATION
		return "session_authorization"
	}
	if !r.isWord(p.end, "to") && !r.is(p.end, "=") || p.end >= hi {
		return ""
	}
	var b strings.Builder
	for n := i; n < p.end; n++ {
		if r.toks[n].kind == punct {
			b.WriteString(".")
		} else {
			b.WriteString(lower(r.name(n)))
		}
	}
	return b.String()
}

// setConfig reads the arguments of set_config(name, value, is_local).
func (r *reader) setConfig(open int) {
	args := r.split(open+1, r.toks[open].match)
	if len(args) != 3 {
		return
	}
	var s Setting
	if at := args[0]; at[1] > at[0] && r.toks[at[0]].kind == str {
		name, _ := r.literal(at[0])
		s.Name = lower(name)
	}
	switch r.key(args[2][0]) {
	case kTrue:
		s.Scope = Transaction
	case kFalse:
		s.Scope = Session
	}
	r.st.Settings = append(r.st.Settings, s)
}
