//go:build unix

package store_test

import (
	"database/sql"
	"syscall"
	"time"

	_ "modernc.org/sqlite"
)

var zero time.Time

func umask(mask int) int { return syscall.Umask(mask) }

// exec changes a database file behind the store's back.
func exec(path, statement string) error {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.Exec(statement)
	return err
}
