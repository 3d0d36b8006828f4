package leader_test

import (
	"database/sql"
	"slices"
	"testing"
	"time"

	"github.com/pgadvisory/pgadvisory/advisory"
	"github.com/pgadvisory/pgadvisory/advisory/leader"
	"github.com/pgadvisory/pgadvisory/advisory/pgtest"
)

// BenchmarkNextLeader measures how long nobody leads, at default settings with three candidates: after the leader's session was terminated, and after it resigned. Take
// -benchtime=30x or so.
func BenchmarkNextLeader(b *testing.B) {
	key := advisory.ID(1)
	for _, driver := range pgtest.Drivers {
		for name, end := range map[string]func(b *testing.B, db *sql.DB, leading *candidate){
			"terminated": func(b *testing.B, db *sql.DB, _ *candidate) { terminate(b, db, key) },
			"resigned":   func(b *testing.B, _ *sql.DB, leading *candidate) { go leading.Resign(testContext(b)) },
		} {
			b.Run(driver+"/"+name, func(b *testing.B) {
				database := server.Database(b)
				db := database.Open(b, driver)
				var all []*candidate
				for range 3 {
					all = append(all, campaign(b, newLocker(b, database.Open(b, driver)), key))
				}
				i, _ := next(b, all...)
				var took []time.Duration
				for b.Loop() {
					others := slices.Concat(all[:i], all[i+1:])
					for _, c := range others {
						eventually(b, "the others campaign", func() bool { return c.State() == leader.Campaigning })
					}
					start := time.Now()
					end(b, db, all[i])
					j, _ := next(b, all...)
					took = append(took, time.Since(start))
					i = j
				}
				slices.Sort(took)
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(took[len(took)/2].Seconds()*1000, "median-ms")
				b.ReportMetric(took[len(took)-1].Seconds()*1000, "worst-ms")
				for _, c := range all {
					c.stop()
				}
			})
		}
	}
}
