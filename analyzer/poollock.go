package analyzer

const docPoollock = `poollock: report session-level locks that are taken through a pool
`

var poollock = rule(docPoollock, func(r *reporter) {})
