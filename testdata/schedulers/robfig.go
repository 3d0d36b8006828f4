package schedulers

import (
	"context"
	"database/sql"
	"time"

	robfig "github.com/robfig/cron/v3"

	"github.com/pgadvisory/pgadvisory/advisory/cron"
)

// A Job is a job of robfig/cron that runs once per tick, on whichever node comes first.
type Job struct {
	Name    string
	DB      *sql.DB
	Run     func(ctx context.Context, tx *sql.Tx) error
	Options []cron.Option

	// Done is told what became of each tick on this node. It may be nil.
	Done func(tick time.Time, result cron.Result, err error)
}

// Schedule adds the job to a scheduler. The tick is the time for which the scheduler had planned the run, whenever it gets to it. That is the same on all nodes with
// a schedule such as "0 * * * *". Do not use @every, which counts from the start of each node.
//
// The job runs under ctx. A tick of which the run has not begun when the scheduler starts the next one counts as the next one.
func (j *Job) Schedule(ctx context.Context, c *robfig.Cron, schedule robfig.Schedule) robfig.EntryID {
	var id robfig.EntryID
	added := make(chan struct{})
	id = c.Schedule(schedule, robfig.FuncJob(func() {
		<-added // a scheduler that is running may be quicker than Schedule
		tick := c.Entry(id).Prev
		if tick.IsZero() {
			return // removed meanwhile
		}
		result, err := cron.Once(ctx, j.DB, j.Name, tick, j.Run, j.Options...)
		if j.Done != nil {
			j.Done(tick, result, err)
		}
	}))
	close(added)
	return id
}
