package main

import (
	"bytes"
	"io"
	"maps"
)

// A noveltyWriter passes on lines, except those that it passed on in an earlier round: a job may have to run the go command
// several times, and each run says anew which packages do not compile. Lines repeated within one round are kept, as they may
// be part of longer messages.
type noveltyWriter struct {
	w       io.Writer
	earlier map[string]bool // lines of the rounds before
	round   map[string]bool // lines of this round
	partial []byte          // a line whose end has not come yet
}

func newNoveltyWriter(w io.Writer) *noveltyWriter {
	return &noveltyWriter{w: w, earlier: make(map[string]bool), round: make(map[string]bool)}
}

func (n *noveltyWriter) Write(p []byte) (int, error) {
	n.partial = append(n.partial, p...)
	for {
		end := bytes.IndexByte(n.partial, '\n')
		if end < 0 {
			return len(p), nil
		}
		line := n.partial[:end+1]
		n.partial = n.partial[end+1:]
		if err := n.pass(line); err != nil {
			return 0, err
		}
	}
}

func (n *noveltyWriter) pass(line []byte) error {
	if n.earlier[string(line)] {
		return nil
	}
	n.round[string(line)] = true
	_, err := n.w.Write(line)
	return err
}

// endRound ends a round, with a last line that has no end.
func (n *noveltyWriter) endRound() error {
	var err error
	if len(n.partial) > 0 {
		err = n.pass(append(n.partial, '\n'))
		n.partial = nil
	}
	maps.Copy(n.earlier, n.round)
	clear(n.round)
	return err
}
