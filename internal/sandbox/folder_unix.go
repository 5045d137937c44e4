//go:build unix

package sandbox

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// holdFolder makes a folder and those above it, and leaves it open. It goes down from the top and follows no link, so
// that nothing is made elsewhere when a name on the way is replaced meanwhile.
func holdFolder(real string, perm uint32) (*os.File, error) {
	at, err := walk(real, perm)
	if err != nil {
		return nil, &os.PathError{Op: "mkdir", Path: real, Err: err}
	}
	return os.NewFile(uintptr(at), real), nil
}

// walk goes down to a folder, making what is missing, and leaves it open.
func walk(real string, perm uint32) (int, error) {
	at, err := unix.Open("/", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	for name := range strings.SplitSeq(filepath.Clean(real), "/") {
		if name == "" {
			continue
		}
		next, err := openFolderAt(at, name)
		if errors.Is(err, unix.ENOENT) {
			if err = unix.Mkdirat(at, name, perm); err == nil || errors.Is(err, unix.EEXIST) {
				next, err = openFolderAt(at, name)
			}
		}
		_ = unix.Close(at)
		if err != nil {
			return -1, err
		}
		at = next
	}
	return at, nil
}

// readSmall reads a regular file of at most 64 KiB. What a command may have put there instead, a
// pipe that nobody writes or a link to a device without an end, holds nothing up.
func readSmall(path string) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	f := os.NewFile(uintptr(fd), path)
	defer func() { _ = f.Close() }()
	if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() || fi.Size() > smallFile {
		return nil, &os.PathError{Op: "read", Path: path, Err: unix.EINVAL}
	}
	return io.ReadAll(io.LimitReader(f, smallFile))
}

// makeFile makes a file that is missing in a folder that is known by its real path.
func makeFile(real, name, text string) error {
	dir, err := walk(real, 0o755)
	if err != nil {
		return &os.PathError{Op: "open", Path: real, Err: err}
	}
	defer func() { _ = unix.Close(dir) }()
	fd, err := unix.Openat(dir, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o644)
	if errors.Is(err, unix.EEXIST) {
		return nil
	}
	if err != nil {
		return &os.PathError{Op: "create", Path: filepath.Join(real, name), Err: err}
	}
	defer func() { _ = unix.Close(fd) }()
	_, err = unix.Write(fd, []byte(text))
	return err
}
