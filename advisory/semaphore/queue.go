package semaphore

import (
	"slices"
	"sync"
)

// A queue is the order of callers. The first one's turn it is; a turn is a channel that is closed when it has come.
type queue struct {
	mu    sync.Mutex
	turns []chan struct{}
}

func (q *queue) join() (turn chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	turn = make(chan struct{})
	q.turns = append(q.turns, turn)
	if len(q.turns) == 1 {
		close(turn)
	}
	return turn
}

// leave takes a turn out of the queue, wherever it stands.
func (q *queue) leave(turn chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.turns, turn)
	q.turns = slices.Delete(q.turns, i, i+1)
	if i == 0 && len(q.turns) > 0 {
		close(q.turns[0])
	}
}

func (q *queue) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.turns)
}
