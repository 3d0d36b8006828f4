package semaphore_test

import (
	"bufio"
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pgadvisory/pgadvisory/advisory"
	"github.com/pgadvisory/pgadvisory/advisory/pgtest"
	"github.com/pgadvisory/pgadvisory/advisory/semaphore"
)

// contenderEnv makes the test binary a contender: "driver dsn".
const contenderEnv = "SEMAPHORE_TEST_CONTENDER"

const (
	processes = 16
	slots     = 3
	rounds    = 6
)

// contend takes a slot again and again, and writes "+" and the time when it has one, and "-" and the time before it gives it back.
func contend() int {
	driver, dsn, _ := strings.Cut(os.Getenv(contenderEnv), " ")
	db, err := sql.Open(driver, dsn)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 4*patience)
	defer cancel()
	locker := advisory.NewLocker(db)
	defer locker.Close()
	s := semaphore.New(locker, "s", slots)
	for range rounds {
		slot, err := s.Acquire(ctx)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Println("+", time.Now().UnixNano())
		time.Sleep(rand.N(5 * time.Millisecond)) // work
		fmt.Println("-", time.Now().UnixNano())
		if err := slot.Release(ctx); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return 0
}

// A mark is the beginning or the end of a hold.
type mark struct {
	at    int64
	delta int
}

// Sixteen processes, four of which are killed with SIGKILL while they hold a slot, and three slots: by their own clock readings never four hold one.
func TestSixteenProcesses(t *testing.T) {
	for _, driver := range pgtest.Drivers {
		t.Run(driver, func(t *testing.T) {
			database := server.Database(t)
			var mu sync.Mutex
			var marks []mark
			var group sync.WaitGroup
			for i := range processes {
				group.Go(func() {
					killed := i%4 == 0
					got, err := contender(driver, database.DSN(), killed)
					if err != nil {
						t.Errorf("process %d: %v", i, err)
					}
					if !killed && len(got) != 2*rounds {
						t.Errorf("process %d: %d marks, want %d", i, len(got), 2*rounds)
					}
					mu.Lock()
					marks = append(marks, got...)
					mu.Unlock()
				})
			}
			group.Wait()
			// Ends come before beginnings of the same nanosecond.
			slices.SortFunc(marks, func(a, b mark) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.delta, b.delta)) })
			holders, most := 0, 0
			for _, m := range marks {
				holders += m.delta
				most = max(most, holders)
			}
			if most > slots {
				t.Errorf("%d holders at a time, want %d at most", most, slots)
			}
			t.Logf("%d marks, up to %d holders at a time", len(marks), most)
		})
	}
}

// contender runs a process that contends, and returns when it held a slot. If it is to be killed that happens while it has its second one, which then has no end but that moment's.
func contender(driver, dsn string, killed bool) (marks []mark, err error) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), contenderEnv+"="+driver+" "+dsn)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	begun, open := 0, false
	for lines := bufio.NewScanner(out); lines.Scan(); {
		sign, digits, _ := strings.Cut(lines.Text(), " ")
		at, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("line %q: %w", lines.Text(), err)
		}
		if open = sign == "+"; !open {
			marks = append(marks, mark{at, -1})
			continue
		}
		marks = append(marks, mark{at, 1})
		if begun++; killed && begun == 2 {
			if err := cmd.Process.Kill(); err != nil {
				return nil, err
			}
		}
	}
	err = cmd.Wait()
	if killed {
		err = nil
	}
	if open {
		marks = append(marks, mark{marks[len(marks)-1].at, -1})
	}
	return marks, err
}
