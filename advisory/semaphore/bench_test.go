package semaphore_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/pgadvisory/pgadvisory/advisory/pgtest"
	"github.com/pgadvisory/pgadvisory/advisory/semaphore"
)

// BenchmarkHandOver measures, at default settings, how long it takes from the release of a slot until a caller in another process that waits, while all other slots are taken, has
// it. Take -benchtime=20x or so.
func BenchmarkHandOver(b *testing.B) {
	for _, driver := range pgtest.Drivers {
		for _, n := range []int{1, 3, 10} {
			b.Run(fmt.Sprintf("%s/%d", driver, n), func(b *testing.B) {
				ctx := testContext(b)
				database := server.Database(b)
				here := semaphore.New(newLocker(b, database.Open(b, driver)), "s", n)
				there := semaphore.New(newLocker(b, database.Open(b, driver)), "s", n)
				var held []*semaphore.Slot
				for range n {
					held = append(held, acquire(b, here))
				}
				var took []time.Duration
				for b.Loop() {
					type result struct {
						slot *semaphore.Slot
						at   time.Time
					}
					got := make(chan result)
					go func() {
						slot, err := there.Acquire(ctx)
						if err != nil {
							b.Error(err)
						}
						got <- result{slot, time.Now()}
					}()
					// Long enough for its intervals to have grown.
					time.Sleep(time.Second)
					start := time.Now()
					must(b, held[0].Release(ctx))
					r := <-got
					took = append(took, r.at.Sub(start))
					must(b, r.slot.Release(ctx))
					held = append(held[1:], acquire(b, here))
				}
				slices.Sort(took)
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(took[len(took)/2].Seconds()*1000, "median-ms")
				b.ReportMetric(took[len(took)-1].Seconds()*1000, "worst-ms")
			})
		}
	}
}
