package analyzer

const docLostunlock = `lostunlock: report session-level locks that stay on a connection which goes back to its pool
`

var lostunlock = rule(docLostunlock, func(r *reporter) {})

// lostPanic is the switch -lostunlock.panic.
var lostPanic = lostunlock.Flags.Bool("panic", true, "report unlocks that a panic would skip")
