package semaphore_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pgadvisory/pgadvisory/advisory"
	"github.com/pgadvisory/pgadvisory/advisory/pgtest"
	"github.com/pgadvisory/pgadvisory/advisory/semaphore"
)

func acquire(t testing.TB, s *semaphore.Semaphore) *semaphore.Slot {
	t.Helper()
	slot, err := s.Acquire(testContext(t))
	must(t, err)
	return slot
}

// The keys are part of what programs of different versions agree on.
func TestSlotKey(t *testing.T) {
	for _, test := range []struct {
		name   string
		number int
		want   string
	}{
		{"exports", 0, "-5931330548679360140"},
		{"exports", 1, "159266049057711011"},
		{"exports", 12, "3805331995674377077"},
		{"", 0, "7901535617764287284"},
		{"größe", 3, "-114813774980724418"},
	} {
		if got := semaphore.SlotKey(test.name, test.number).String(); got != test.want {
			t.Errorf("SlotKey(%q, %d) = %s, want %s", test.name, test.number, got, test.want)
		}
	}
}

// The same in SQL gives the same keys.
func TestSlotKeyInSQL(t *testing.T) {
	db := server.Open(t, "pgx")
	const query = `SELECT ('x' || encode(substr(sha256(string_agg(int8send(octet_length(p)) || p, '' ORDER BY n)), 1, 8), 'hex'))::bit(64)::int8::text
		FROM (VALUES (1, convert_to('pgadvisory semaphore', 'UTF8')), (2, convert_to('größe', 'UTF8')), (3, convert_to('3', 'UTF8'))) AS parts (n, p)`
	var got string
	must(t, db.QueryRowContext(testContext(t), query).Scan(&got))
	if want := semaphore.SlotKey("größe", 3).String(); got != want {
		t.Errorf("in SQL: %s, in Go: %s", got, want)
	}
}

func TestSlots(t *testing.T) {
	eachDriver(t, func(t *testing.T, driver string, database *pgtest.Database) {
		ctx := testContext(t)
		// Two processes, without waits on the server, which may have the lock for a moment after their caller has left.
		db, other := database.Open(t, driver), database.Open(t, driver)
		a, b := newLocker(t, db, advisory.Waiters(0)), newLocker(t, other, advisory.Waiters(0))
		const n = 4
		here, there := semaphore.New(a, "s", n), semaphore.New(b, "s", n)
		if here.Name() != "s" || here.Size() != n {
			t.Errorf("name %q, size %d", here.Name(), here.Size())
		}
		slots := make(map[int]*semaphore.Slot)
		for i := range n {
			s := here
			if i%2 == 1 {
				s = there
			}
			slot, err := s.TryAcquire(ctx)
			must(t, err)
			if slots[slot.Number()] != nil || slot.Number() < 0 || slot.Number() >= n {
				t.Errorf("slot %d is not a new one", slot.Number())
			}
			if slot.Err() != nil || slot.Context().Err() != nil || slot.Lease().Key() != semaphore.SlotKey("s", slot.Number()) {
				t.Errorf("err %v, ctx %v, key %v", slot.Err(), slot.Context().Err(), slot.Lease().Key())
			}
			slots[slot.Number()] = slot
		}
		for _, s := range []*semaphore.Semaphore{here, there} {
			if slot, err := s.TryAcquire(ctx); !errors.Is(err, advisory.ErrNotAcquired) {
				t.Errorf("one more than there are: %v, %v", slot, err)
			}
			short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
			if slot, err := s.Acquire(short); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Acquire with a deadline: %v, %v", slot, err)
			}
			cancel()
		}
		// Another semaphore is another matter.
		slot, err := semaphore.New(a, "other", 1).TryAcquire(ctx)
		must(t, err)
		must(t, slot.Release(ctx))

		must(t, slots[2].Release(ctx))
		must(t, slots[2].Release(ctx))
		if !errors.Is(slots[2].Err(), advisory.ErrReleased) || !errors.Is(context.Cause(slots[2].Context()), advisory.ErrReleased) {
			t.Errorf("after Release: err %v, cause %v", slots[2].Err(), context.Cause(slots[2].Context()))
		}
		slot, err = there.TryAcquire(ctx)
		must(t, err)
		if slot.Number() != 2 {
			t.Errorf("got slot %d, want the one that is free", slot.Number())
		}
		// A process that knows of one slot more may use it.
		larger, err := semaphore.New(b, "s", n+1).TryAcquire(ctx)
		must(t, err)
		if larger.Number() != n {
			t.Errorf("got slot %d, want %d", larger.Number(), n)
		}
		must(t, a.Close())
		must(t, b.Close())
		if !errors.Is(slot.Err(), advisory.ErrClosed) {
			t.Errorf("after Close: %v", slot.Err())
		}
		if _, err := here.Acquire(ctx); !errors.Is(err, advisory.ErrClosed) {
			t.Errorf("Acquire after Close: %v", err)
		}
		assertClean(t, db)
	})
}

// The first slot that is tried is a random one.
func TestFirstSlotIsRandom(t *testing.T) {
	locker := newLocker(t, server.Database(t).Open(t, "pgx"))
	s := semaphore.New(locker, "s", 8)
	seen := make(map[int]bool)
	for range 200 { // all the same by chance: 8^-199
		slot := acquire(t, s)
		seen[slot.Number()] = true
		must(t, slot.Release(testContext(t)))
	}
	if len(seen) < 2 {
		t.Errorf("numbers seen: %v", seen)
	}
}

// All slots can be had at once, also when all are asked for at the same time.
func TestTryAcquireAtTheSameTime(t *testing.T) {
	eachDriver(t, func(t *testing.T, driver string, database *pgtest.Database) {
		ctx := testContext(t)
		db := database.Open(t, driver)
		locker := newLocker(t, db)
		const n = 8
		s := semaphore.New(locker, "s", n)
		numbers := make(chan int, n)
		var group sync.WaitGroup
		for range n {
			group.Go(func() {
				slot, err := s.TryAcquire(ctx)
				if err != nil {
					t.Error(err)
					return
				}
				numbers <- slot.Number()
			})
		}
		group.Wait()
		close(numbers)
		seen := make(map[int]bool)
		for number := range numbers {
			seen[number] = true
		}
		if len(seen) != n {
			t.Errorf("slots %v, want %d different ones", seen, n)
		}
		must(t, locker.Close())
		assertClean(t, db)
	})
}

// Callers of one semaphore get slots in the order in which they came, and TryAcquire does not overtake them.
func TestOrder(t *testing.T) {
	eachDriver(t, func(t *testing.T, driver string, database *pgtest.Database) {
		ctx := testContext(t)
		locker := newLocker(t, database.Open(t, driver))
		s := semaphore.New(locker, "s", 2)
		first, second := acquire(t, s), acquire(t, s)
		defer second.Release(ctx)
		var order []int // the slot serves as mutex
		var group sync.WaitGroup
		for i := range 5 {
			group.Go(func() {
				slot, err := s.Acquire(ctx)
				if err != nil {
					t.Error(err)
					return
				}
				order = append(order, i)
				if err := slot.Release(ctx); err != nil {
					t.Error(err)
				}
			})
			eventually(t, "it waits", func() bool { return semaphore.Waiting(s) == i+1 })
		}
		if _, err := s.TryAcquire(ctx); !errors.Is(err, advisory.ErrNotAcquired) {
			t.Errorf("TryAcquire while others wait: %v", err)
		}
		must(t, first.Release(ctx))
		group.Wait()
		if !cmp.Equal(order, []int{0, 1, 2, 3, 4}) {
			t.Errorf("order: %v", order)
		}
	})
}

// When the session is terminated its slots are lost, their holders are told, and others get them.
func TestTerminated(t *testing.T) {
	eachDriver(t, func(t *testing.T, driver string, database *pgtest.Database) {
		ctx := testContext(t)
		db, other := database.Open(t, driver), database.Open(t, driver)
		here := semaphore.New(newLocker(t, db, advisory.TTL(2*time.Second)), "s", 2)
		there := semaphore.New(newLocker(t, other), "s", 2)
		slots := []*semaphore.Slot{acquire(t, here), acquire(t, here)}
		got := make(chan *semaphore.Slot)
		for range slots {
			go func() {
				slot, err := there.Acquire(ctx)
				if err != nil {
					t.Error(err)
				}
				got <- slot
			}()
		}
		eventually(t, "they wait", func() bool { return semaphore.Waiting(there) == 2 })
		var n int
		must(t, other.QueryRowContext(ctx, `SELECT count(pg_terminate_backend(pid)) FROM pg_locks WHERE locktype = 'advisory' AND granted
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
			AND (classid::int8 << 32 | objid::int8)::text = '`+advisory.LeaseKey(semaphore.SlotKey("s", 0)).String()+`'`).Scan(&n))
		if n != 1 {
			t.Fatalf("%d sessions terminated", n)
		}
		for _, slot := range slots {
			select {
			case <-slot.Context().Done():
			case <-time.After(patience):
				t.Fatal("the context of a lost slot does not end")
			}
			if !errors.Is(slot.Err(), advisory.ErrLost) || !errors.Is(context.Cause(slot.Context()), advisory.ErrLost) {
				t.Errorf("err %v, cause %v", slot.Err(), context.Cause(slot.Context()))
			}
			if err := slot.Release(ctx); !errors.Is(err, advisory.ErrLost) {
				t.Errorf("Release: %v", err)
			}
		}
		for range slots {
			must(t, (<-got).Release(ctx))
		}
		must(t, acquire(t, here).Release(ctx))
	})
}

// A restart of the server takes the slots away; afterwards the same semaphore has all of them again.
func TestServerRestarts(t *testing.T) {
	t.Parallel()
	server.SkipIfExternal(t)
	own := pgtest.Start(t)
	for _, driver := range pgtest.Drivers {
		t.Run(driver, func(t *testing.T) {
			ctx := testContext(t)
			db := own.Open(t, driver)
			locker := newLocker(t, db, advisory.TTL(2*time.Second))
			s := semaphore.New(locker, "s", 2)
			slots := []*semaphore.Slot{acquire(t, s), acquire(t, s)}
			must(t, own.Restart(ctx))
			for _, slot := range slots {
				select {
				case <-slot.Context().Done():
				case <-time.After(patience):
					t.Fatal("the context of a lost slot does not end")
				}
				if err := slot.Release(ctx); !errors.Is(err, advisory.ErrLost) {
					t.Errorf("Release: %v", err)
				}
			}
			first, second := acquire(t, s), acquire(t, s)
			must(t, first.Release(ctx))
			must(t, second.Release(ctx))
			must(t, locker.Close())
			assertClean(t, db)
		})
	}
}

// Calls that end at any time leave nothing behind, and take no slot away.
func TestCanceledAnywhere(t *testing.T) {
	eachDriver(t, func(t *testing.T, driver string, database *pgtest.Database) {
		ctx := testContext(t)
		db := database.Open(t, driver)
		var lockers []*advisory.Locker
		var semaphores []*semaphore.Semaphore
		for range 2 {
			locker := newLocker(t, db)
			lockers = append(lockers, locker)
			semaphores = append(semaphores, semaphore.New(locker, "s", 2))
		}
		var group sync.WaitGroup
		for worker := range 8 {
			group.Go(func() {
				for range 25 {
					short, cancel := context.WithTimeout(ctx, rand.N(4*time.Millisecond))
					slot, err := semaphores[worker%2].Acquire(short)
					cancel()
					if err == nil {
						err = slot.Release(short)
					}
					if err != nil && !errors.Is(err, context.DeadlineExceeded) {
						t.Error(err)
					}
				}
			})
		}
		group.Wait()
		for _, s := range semaphores {
			first, second := acquire(t, s), acquire(t, s)
			must(t, first.Release(ctx))
			must(t, second.Release(ctx))
		}
		for _, locker := range lockers {
			must(t, locker.Close())
			if s := locker.Stats(); s.Lost != 0 || s.Leases != 0 || s.Sessions != 0 {
				t.Errorf("stats: %+v", s)
			}
		}
		assertClean(t, db)
	})
}

func TestMisuse(t *testing.T) {
	locker := advisory.NewLocker(server.Open(t, "pgx"))
	for want, misuse := range map[string]func(){
		"semaphore: New: locker is nil":                          func() { semaphore.New(nil, "s", 1) },
		`semaphore: New("s", 0): want one slot or more`:          func() { semaphore.New(locker, "s", 0) },
		`semaphore: SlotKey("s", -1): slots are numbered from 0`: func() { semaphore.SlotKey("s", -1) },
	} {
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("panic %v, want %q", got, want)
				}
			}()
			misuse()
		}()
	}
}
