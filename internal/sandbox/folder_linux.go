package sandbox

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// openFolderAt opens a folder to go on from; one that may be entered but not read will do.
func openFolderAt(dir int, name string) (int, error) {
	return unix.Openat(dir, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
}

// openReal opens a real path as a place, not to read or write. A path that leads through a link by
// now is refused: it was real when it was resolved.
func openReal(path string) (int, error) {
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS})
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) { // some filters say the latter of what they do not know
		return openCompared(path)
	}
	return fd, err
}

// openCompared is openReal for kernels before 5.6, and where a sandbox around this one has no
// openat2: what was opened must be called as it was asked for.
func openCompared(path string) (int, error) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	var st unix.Stat_t
	err = unix.Fstat(fd, &st)
	called, err2 := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
	if err != nil || err2 != nil || called != path || st.Mode&unix.S_IFMT == unix.S_IFLNK {
		_ = unix.Close(fd)
		return -1, unix.ELOOP
	}
	return fd, nil
}
