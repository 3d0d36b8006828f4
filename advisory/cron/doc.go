// Package cron runs a scheduled job once per tick, however many processes have the same schedule.
//
// A lock alone is not enough for that: a node that is late, because its clock is or because it was busy, takes the lock when the first has finished, and
// runs the same tick again. So a tick is a row, too. [Once] skips a tick that is running elsewhere, and one that ran before:
//
//	result, err := cron.Once(ctx, db, "report", tick, func(ctx context.Context, tx *sql.Tx) error {
//		return report(ctx, tx)
//	})
//
// The table is created by [Migrate], which programs call when they start, or by the text of [Schema].
//
// # Ticks
//
// A tick is named by the time for which it was scheduled, not by the time at which somebody starts. All nodes must come to the same name: take the time from the scheduler
// if it tells, else truncate the clock to the schedule's period, as in time.Now().Truncate(time.Minute). Then clocks may differ: a node whose clock is
// late comes to the same tick later, and finds that it ran. A scheduler that can be early by its own clock needs Round instead of Truncate. Names are
// compared as points in time, so the time zone does not matter, and count in microseconds.
//
// # One run
//
// A run is three transactions. The first claims the tick: it writes the row of this attempt and commits. The second is the work's. The third records
// a failure, so that rolling the work back does not undo the record. The lock on the tick, [Key], is held from before the claim
// until after the outcome is recorded. A success is recorded in the work's own transaction: the work is committed if and only if its
// row says so, even if the connection was lost while COMMIT ran.
//
// A run whose process or session is gone leaves a row that says it is running, and no lock. That is how others know that it crashed; see [RetryCrashed] and [Runs].
//
// # Long jobs
//
// Once keeps the work's transaction open, in which it has the lock. For work of more than a few minutes, or in many transactions, use [OnceLeased], which holds an
// [advisory.Lease] instead. Both exclude each other.
//
// # Connections
//
// A run of Once has one connection for the work, and for some milliseconds at its start, and after a failure, a second one. So that runs cannot take all
// connections and then wait for each other, no more of them are in Once at a time, per process and pool, than the pool's MaxOpenConns less one;
// others wait. A job that calls Once itself on the same pool counts twice. With MaxOpenConns of 1 the error is [advisory.ErrPoolTooSmall]. OnceLeased takes one connection at a time.
//
// A pooler in transaction mode is no obstacle to Once, if the driver prepares no statements there (with pgx: default_query_exec_mode=exec), but it must have
// more sessions than all processes together have runs at a time. OnceLeased is refused there with [advisory.ErrPooler].
package cron
