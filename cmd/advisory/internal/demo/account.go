package demo

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/pgadvisory/pgadvisory/advisory"
)

// A worker is one of two programs that do the same.
type worker struct {
	name    string
	db      *sql.DB
	trace   *trace
	meeting *meeting
	busy    func() error // what happens while the worker is at its report
	ran     bool         // whether it wrote the report
}

// payIn pays 50 into the account.
func (w *worker) payIn(ctx context.Context, tx *sql.Tx) error {
	var balance int
	if err := tx.QueryRowContext(ctx, "SELECT balance FROM account").Scan(&balance); err != nil {
		return err
	}
	w.hasRead(ctx, balance)
	_, err := tx.ExecContext(ctx, "UPDATE account SET balance = $1", balance+50)
	return err
}

// payInLocked is payIn in a transaction which holds the account's lock.
func (w *worker) payInLocked(ctx context.Context) error {
	account := advisory.Name("account", "alice")
	return advisory.Do(ctx, w.db, account, func(ctx context.Context, tx *sql.Tx) error {
		return w.payIn(ctx, tx)
	})
}

// payInUnlocked is payIn in a transaction without a lock.
func (w *worker) payInUnlocked(ctx context.Context) error {
	tx, err := w.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := w.payIn(ctx, tx); err != nil {
		return err
	}
	return tx.Commit()
}

// hasRead tells what was read, and waits for the other worker to have read, too.
func (w *worker) hasRead(ctx context.Context, balance int) {
	w.trace.add("%s reads %d", w.name, balance)
	w.meeting.wait(ctx)
	w.trace.add("%s writes %d", w.name, balance+50)
}

// tryReport writes the report, unless somebody is at it.
func (w *worker) tryReport(ctx context.Context) (err error) {
	report := advisory.Name("job", "nightly report")
	w.ran, err = advisory.TryDo(ctx, w.db, report, func(ctx context.Context, tx *sql.Tx) error {
		return w.writeReport()
	})
	return err
}

func (w *worker) writeReport() error {
	w.trace.add("%s writes the report", w.name)
	return w.busy()
}

const (
	// inVain is how long a worker with the lock waits for the other one to read.
	inVain = 200 * time.Millisecond
	// limit is how long anything may take that takes no time unless something is
	// broken.
	limit = 10 * time.Second
)

func showAccount(ctx context.Context, p *page, s *stage) error {
	p.title("1. Two workers and one lock")
	p.text("An account holds 100, and two workers pay in 50 each, at the same time. Both run this:")
	p.code("payIn")
	p.text(`hasRead waits until the other worker has read, too: timing that is bad luck elsewhere is certain here.
		First each runs it in a transaction of its own, without a lock.`)
	p.space()
	balance, err := s.payInTwice(ctx, p, limit, (*worker).payInUnlocked)
	if err != nil {
		return err
	}
	if balance != 150 {
		return fmt.Errorf("without a lock the account should hold 150, it holds %d", balance)
	}
	p.show("The account holds %d.", balance)
	p.space()
	p.text(`It should be 200: one payment is lost. No error was returned, and the transactions were no help, since both
		read before either had committed. Now the same, each with the account's lock:`)
	p.code("payInLocked")
	if balance, err = s.payInTwice(ctx, p, inVain, (*worker).payInLocked); err != nil {
		return err
	}
	if balance != 200 {
		return fmt.Errorf("with the lock the account should hold 200, it holds %d", balance)
	}
	p.show("The account holds %d.", balance)
	p.space()
	p.text(`Do made one worker wait until the other had committed, and so it read what the other had written. (The other's
		hasRead waited for it in vain, and gave up.)`)
	return nil
}

// workers connects two workers. The caller must close their pools.
func (s *stage) workers(ctx context.Context) (a, b *worker, err error) {
	a, b = &worker{name: "worker A"}, &worker{name: "worker B"}
	if a.db, err = s.connect(ctx, a.name); err != nil {
		return nil, nil, err
	}
	if b.db, err = s.connect(ctx, b.name); err != nil {
		return nil, nil, errors.Join(err, a.db.Close())
	}
	return a, b, nil
}

// payInTwice has two workers pay into a new account, and returns what it then
// holds.
func (s *stage) payInTwice(ctx context.Context, p *page, patience time.Duration, payIn func(*worker, context.Context) error) (balance int, err error) {
	if _, err := s.observer.ExecContext(ctx, "CREATE TABLE account (balance int); INSERT INTO account VALUES (100)"); err != nil {
		return 0, err
	}
	a, b, err := s.workers(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, a.db.Close(), b.db.Close()) }()
	trace, meeting := newTrace(), newMeeting(2, patience)
	results := make(chan error, 2)
	for _, w := range []*worker{a, b} {
		w.trace, w.meeting = trace, meeting
		go func() { results <- payIn(w, ctx) }()
	}
	if err := errors.Join(<-results, <-results); err != nil {
		return 0, err
	}
	trace.write(p)
	if err := s.observer.QueryRowContext(ctx, "SELECT balance FROM account").Scan(&balance); err != nil {
		return 0, err
	}
	_, err = s.observer.ExecContext(ctx, "DROP TABLE account")
	return balance, err
}

func showSkip(ctx context.Context, p *page, s *stage) (err error) {
	p.space()
	p.text("A job that one worker does for all need not wait: if somebody has the lock, TryDo does nothing, and says so.")
	p.code("tryReport")
	a, b, err := s.workers(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.db.Close(), b.db.Close()) }()
	trace := newTrace()
	a.trace, b.trace = trace, trace
	b.busy = func() error { return errors.New("both workers are at the report") }
	a.busy = func() error {
		asked := time.Now()
		err := b.tryReport(ctx)
		trace.add("%s ran = %t, answered after %s", b.name, b.ran, since(asked))
		return err
	}
	if err := a.tryReport(ctx); err != nil {
		return err
	}
	trace.add("%s ran = %t", a.name, a.ran)
	if !a.ran || b.ran {
		return fmt.Errorf("one worker should have written the report: A did: %t, B did: %t", a.ran, b.ran)
	}
	trace.write(p)
	return nil
}
