package sqltext

import "strings"

// stems are the parts of the lock functions' names that end in "lock". The others have "advisory".
var stems = [...]struct {
	text    string
	dialect Dialect
}{
	{"get_lock", MySQL}, {"release_lock", MySQL}, {"release_all_lock", MySQL}, {"applock", SQLServer}, {"dbms_lock", Oracle},
}

// letters are the rare letters of the stems, in both cases. IndexByte skips what is between them at the machine's speed.
var letters = [...]byte{'k', 'v', 'K', 'V'}

// Mentions reports whether a text could name a lock function of any server. It is the filter before everything else: it
// does not allocate, and looks only for stems of the names, in either case.
func Mentions(text string) bool {
	if len(text) < len("applock") {
		return false
	}
	for _, letter := range letters {
		if _, at := nextStem(text, letter, 0); at >= 0 {
			return true
		}
	}
	return false
}

// nextStem finds the first stem whose rare letter, in the given case, stands at text[from:]. It returns the letter's index,
// -1 if there is none.
func nextStem(text string, letter byte, from int) (Dialect, int) {
	const lowers = 'a' - 'A' // the bit that tells lower from upper case
	for {
		i := strings.IndexByte(text[from:], letter)
		if i < 0 {
			return 0, -1
		}
		i += from
		from = i + 1
		// The letter before rules most places out.
		if i == 0 {
			continue
		}
		switch before := text[i-1] | lowers; {
		case before == 'd' && letter|lowers == 'v':
			if foldedAt(text, i-len("ad"), "advisory") {
				return PostgreSQL, i
			}
		case before == 'c' && letter|lowers == 'k' && foldedAt(text, i-len("loc"), "lock"):
			for _, s := range stems {
				if foldedAt(text, i+1-len(s.text), s.text) {
					return s.dialect, i
				}
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
