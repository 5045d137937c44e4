package store

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Unsaved is what a person can do where sessions cannot be kept.
const Unsaved = "--no-save runs without it"

// room is what helps on a full disk.
const room = "make room, then try again (jig resume goes on with a run that broke off)"

// works is what there is to look at where nothing more is known.
const works = "see that it lies on a disk that works and locks files"

// advice says of an error of the database what is wrong and what a person can do, or else do instead.
func advice(err error, instead string) (what, todo string) {
	or := func(todo string) string {
		if instead == "" {
			return todo
		}
		return todo + "; " + instead
	}
	var newer *newerError
	var file *fs.PathError
	var e *sqlite.Error
	switch {
	case errors.As(err, &newer):
		return newer.Error(), or("update jig")
	case errors.Is(err, errForeign):
		return errForeign.Error(), or("move it away")
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "cannot be written: " + cause(err).Error(), room
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return "cannot be written: " + cause(err).Error(), or("see that it and its folder are yours and writable")
	case errors.As(err, &file):
		return "cannot be used: " + file.Path + ": " + oneLine(file.Err), or("see what lies there")
	case !errors.As(err, &e):
		return "cannot be used: " + oneLine(err), or(works)
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_FULL:
		return "cannot be written: no space left on the device", room
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return "is locked by another process for too long", or("find out what holds it (jig sessions prune, a backup)")
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return "is damaged", or("move it and the files beside it away (sqlite3 FILE .recover may save what is in it)")
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_AUTH:
		return "cannot be written", or("see that it and its folder are yours and writable")
	case sqlite3.SQLITE_IOERR:
		return "cannot be read or written (" + oneLine(err) + ")", or("see whether the disk is full or failing")
	}
	return "cannot be used: " + oneLine(err), or(works)
}

// isBusy says that another process writes.
func isBusy(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_BUSY
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
