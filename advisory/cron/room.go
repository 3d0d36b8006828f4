package cron

import (
	"context"
	"database/sql"
	"fmt"
	"sync"

	"github.com/pgadvisory/pgadvisory/advisory"
)

// A room counts the runs on one pool, so that they leave it one connection: each has one and for a moment wants another.
type room struct {
	users  int // those inside and those that wait
	inside int
	left   chan struct{} // closed when one leaves, and made anew
}

var (
	roomsMu sync.Mutex
	rooms   = make(map[*sql.DB]*room) // while there are users
)

// enter waits until there is room on db for one more run. The caller must leave.
func enter(ctx context.Context, db *sql.DB) (leave func(), err error) {
	roomsMu.Lock()
	defer roomsMu.Unlock()
	r := rooms[db]
	if r == nil {
		r = &room{left: make(chan struct{})}
		rooms[db] = r
	}
	r.users++
	for {
		// Asked each time, because it can be changed while this waits.
		most := db.Stats().MaxOpenConnections
		if most == 1 {
			r.quit(db)
			return nil, fmt.Errorf("%w: a run needs a second connection to record the tick: raise MaxOpenConns from 1", advisory.ErrPoolTooSmall)
		}
		if most <= 0 || r.inside < most-1 {
			r.inside++
			return func() {
				roomsMu.Lock()
				defer roomsMu.Unlock()
				r.inside--
				close(r.left)
				r.left = make(chan struct{})
				r.quit(db)
			}, nil
		}
		left := r.left
		roomsMu.Unlock()
		select {
		case <-left:
		case <-ctx.Done():
		}
		roomsMu.Lock()
		if err := ctx.Err(); err != nil {
			r.quit(db)
			return nil, err
		}
	}
}

func (r *room) quit(db *sql.DB) {
	if r.users--; r.users == 0 {
		delete(rooms, db)
	}
}
