package analyzer

const docAutocommit = `autocommit: report transaction-level locks that are taken outside a transaction
`

var autocommit = rule(docAutocommit, func(r *reporter) {})
