package sqltext

import "strings"

// Mentions reports whether a text could name a lock function of any server. It is the filter before everything else: it
// does not allocate, and looks only for stems of the names, in either case.
func Mentions(text string) bool {
	// Each stem has a letter which is rare in text, so IndexByte skips most of it at the machine's speed.
	return around(text, 'k') || around(text, 'K') || around(text, 'v') || around(text, 'V')
}

// around reports whether a stem is there around one of the bytes c.
func around(text string, c byte) bool {
	for from := 0; ; {
		i := strings.IndexByte(text[from:], c)
		if i < 0 {
			return false
		}
		i += from
		from = i + 1
		if lowerByte(c) == 'v' {
			if foldedAt(text, i-len("ad"), "advisory") {
				return true
			}
			continue
		}
		if !foldedAt(text, i-len("loc"), "lock") {
			continue
		}
		for _, stem := range [...]string{"get_lock", "release_lock", "release_all_lock", "applock", "dbms_lock"} {
			if foldedAt(text, i+1-len(stem), stem) {
				return true
			}
		}
	}
}

// foldedAt reports whether the lower-case word stands at text[i:], in either case.
func foldedAt(text string, i int, word string) bool {
	if i < 0 || len(text)-i < len(word) {
		return false
	}
	for j := range len(word) {
		if lowerByte(text[i+j]) != word[j] {
			return false
		}
	}
	return true
}
