package sqltext

import "slices"

// maxHops bounds how many levels an answer is followed outwards.
const maxHops = 32

// answers judges what becomes of the calls' answers, once the whole statement is read, and gives the calls that are run.
func (r *reader) answers() []Call {
	var calls []Call
	for _, f := range r.calls {
		if f.level != nil && !r.runs(f.level) {
			continue
		}
		c := &f.call
		c.Column = -1
		switch u := f.unit; {
		case f.src != nil:
			names := []string{f.src.alias}
			if len(f.src.cols) > 0 {
				names = append(names, f.src.cols[0])
			}
			r.enter(c, f.level, names, f.at, f.srcEnd, 0)
		case u == nil || u.core != f.at:
			// an operand of something larger, or an argument
		case u.cond:
			r.filter(c, f.level, u)
		default:
			r.leave(c, f.level, u, 0)
		}
		switch {
		case r.explains, r.discards && (c.Answer == Returned || c.Answer == Filters && !r.body):
			c.Answer = Dropped
		case r.body && c.Answer != Dropped:
			c.Answer = Consumed // by INTO, or FOUND
		}
		if c.Answer != Returned {
			c.Column = -1
			c.Negated = c.Negated && c.Answer == Filters
		}
		calls = append(calls, *c)
	}
	return calls
}

// leave follows an answer that the item u of level l carries, out of that level.
func (r *reader) leave(c *Call, l *level, u *unit, hops int) {
	if hops > maxHops || l != nil && l.assigns {
		return
	}
	c.Negated = c.Negated != u.negated
	if l == nil || l.role == main {
		c.Answer = Returned
		if !u.blur {
			c.Column = u.index
		}
		return
	}
	switch l.role {
	case scalar:
		switch up := l.unit; {
		case up.core != l.at:
		case up.cond:
			r.filter(c, l.parent, up)
		default:
			r.leave(c, l.parent, up, hops+1)
		}
	case derived:
		r.enter(c, l.parent, []string{l.itemName(u), l.name}, l.lo, l.hi, hops+1)
	case cte:
		var reader *level
		if len(r.consumers[l.name]) > maxHops {
			return
		}
		for _, to := range r.consumers[l.name] {
			if to.at >= l.lo && to.at < l.hi {
				continue // itself
			}
			if reader != nil {
				return
			}
			reader = to
		}
		if reader != nil {
			r.enter(c, reader, []string{l.itemName(u), l.name}, l.lo, l.hi, hops+1)
		}
	}
}

// enter follows an answer that level l reads in FROM, under these names. They are declared in the tokens [lo, hi), which
// therefore do not count as uses.
func (r *reader) enter(c *Call, l *level, names []string, lo, hi, hops int) {
	names = slices.Compact(names)
	uses := 0
	for _, name := range names {
		uses += r.uses(name, lo, hi)
	}
	for _, name := range names {
		if u := l.byCond[name]; u != nil {
			r.filter(c, l, u)
			return
		}
	}
	if r.blind || r.st.Open {
		return
	}
	for _, name := range names {
		if u := l.byItem[name]; u != nil && uses == 1 {
			r.leave(c, l, u, hops)
			return
		}
	}
	switch {
	case uses > 0:
	case l.star != nil:
		star := *l.star
		star.blur = star.blur || len(l.sources) > 1
		r.leave(c, l, &star, hops)
	default:
		c.Answer = Dropped
	}
}

// filter notes that the answer decides about the rows of level l.
func (r *reader) filter(c *Call, l *level, u *unit) {
	if l.role == main && (l.verb == kSelect || l.verb == kValues) {
		c.Answer = Filters
		c.Negated = c.Negated != u.negated
	}
}

// uses counts the uses of a column's name outside of the tokens [lo, hi).
func (r *reader) uses(name string, lo, hi int) int {
	at := r.mentions[name]
	from, _ := slices.BinarySearch(at, lo)
	to, _ := slices.BinarySearch(at, hi)
	return len(at) - (to - from)
}

// runs reports whether the server runs a level. It leaves out a CTE which nothing reads, unless it changes data.
func (r *reader) runs(l *level) bool {
	if l == nil || r.st.Open || r.blind {
		return true
	}
	if known, ok := r.run[l]; ok {
		return known
	}
	r.run[l] = false // while it is judged: a recursive CTE does not run because it reads itself
	yes := r.runs(l.parent)
	if yes && l.role == cte && !l.writes {
		readers := r.consumers[l.name]
		yes = len(readers) > maxHops || slices.ContainsFunc(readers, r.runs)
	}
	r.run[l] = yes
	return yes
}
