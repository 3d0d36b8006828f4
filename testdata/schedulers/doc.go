// Package schedulers shows pgadvisory together with well-known schedulers and tools that ask for a distributed lock: robfig/cron, gocron and goose. The types can be
// copied into programs as they are.
package schedulers
