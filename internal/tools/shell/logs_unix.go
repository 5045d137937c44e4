//go:build unix

package shell

import (
	"errors"
	"os"
	"syscall"
)

// own fails for a folder that is somebody else's.
func own(f *os.File) error {
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	if st, ok := fi.Sys().(*syscall.Stat_t); ok && int(st.Uid) == os.Geteuid() {
		return nil
	}
	return &os.PathError{Op: "open", Path: f.Name(), Err: errors.New("it belongs to another user")}
}

// removed reports whether a folder that is held has no name any more.
func removed(f *os.File) bool {
	fi, err := f.Stat()
	if err != nil {
		return true
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && st.Nlink == 0
}

// alone reports whether no other session uses the folder; it takes it for this one.
func alone(f *os.File) bool {
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
		return true
	}
	shareFolder(f)
	return false
}

func shareFolder(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) }
