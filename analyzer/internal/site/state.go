package site

import (
	"fmt"
	"go/token"
	"sort"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// A state is what one path through the function has come to.
type state struct {
	acquired bool      // the lock was taken on this path
	held     bool      // and nothing freed it
	closed   token.Pos // where the connection went back to its pool meanwhile
	risky    token.Pos // a call that may panic while no defer would free the lock
	defers   []*ssa.Defer
	env      map[ssa.Value]known
}

func (s *state) clone() *state {
	c := *s
	c.defers = s.defers[:len(s.defers):len(s.defers)]
	c.env = make(map[ssa.Value]known, len(s.env))
	for v, k := range s.env {
		c.env[v] = k
	}
	return &c
}

func (s *state) set(v ssa.Value, k known) {
	if k == unknown {
		delete(s.env, v)
		return
	}
	s.env[v] = k
}

// key tells states apart.
func (s *state) key(b *ssa.BasicBlock) string {
	var env []string
	for v, k := range s.env {
		env = append(env, fmt.Sprintf("%p=%d", v, k))
	}
	sort.Strings(env)
	var defers strings.Builder
	for _, d := range s.defers {
		fmt.Fprintf(&defers, "%p,", d)
	}
	return fmt.Sprintf("%d %t%t%t%t %s %s", b.Index, s.acquired, s.held, s.closed != token.NoPos, s.risky != token.NoPos, defers.String(), strings.Join(env, " "))
}

// cost is what a state adds to the work.
func (s *state) cost() int { return 1 + len(s.defers) + len(s.env) }
