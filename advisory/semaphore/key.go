package semaphore

import (
	"fmt"
	"strconv"

	"github.com/pgadvisory/pgadvisory/advisory"
)

// SlotKey returns the key of one slot of a semaphore: advisory.Name("pgadvisory semaphore", name, number), with the number in decimal. Slots are numbered from 0. It
// never changes, so that programs of different versions, and in other languages, agree. On the server a [advisory.Locker] locks [advisory.LeaseKey] of
// it, unless it has [advisory.PlainKeys].
//
// SlotKey panics if number is negative.
func SlotKey(name string, number int) advisory.Key {
	if number < 0 {
		panic(fmt.Sprintf("semaphore: SlotKey(%q, %d): slots are numbered from 0", name, number))
	}
	return advisory.Name("pgadvisory semaphore", name, strconv.Itoa(number))
}
