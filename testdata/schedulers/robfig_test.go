package schedulers_test

import (
	"context"
	"database/sql"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	robfig "github.com/robfig/cron/v3"

	"github.com/pgadvisory/pgadvisory/advisory/cron"
	"github.com/pgadvisory/pgadvisory/testdata/schedulers"
)

// everySecond is a schedule whose ticks are the same on all nodes.
func everySecond() robfig.Schedule {
	schedule, err := robfig.NewParser(robfig.Second | robfig.Minute | robfig.Hour | robfig.Dom | robfig.Month | robfig.Dow).Parse("* * * * * *")
	if err != nil {
		panic(err)
	}
	return schedule
}

func TestRobfig(t *testing.T) {
	eachDriver(t, func(t *testing.T, open func() *sql.DB) {
		ctx := testContext(t)
		var ran, skipped atomic.Int32
		var nodes []*robfig.Cron
		for i := range 3 {
			node := robfig.New()
			job := &schedulers.Job{Name: "job", DB: open(), Run: work(fmt.Sprint(i)), Done: func(tick time.Time, result cron.Result, err error) {
				if err != nil || tick.Nanosecond() != 0 {
					t.Errorf("node %d at %v: %+v, %v", i, tick, result, err)
				}
				if result.Outcome == cron.Ran {
					ran.Add(1)
				} else {
					skipped.Add(1)
				}
			}}
			if i%2 == 0 {
				job.Schedule(ctx, node, everySecond())
				node.Start()
			} else {
				node.Start()
				job.Schedule(ctx, node, everySecond())
			}
			nodes = append(nodes, node)
		}
		eventually(t, "some ticks", func() bool { return ran.Load() >= 3 && skipped.Load() >= 3 })
		for _, node := range nodes {
			<-node.Stop().Done()
		}
		db := open()
		rows := count(t, db, "SELECT count(*) FROM work")
		ticks := count(t, db, "SELECT count(DISTINCT tick) FROM pgadvisory_cron.run WHERE state = 'succeeded'")
		if rows != ticks || rows != int(ran.Load()) {
			t.Errorf("%d ticks, %d runs, %d rows of work", ticks, ran.Load(), rows)
		}
	})
}

// Two nodes with the same schedule of robfig/cron. Each tick runs on one of them.
func ExampleJob() {
	ctx := context.Background()
	db, err := sql.Open("pgx", server.DSN())
	if err != nil {
		panic(err)
	}
	defer db.Close()
	if err := cron.Migrate(ctx, db); err != nil {
		panic(err)
	}

	type tick struct {
		at      time.Time
		outcome cron.Outcome
	}
	ticks := make(chan tick, 100)
	job := &schedulers.Job{
		Name:    "report",
		DB:      db,
		Run:     func(ctx context.Context, tx *sql.Tx) error { return nil }, // the report
		Options: []cron.Option{cron.Keep(30 * 24 * time.Hour)},
		Done: func(at time.Time, result cron.Result, err error) {
			if err != nil {
				fmt.Println(err)
			}
			ticks <- tick{at, result.Outcome}
		},
	}
	nodes := []*robfig.Cron{robfig.New(), robfig.New()}
	for _, node := range nodes {
		job.Schedule(ctx, node, everySecond())
		node.Start()
	}

	// What became of the first tick that both nodes had.
	seen := make(map[time.Time][]cron.Outcome)
	for t := range ticks {
		if seen[t.at] = append(seen[t.at], t.outcome); len(seen[t.at]) == 2 {
			ran := 0
			for _, outcome := range seen[t.at] {
				if outcome == cron.Ran {
					ran++
				}
			}
			fmt.Println("two nodes had the tick, and it ran on", ran)
			break
		}
	}
	for _, node := range nodes {
		<-node.Stop().Done()
	}
	// Output: two nodes had the tick, and it ran on 1
}
