package demo

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/pgadvisory/pgadvisory/advisory"
)

// A program is a server program that does a job beside its requests.
type program struct {
	stage   *stage
	db      *sql.DB
	request *sql.Conn // the connection that a request is using
	table   []lockRow // pg_locks while the job was done

	lockedIn, requestIn, unlockedIn int // sessions
	unlocked, done                  bool
}

// poolSize is how many connections a program's pool may have.
const poolSize = 4

// program connects a program. The caller must close its pool.
func (s *stage) program(ctx context.Context, name string) (*program, error) {
	db, err := s.connect(ctx, name)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(poolSize)
	return &program{stage: s, db: db}, nil
}

// byHand does the job with a lock that is taken and freed through the pool.
//
//advisorylint:ignore poollock,poolunlock the mistake is what is shown
func (p *program) byHand(ctx context.Context, key int64) error {
	if _, err := p.db.ExecContext(ctx, "SELECT pg_advisory_lock($1)", key); err != nil {
		return err
	}
	err := p.work(ctx)
	unlock := p.db.QueryRowContext(ctx, "SELECT pg_advisory_unlock($1), pg_backend_pid()", key)
	return errors.Join(err, unlock.Scan(&p.unlocked, &p.unlockedIn))
}

// byDo does the job with a lock that its transaction holds.
func (p *program) byDo(ctx context.Context, key int64) error {
	return advisory.Do(ctx, p.db, advisory.ID(key), func(ctx context.Context, tx *sql.Tx) error {
		return p.work(ctx)
	})
}

// sameJob does the job, too, unless it has to wait for more than a second.
func (p *program) sameJob(ctx context.Context, key int64) error {
	return advisory.Do(ctx, p.db, advisory.ID(key), func(ctx context.Context, tx *sql.Tx) error {
		p.done = true
		return nil
	}, advisory.Timeout(time.Second))
}

// work is the job. While it is done, a request begins which needs a connection from
// the same pool.
func (p *program) work(ctx context.Context) (err error) {
	if p.table, err = p.stage.locks(ctx); err != nil {
		return err
	}
	if p.lockedIn, err = p.stage.holder(ctx); err != nil {
		return err
	}
	if p.request, err = p.db.Conn(ctx); err != nil {
		return err
	}
	p.requestIn, err = sessionOf(ctx, p.request)
	return err
}

// endRequest gives the request's connection back to the pool.
func (p *program) endRequest() error {
	if p.request == nil {
		return nil
	}
	return p.request.Close()
}

// jobKey is the number that stands for the job.
const jobKey = 42

func showLeak(ctx context.Context, p *page, s *stage) (err error) {
	p.title("2. The lock that stays in the pool")
	p.text(`A *sql.DB is not a connection but a pool of them. pg_advisory_lock locks for one connection, which PostgreSQL
		calls a session, and only that session can unlock. Program A holds the lock %d while it does a job:`, jobKey)
	p.code("byHand")
	p.text("While it works, another request of program A takes a connection from the pool, as in any server.")
	p.space()

	a, err := s.program(ctx, "program A")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.db.Close()) }()
	err = errors.Join(a.byHand(ctx, jobKey), a.endRequest())
	if err != nil {
		return err
	}
	if a.unlocked {
		return fmt.Errorf("the unlock in session %d should have answered false: "+
			"is there a pooler between the demo and the server?", a.unlockedIn)
	}
	p.facts(
		[2]string{"lock", fmt.Sprintf("taken in session %d", a.lockedIn)},
		[2]string{"request", fmt.Sprintf("was given session %d", a.requestIn)},
		[2]string{"unlock", fmt.Sprintf("ran in session %d, and answered %t: that session has no such lock", a.unlockedIn, a.unlocked)},
		[2]string{"error", "none"},
	)
	p.space()
	p.text("The job is done, and so is the request. Now program B wants to do the job, and would wait for one second:")
	p.code("sameJob")

	b, err := s.program(ctx, "program B")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.db.Close()) }()
	asked := time.Now()
	answer := make(chan error, 1)
	go func() { answer <- b.sameJob(ctx, jobKey) }()
	rows, err := s.await(ctx, time.Second, func(rows []lockRow) bool { return len(rows) == 2 })
	refused := <-answer
	waited := since(asked)
	if err != nil {
		return err
	}
	if b.done || !errors.Is(refused, advisory.ErrTimeout) {
		return fmt.Errorf("program B should have waited in vain, it got: %w", cmp.Or(refused, errors.New("the lock")))
	}
	p.text("Meanwhile pg_locks, the server's own list of locks, has this (PID is the session):")
	p.space()
	p.locks(rows)
	p.space()
	p.show("program B gave up after %s: %v", waited, refused)
	p.space()
	p.text(`Session %d is idle in program A's pool, with the lock on it. No code of A knows, and none will free it. It stays
		until that connection is closed, which by default can be as late as A's end. (The demo now closes A's pool.)`, a.lockedIn)
	return nil
}

func showDo(ctx context.Context, p *page, s *stage) (err error) {
	left, err := s.await(ctx, limit, func(rows []lockRow) bool { return len(rows) == 0 })
	if err != nil {
		return err
	}
	if len(left) > 0 {
		return fmt.Errorf("program A's pool is closed, but pg_locks still has %v", left)
	}
	p.title("3. The same job with advisory.Do")
	p.text(`Do begins a transaction, takes the lock in it, and commits. The lock belongs to the transaction: the server frees
		it with COMMIT and with ROLLBACK. There is no unlock that could run in the wrong session, or be forgotten.`)
	p.code("byDo")

	a, err := s.program(ctx, "program A")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.db.Close()) }()
	err = errors.Join(a.byDo(ctx, jobKey), a.endRequest())
	if err != nil {
		return err
	}
	if left, err = s.locks(ctx); err != nil {
		return err
	}
	if len(left) > 0 {
		return fmt.Errorf("advisory.Do has returned, but pg_locks still has %v", left)
	}
	b, err := s.program(ctx, "program B")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.db.Close()) }()
	asked := time.Now()
	if err := b.sameJob(ctx, jobKey); err != nil {
		return err
	}
	took := since(asked)
	if !b.done {
		return errors.New("program B has the lock, but did not do the job")
	}
	p.facts(
		[2]string{"lock", fmt.Sprintf("taken in session %d", a.lockedIn)},
		[2]string{"request", fmt.Sprintf("was given session %d", a.requestIn)},
		[2]string{"error", "none"},
	)
	p.space()
	p.text("In pg_locks while the job was done:")
	p.space()
	p.locks(a.table)
	p.space()
	p.text("And when Do had returned:")
	p.space()
	p.locks(left)
	p.space()
	p.show("program B did the job, too, %s after it had asked", took)
	return nil
}
