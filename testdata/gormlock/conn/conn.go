// Package conn has the program's database in a variable.
package conn

import "gorm.io/gorm"

// DB is set at start.
var DB *gorm.DB

// Open sets DB.
func Open(dialector gorm.Dialector) (err error) {
	DB, err = gorm.Open(dialector)
	return err
}
