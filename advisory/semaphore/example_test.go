package semaphore_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/pgadvisory/pgadvisory/advisory"
	"github.com/pgadvisory/pgadvisory/advisory/semaphore"
)

// An upstream service bears three calls at a time, from all servers together.
func ExampleSemaphore_Acquire() {
	db, err := sql.Open("pgx", server.DSN())
	if err != nil {
		panic(err)
	}
	defer db.Close()
	ctx := context.Background()

	var calls, most atomic.Int64
	callUpstream := func(context.Context) error {
		n := calls.Add(1)
		defer calls.Add(-1)
		for seen := most.Load(); n > seen && !most.CompareAndSwap(seen, n); seen = most.Load() {
		}
		return nil
	}

	var servers sync.WaitGroup
	for range 2 {
		servers.Go(func() {
			locker := advisory.NewLocker(db)
			defer locker.Close()
			upstream := semaphore.New(locker, "upstream", 3)

			var requests sync.WaitGroup
			for range 5 {
				requests.Go(func() {
					slot, err := upstream.Acquire(ctx)
					if err != nil {
						fmt.Println(err)
						return
					}
					defer slot.Release(ctx)
					if err := callUpstream(slot.Context()); err != nil {
						fmt.Println(err)
					}
				})
			}
			requests.Wait()
		})
	}
	servers.Wait()
	fmt.Println("more than three at a time:", most.Load() > 3)
	// Output: more than three at a time: false
}

// A request that comes when all slots are taken is turned away.
func ExampleSemaphore_TryAcquire() {
	db, err := sql.Open("pgx", server.DSN())
	if err != nil {
		panic(err)
	}
	defer db.Close()
	ctx := context.Background()
	locker := advisory.NewLocker(db)
	defer locker.Close()
	previews := semaphore.New(locker, "previews", 1)

	handle := func(next func()) {
		slot, err := previews.TryAcquire(ctx)
		if errors.Is(err, advisory.ErrNotAcquired) {
			fmt.Println("503: try again later")
			return
		} else if err != nil {
			fmt.Println(err)
			return
		}
		defer slot.Release(ctx)
		fmt.Println("200: slot", slot.Number())
		next()
	}
	handle(func() { handle(nil) })
	// Output:
	// 200: slot 0
	// 503: try again later
}

func ExampleSlotKey() {
	fmt.Println(semaphore.SlotKey("exports", 0))
	fmt.Println(semaphore.SlotKey("exports", 0) == advisory.Name("pgadvisory semaphore", "exports", "0"))
	// Output:
	// -5931330548679360140
	// true
}
