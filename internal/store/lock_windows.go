package store

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lock takes a file's lock if nobody has it. It ends with the file, or the process. A byte far behind
// the text is locked: what is locked cannot be read by others there.
func lock(f *os.File) (bool, error) {
	at := &windows.Overlapped{OffsetHigh: 1}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}
