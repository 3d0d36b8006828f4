package demo

import (
	"fmt"
	"sync"
	"time"
)

// A trace takes down what happens when. It is safe for concurrent use.
type trace struct {
	begun time.Time

	mu    sync.Mutex
	lines []string
}

func newTrace() *trace { return &trace{begun: time.Now()} }

func (t *trace) add(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, fmt.Sprintf("%7s  %s", since(t.begun), fmt.Sprintf(format, args...)))
}

// write writes what was taken down so far.
func (t *trace) write(p *page) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, line := range t.lines {
		p.write(indented(line))
	}
}
