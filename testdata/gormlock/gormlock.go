// Package gormlock takes locks through gorm, whose one type is a pool, a
// connection or a transaction.
package gormlock

import (
	"context"
	"errors"

	"gorm.io/gorm"
)

var errFull = errors.New("full")

func open(dialector gorm.Dialector) (*hotel, error) {
	db, err := gorm.Open(dialector, &gorm.Config{})
	if err != nil {
		return nil, err
	}
	return &hotel{db: db}, nil
}

type hotel struct{ db *gorm.DB }

func (h *hotel) onPool(ctx context.Context) error {
	if err := h.db.Exec("SELECT pg_advisory_lock(?)", 1).Error; err != nil { // want `on the pool h.db .*h.db.Connection\(.*poollock`
		return err
	}
	return h.db.WithContext(ctx).Exec("SELECT pg_advisory_unlock(?)", 1).Error // want `on the pool h.db .*poolunlock`
}

func (h *hotel) chained(ctx context.Context) (ok bool, err error) {
	err = h.db.WithContext(ctx).Raw("SELECT pg_try_advisory_lock(?)", 1).Scan(&ok).Error // want `poollock`
	return ok, err
}

func (h *hotel) transactionLevel(room int64) error {
	if err := h.db.Exec("SELECT pg_advisory_xact_lock(?)", room).Error; err != nil { // want `autocommit`
		return err
	}
	return h.db.Exec("UPDATE rooms SET taken = true WHERE id = ?", room).Error
}

func (h *hotel) sessionInTransaction(room int64) error {
	return h.db.Transaction(func(tx *gorm.DB) error {
		return tx.Exec("SELECT pg_advisory_lock(?)", room).Error // want `sessionintx`
	})
}

func (h *hotel) sessionInBegun(room int64) error {
	tx := h.db.Begin()
	defer tx.Rollback()
	if err := tx.Exec("SELECT pg_advisory_lock(?)", room).Error; err != nil { // want `sessionintx`
		return err
	}
	return tx.Commit().Error
}

func (h *hotel) unsentUnlock(clean func() error) error {
	return h.db.Connection(func(c *gorm.DB) error {
		if err := c.Exec("SELECT pg_advisory_lock(1)").Error; err != nil { // want `never sent: Raw only builds it.*lostunlock`
			return err
		}
		defer c.Raw("SELECT pg_advisory_unlock(1)")
		return clean()
	})
}

func (h *hotel) lostOnConnection(clean func() error) error {
	return h.db.Connection(func(c *gorm.DB) error {
		if err := c.Exec("SELECT pg_advisory_lock(1)").Error; err != nil { // want `lostunlock`
			return err
		}
		if err := clean(); err != nil {
			return err
		}
		return c.Exec("SELECT pg_advisory_unlock(1)").Error
	})
}

func (h *hotel) ignored(room int64) error {
	return h.db.Transaction(func(tx *gorm.DB) error {
		if err := tx.Exec("SELECT pg_try_advisory_xact_lock(?)", room).Error; err != nil { // want `read it with Raw\(…\).Scan .ignoredtry`
			return err
		}
		return tx.Exec("UPDATE rooms SET taken = true WHERE id = ?", room).Error
	})
}

// a handle of unknown origin, from which a transaction was begun around it.
type annex struct{ db *gorm.DB }

func (a *annex) outer(room int64) error {
	return a.db.Transaction(func(tx *gorm.DB) error {
		if err := a.db.Exec("SELECT pg_advisory_xact_lock(?)", room).Error; err != nil { // want `autocommit`
			return err
		}
		return tx.Exec("UPDATE rooms SET taken = true WHERE id = ?", room).Error
	})
}

// helpers.

func lock(db *gorm.DB, room int64) error {
	return db.Exec("SELECT pg_advisory_xact_lock(?)", room).Error
}

func (h *hotel) callsHelper(room int64) error {
	if err := lock(h.db, room); err != nil { // want `run by lock, on h.db is outside .*autocommit`
		return err
	}
	return h.db.Transaction(func(tx *gorm.DB) error { return lock(tx, room) })
}

// right.

func (h *hotel) book(room int64) error {
	return h.db.Transaction(func(tx *gorm.DB) error {
		if err := tx.Exec("SELECT pg_advisory_xact_lock(?)", room).Error; err != nil {
			return err
		}
		return tx.Exec("UPDATE rooms SET taken = true WHERE id = ?", room).Error
	})
}

func (h *hotel) try(room int64) error {
	return h.db.Transaction(func(tx *gorm.DB) error {
		var ok bool
		if err := tx.Raw("SELECT pg_try_advisory_xact_lock(?)", room).Scan(&ok).Error; err != nil {
			return err
		}
		if !ok {
			return errFull
		}
		return tx.Exec("UPDATE rooms SET taken = true WHERE id = ?", room).Error
	})
}

func (h *hotel) tryRow(room int64) (ok bool, err error) {
	tx := h.db.Begin()
	defer tx.Commit()
	err = tx.Raw("SELECT pg_try_advisory_xact_lock(?)", room).Row().Scan(&ok)
	return ok, err
}

func (h *hotel) onConnection(ctx context.Context, clean func() error) error {
	return h.db.WithContext(ctx).Connection(func(c *gorm.DB) error {
		if err := c.Exec("SELECT pg_advisory_lock(1)").Error; err != nil {
			return err
		}
		defer c.WithContext(context.WithoutCancel(ctx)).Exec("SELECT pg_advisory_unlock(1)")
		return clean()
	})
}

func (h *hotel) sized() error {
	pool, err := h.db.DB()
	if err != nil {
		return err
	}
	pool.SetMaxIdleConns(2)
	return nil
}

// a parameter may be anything, if nobody in reach says what.
func onParameter(db *gorm.DB) error {
	if err := db.Exec("SELECT pg_advisory_lock(1)").Error; err != nil {
		return err
	}
	return db.Exec("SELECT pg_advisory_xact_lock(1)").Error
}

type repository struct{ db *gorm.DB }

// NewRepository may be given a transaction.
func NewRepository(db *gorm.DB) *repository { return &repository{db} }

func (r *repository) Lock(room int64) error {
	return r.db.Exec("SELECT pg_advisory_xact_lock(?)", room).Error
}

func scope(room int64) func(*gorm.DB) *gorm.DB {
	return func(db *gorm.DB) *gorm.DB {
		return db.Exec("SELECT pg_advisory_xact_lock(?)", room)
	}
}

func dry(db *gorm.DB) string {
	return db.ToSQL(func(tx *gorm.DB) *gorm.DB { return tx.Exec("SELECT pg_advisory_lock(1)") })
}

// database/sql's pool underneath has methods of its own.
func (h *hotel) underneath(ctx context.Context) error {
	pool, err := h.db.DB()
	if err != nil {
		return err
	}
	_, err = pool.ExecContext(ctx, "SELECT pg_advisory_lock(1)") // want `pin one connection with pool.Conn\(ctx\) .*poollock`
	return err
}
