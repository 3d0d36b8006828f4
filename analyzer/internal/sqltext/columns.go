package sqltext

import "slices"

// maxSources bounds the joins through which columns are traced; beyond, they count as other data.
const maxSources = 32

// judgeColumns notes which columns of a level carry lock answers and constants only. Its sources are judged before.
func (r *reader) judgeColumns(l *level) {
	l.pure = true
	l.clean = map[string]bool{}
	for _, u := range l.items {
		if r.bare(l, u) {
			l.clean[l.itemName(u)] = true
		} else {
			l.pure = false
		}
	}
}

// bare reports whether an item carries nothing but lock answers and constants.
func (r *reader) bare(l *level, u *unit) bool {
	if u.other || len(l.sources) > maxSources {
		return false
	}
	if u.star || u.allColumns {
		for _, s := range l.sources {
			if !r.pureSource(s) {
				return false
			}
		}
	}
	for _, name := range u.names {
		if !r.cleanColumn(l, name) {
			return false
		}
	}
	for _, sub := range u.subs {
		if !sub.pure || sub.tables {
			return false
		}
	}
	return true
}

func (r *reader) pureSource(s *source) bool {
	if s.level != nil {
		return s.level.pure
	}
	return s.lock != nil || s.clean
}

// cleanColumn reports whether a name means a column of a source that carries a lock's answer or a constant.
func (r *reader) cleanColumn(l *level, name string) bool {
	for _, s := range l.sources {
		if s.level != nil && s.level.clean[name] {
			return true
		}
		if !r.pureSource(s) {
			continue
		}
		if name == s.alias {
			return true
		}
		if len(s.cols) <= maxSources && slices.Contains(s.cols, name) {
			return true
		}
	}
	return false
}
