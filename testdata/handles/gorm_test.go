package handles_test

import (
	"context"
	"database/sql"
	"testing"

	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/pgadvisory/pgadvisory/advisory"
)

type gormNote struct {
	ID   int64
	Text string
}

func (gormNote) TableName() string { return "note" }

// snippet gorm: the *sql.Tx under its transaction

// sqlTx returns the *sql.Tx under a transaction of gorm, and nil outside of one.
func sqlTx(tx *gorm.DB) *sql.Tx {
	pool := tx.Statement.ConnPool
	for p, ok := pool.(*gorm.PreparedStmtTX); ok; p, ok = pool.(*gorm.PreparedStmtTX) { // with PrepareStmt
		pool = p.Tx
	}
	under, _ := pool.(*sql.Tx)
	return under
}

// end

func TestGorm(t *testing.T) {
	for _, config := range []struct {
		name string
		gorm gorm.Config
	}{
		{"", gorm.Config{}},
		{"PrepareStmt", gorm.Config{PrepareStmt: true}},
		{"SkipDefaultTransaction", gorm.Config{SkipDefaultTransaction: true}},
	} {
		t.Run("Lock"+config.name, func(t *testing.T) {
			prove(t, func(ctx context.Context, pool *sql.DB, key advisory.Key, text string, inside func(int) error) error {
				db, err := openGorm(pool, config.gorm)
				if err != nil {
					return err
				}
				work := func(tx *gorm.DB) error { return gormWork(tx, text, inside) }
				// snippet gorm: Lock in its transaction
				err = db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
					if err := advisory.Lock(ctx, sqlTx(tx), key); err != nil {
						return err
					}
					return work(tx)
				})
				// end
				return err
			})
		})
		t.Run("Do"+config.name, func(t *testing.T) {
			prove(t, func(ctx context.Context, pool *sql.DB, key advisory.Key, text string, inside func(int) error) error {
				db, err := openGorm(pool, config.gorm)
				if err != nil {
					return err
				}
				sqlDB, err := db.DB()
				if err != nil {
					return err
				}
				work := func(tx *gorm.DB) error { return gormWork(tx, text, inside) }
				// snippet gorm: it works in the transaction of Do
				err = advisory.Do(ctx, sqlDB, key, func(ctx context.Context, tx *sql.Tx) error { // sqlDB, err := db.DB()
					on := db.WithContext(ctx) // a copy: db itself stays on the pool
					on.Statement.ConnPool = tx
					return work(on)
				})
				// end
				if err != nil {
					return err
				}
				// On the transaction, which has ended, this would fail.
				return db.WithContext(ctx).First(&gormNote{}, "text = ?", text).Error
			})
		})
	}
}

// A session with PrepareStmt in a transaction with PrepareStmt is wrapped twice.
func TestGormPreparedTwice(t *testing.T) {
	prove(t, func(ctx context.Context, pool *sql.DB, key advisory.Key, text string, inside func(int) error) error {
		db, err := openGorm(pool, gorm.Config{PrepareStmt: true})
		if err != nil {
			return err
		}
		return db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
			tx = tx.Session(&gorm.Session{PrepareStmt: true})
			if err := advisory.Lock(ctx, sqlTx(tx), key); err != nil {
				return err
			}
			return gormWork(tx, text, inside)
		})
	})
}

// Begin and Commit by hand, and a nested transaction, which is a savepoint: both are in the one *sql.Tx.
func TestGormBegin(t *testing.T) {
	prove(t, func(ctx context.Context, pool *sql.DB, key advisory.Key, text string, inside func(int) error) error {
		db, err := openGorm(pool, gorm.Config{})
		if err != nil {
			return err
		}
		tx := db.WithContext(ctx).Begin()
		if tx.Error != nil {
			return tx.Error
		}
		defer tx.Rollback()
		if err := advisory.Lock(ctx, sqlTx(tx), key); err != nil {
			return err
		}
		err = tx.Transaction(func(nested *gorm.DB) error {
			if sqlTx(nested) != sqlTx(tx) {
				t.Error("a nested transaction has another *sql.Tx")
			}
			return gormWork(nested, text, inside)
		})
		if err != nil {
			return err
		}
		return tx.Commit().Error
	})
}

func TestGormOutsideOfTransaction(t *testing.T) {
	pool := server.Database(t).Open(t, "pgx")
	for _, prepare := range []bool{false, true} {
		db, err := openGorm(pool, gorm.Config{PrepareStmt: prepare})
		if err != nil {
			t.Fatal(err)
		}
		if tx := sqlTx(db); tx != nil {
			t.Errorf("PrepareStmt %v: a *sql.Tx outside of a transaction: %v", prepare, tx)
		}
		err = db.Connection(func(on *gorm.DB) error {
			if tx := sqlTx(on); tx != nil {
				t.Errorf("PrepareStmt %v: a *sql.Tx on a connection alone: %v", prepare, tx)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func openGorm(pool *sql.DB, config gorm.Config) (*gorm.DB, error) {
	config.Logger = logger.Discard
	return gorm.Open(postgres.New(postgres.Config{Conn: pool}), &config)
}

func gormWork(tx *gorm.DB, text string, inside func(int) error) error {
	if err := tx.Create(&gormNote{Text: text}).Error; err != nil {
		return err
	}
	var pid int
	if err := tx.Raw("SELECT pg_backend_pid()").Scan(&pid).Error; err != nil {
		return err
	}
	return inside(pid)
}
