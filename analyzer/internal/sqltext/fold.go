package sqltext

// The servers fold the case of ASCII letters only in names and keywords.

func lowerByte(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func lower(s string) string {
	for i := range len(s) {
		if lowerByte(s[i]) == s[i] {
			continue
		}
		b := []byte(s)
		for ; i < len(b); i++ {
			b[i] = lowerByte(b[i])
		}
		return string(b)
	}
	return s
}

// equalFold reports whether s is the lower-case word, in either case.
func equalFold(s, word string) bool {
	return len(s) == len(word) && foldedAt(s, 0, word)
}
