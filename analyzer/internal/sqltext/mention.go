package sqltext

import "strings"

// stems are the parts of the lock functions' names that Mentions looks for, by the rare letter which they are found by.
var stems = map[byte][]stem{
	'v': {{"advisory", len("ad"), PostgreSQL}},
	'k': {
		{"get_lock", len("get_loc"), MySQL},
		{"release_lock", len("release_loc"), MySQL},
		{"release_all_lock", len("release_all_loc"), MySQL},
		{"applock", len("apploc"), SQLServer},
		{"dbms_lock", len("dbms_loc"), Oracle},
	},
}

type stem struct {
	text    string
	before  int // bytes before the rare letter
	dialect Dialect
}

// Mentions reports whether a text could name a lock function of any server. It is the filter before everything else: it
// does not allocate, and looks only for stems of the names, in either case.
func Mentions(text string) bool {
	for _, letter := range letters {
		if _, at := nextStem(text, letter, 0); at >= 0 {
			return true
		}
	}
	return false
}

// letters are the rare letters of the stems. IndexByte skips what is between them at the machine's speed.
var letters = [...]byte{'k', 'v', 'K', 'V'}

// nextStem finds the first stem whose rare letter, in the given case, stands at text[from:]. It returns the letter's index,
// -1 if there is none.
func nextStem(text string, letter byte, from int) (Dialect, int) {
	for {
		i := strings.IndexByte(text[from:], letter)
		if i < 0 {
			return 0, -1
		}
		i += from
		from = i + 1
		// The letter before rules most places out, without a look at each stem.
		if i == 0 || lowerByte(text[i-1]) != 'c' && lowerByte(text[i-1]) != 'd' {
			continue
		}
		for _, s := range stems[lowerByte(letter)] {
			if foldedAt(text, i-s.before, s.text) {
				return s.dialect, i
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
