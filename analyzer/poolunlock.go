package analyzer

const docPoolunlock = `poolunlock: report unlocks that are run through a pool
`

var poolunlock = rule(docPoolunlock, func(r *reporter) {})
