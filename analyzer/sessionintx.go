package analyzer

const docSessionintx = `sessionintx: report session-level locks that are taken in a transaction
`

var sessionintx = rule(docSessionintx, func(r *reporter) {})
