// Package pool opens pools, and says nothing of locks.
package pool

import "database/sql"

// One opens a pool of one connection.
func One(dsn string) (*sql.DB, error) {
	db, err := sql.Open("postgres", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

// Many opens a pool.
func Many(dsn string) (*sql.DB, error) { return sql.Open("postgres", dsn) }
