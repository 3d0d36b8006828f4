package semaphore

// Waiting returns how many calls of Acquire are under way.
func Waiting(s *Semaphore) int { return s.queue.len() }
