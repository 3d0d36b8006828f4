package sqltext

// procedure reads what follows EXEC or CALL: [@status =] name arguments.
func (r *reader) procedure(lo, hi int) {
	assigned := lo+1 < hi && r.toks[lo].kind == param && r.is(lo+1, "=")
	if assigned {
		lo += 2
	}
	r.callProcedure(lo, hi, assigned)
}

// callProcedure reads a procedure's name and its arguments, in parentheses or not.
func (r *reader) callProcedure(lo, hi int, assigned bool) {
	var f *Func
	var p path
	if r.isName(lo) && lo < hi {
		p = r.path(lo, hi)
		f = r.lockFunc(p)
	}
	if f == nil || f.Dialect != SQLServer && f.Dialect != Oracle {
		r.st.Writes = true
		r.scan(max(lo, p.end), hi, scope{})
		return
	}
	if f.Dialect == SQLServer && r.st.Verb != "CALL" {
		r.st.Verb = "EXEC"
	}
	from, to, into := p.end, hi, false
	if r.is(p.end, "(") && p.end < hi {
		from, to = p.end+1, min(r.toks[p.end].match, hi)
		into = r.key(to+1) == kInto && to+1 < hi
	}
	if to > from && r.is(to-1, "}") {
		to--
	}
	c := r.add(f, p, from, to, scope{})
	switch {
	case assigned || into:
	case f.Dialect == SQLServer:
		c.call.Answer = Status
	default:
		c.call.Answer = Dropped
	}
	r.scan(from, to, scope{key: true})
}
