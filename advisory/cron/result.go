package cron

import "fmt"

// An Outcome says what became of a call of [Once] or [OnceLeased].
type Outcome int

const (
	// Undecided means that an error came before it was clear whether the job should run here. It did not.
	Undecided Outcome = iota

	// Ran means that the job was run here, with success if the error is nil.
	Ran

	// RunningElsewhere means that another has the tick: it runs it, or is about to see whether it should. The other may still
	// fail, or find out that the tick ran before.
	RunningElsewhere

	// AlreadyRan means that the tick ran before, with success, or with a failure that [RetryFailed] does not make good.
	AlreadyRan

	// Crashed means that the last run of the tick ended without a trace, and that [RetryCrashed] does not allow another.
	Crashed

	// TooOld means that the tick is older than the history that is kept ([Keep], [Sweep]), so that nobody can say whether it ran.
	TooOld
)

// String returns the outcome in words, such as "already ran".
func (o Outcome) String() string {
	switch o {
	case Undecided:
		return "undecided"
	case Ran:
		return "ran"
	case RunningElsewhere:
		return "running elsewhere"
	case AlreadyRan:
		return "already ran"
	case Crashed:
		return "crashed"
	case TooOld:
		return "too old"
	}
	return fmt.Sprintf("Outcome(%d)", int(o))
}

// A Result is what [Once] and [OnceLeased] did.
type Result struct {
	Outcome Outcome

	// Attempt is the number of the run of this tick, from 1: of this one with Ran, of the last one with AlreadyRan, Crashed, and, if it is
	// known, with RunningElsewhere. Otherwise it is 0.
	Attempt int

	// Sweep is why [Keep] did not delete old rows, if it did not. The job is not concerned.
	Sweep error
}
