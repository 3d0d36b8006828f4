module github.com/pgadvisory/pgadvisory/testdata/vetbench

go 1.26.0

require golang.org/x/tools v0.52.0

require (
	github.com/pgadvisory/pgadvisory v0.0.0 // indirect
	github.com/yuin/goldmark v1.4.13 // indirect
	golang.org/x/mod v0.42.0 // indirect
	golang.org/x/net v0.61.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/telemetry v0.0.0-20261009151841-97e8ea77aa2a // indirect
)

replace github.com/pgadvisory/pgadvisory => ../..

// The commands of golang.org/x/tools are here so that go.sum covers all packages of that module.
tool (
	github.com/pgadvisory/pgadvisory/cmd/advisorylint
	golang.org/x/tools/cmd/deadcode
	golang.org/x/tools/cmd/goimports
	golang.org/x/tools/cmd/html2article
	golang.org/x/tools/cmd/present
)
