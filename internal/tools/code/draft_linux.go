package code

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// nameless creates a file that has no name in the directory whose file system it is on.
func nameless(dir *os.Root, mode os.FileMode) (*os.File, error) {
	// The flag opens a directory, and the root of an os.Root may be opened with it like any other.
	return dir.OpenFile(".", os.O_WRONLY|unix.O_TMPFILE, mode)
}

// christen gives a file made by nameless a name that must be free.
func christen(f *os.File, dir *os.Root, name string) error {
	d, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	from := "/proc/self/fd/" + strconv.Itoa(int(f.Fd()))
	if err := unix.Linkat(unix.AT_FDCWD, from, int(d.Fd()), name, unix.AT_SYMLINK_FOLLOW); err != nil {
		return &os.LinkError{Op: "link", Old: from, New: name, Err: err}
	}
	return nil
}
