package main

import (
	"io"
	"strings"
	"testing"
)

func TestNoveltyWriter(t *testing.T) {
	var out strings.Builder
	n := newNoveltyWriter(&out)
	// Repeated within a round: all of it. A line may come in pieces, and the last one without its end.
	for _, piece := range []string{"# p\nx.go:1: un", "defined\n", "\tgo get q\n\tgo get q\nlast"} {
		if _, err := io.WriteString(n, piece); err != nil {
			t.Fatal(err)
		}
	}
	n.endRound()
	// Repeated in a later round: not again.
	io.WriteString(n, "# p\nx.go:1: undefined\nx.go:2: new\nlast\n")
	n.endRound()
	io.WriteString(n, "x.go:2: new\n# q\n")
	n.endRound()

	const want = "# p\nx.go:1: undefined\n\tgo get q\n\tgo get q\nlast\nx.go:2: new\n# q\n"
	if got := out.String(); got != want {
		t.Errorf("passed on\n%s\nwant\n%s", got, want)
	}
}
