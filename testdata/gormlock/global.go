package gormlock

import (
	"gorm.io/gorm"

	"github.com/pgadvisory/pgadvisory/testdata/gormlock/conn"
)

var local *gorm.DB

func setLocal(dialector gorm.Dialector) (err error) {
	local, err = gorm.Open(dialector)
	return err
}

func onGlobals() error {
	if err := local.Exec("SELECT pg_advisory_lock(1)").Error; err != nil { // want `poollock`
		return err
	}
	return conn.DB.Exec("SELECT pg_advisory_lock(1)").Error // want `on the pool conn.DB .*poollock`
}

type suite struct{ db *gorm.DB }

func newSuite(db *gorm.DB) *suite { return &suite{db} }

func start(dialector gorm.Dialector) (*suite, error) {
	db, err := gorm.Open(dialector)
	if err != nil {
		return nil, err
	}
	return newSuite(db.Debug()), nil
}

func (s *suite) lock() error {
	return s.db.Exec("SELECT pg_advisory_lock(1)").Error // want `on the pool s.db .*poollock`
}

type either struct{ db *gorm.DB }

func newEither(db *gorm.DB) *either { return &either{db} }

func startEither(db *gorm.DB) error {
	if err := newEither(local).lock(); err != nil { // want `poollock`
		return err
	}
	return db.Transaction(func(tx *gorm.DB) error { return newEither(tx).xact() })
}

func (e *either) lock() error { return e.db.Exec("SELECT pg_advisory_lock(1)").Error }

func (e *either) xact() error { return e.db.Exec("SELECT pg_advisory_xact_lock(1)").Error }
