package gormlock

import "gorm.io/gorm"

type cabin struct{ db *gorm.DB }

func openCabin(dialector gorm.Dialector) (*cabin, error) {
	db, err := gorm.Open(dialector)
	if err != nil {
		return nil, err
	}
	pool, err := db.DB()
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(1)
	return &cabin{db: db}, nil
}

func (c *cabin) lock() error {
	return c.db.Exec("SELECT pg_advisory_lock(1)").Error
}
