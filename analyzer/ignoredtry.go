package analyzer

const docIgnoredtry = `ignoredtry: report try-locks whose answer is thrown away
`

var ignoredtry = rule(docIgnoredtry, func(r *reporter) {})
