package leader

import (
	"fmt"
	"time"
)

// An Option changes how an [Elector] works.
type Option func(*settings)

// settings is what an elector's options come to.
type settings struct {
	onChange          func(Change)
	rest              time.Duration
	backMin, backMost time.Duration
}

const (
	defaultRest     = time.Second
	defaultBackMin  = 20 * time.Millisecond
	defaultBackMost = 500 * time.Millisecond
)

func settingsOf(opts []Option) settings {
	s := settings{rest: defaultRest, backMin: defaultBackMin, backMost: defaultBackMost}
	for _, o := range opts {
		o(&s)
	}
	return s
}

// OnChange calls f at each transition of the [Elector] between two states, one call after the other. The elector waits for f: it leads only after f has returned from the transition to
// Leading, and campaigns again only after f has returned from all before. The context of the term's function waits for nobody.
//
// f may call [Elector.State] and [Elector.IsLeader], and must not wait for [Elector.Run] or [Elector.Resign]. OnChange panics if f is nil.
func OnChange(f func(Change)) Option {
	if f == nil {
		panic("leader: OnChange: f is nil")
	}
	return func(s *settings) { s.onChange = f }
}

// Rest sets for how long an [Elector] keeps out of the election after it gave leadership up, by [Elector.Resign] or because the term's function
// returned; it is 1 second without this option. In that time another takes over, if there is one. With 0 the elector may well follow itself.
//
// Rest panics if d is negative.
func Rest(d time.Duration) Option {
	if d < 0 {
		panic(fmt.Sprintf("leader: Rest(%v): must not be negative", d))
	}
	return func(s *settings) { s.rest = d }
}

// Backoff sets how long an [Elector] waits after an error before it campaigns again: least after the first, and twice as long after each
// further one up to most. Each time is shortened at random by up to a half, so that many candidates do not come back to a restarted server at once. Without
// this option they are 20 and 500 milliseconds. A term which lasted longer than most starts the series anew.
//
// Backoff panics if least is not positive or most is less than least.
func Backoff(least, most time.Duration) Option {
	if least <= 0 || most < least {
		panic(fmt.Sprintf("leader: Backoff(%v, %v): want a positive time and one not smaller than it", least, most))
	}
	return func(s *settings) { s.backMin, s.backMost = least, most }
}
