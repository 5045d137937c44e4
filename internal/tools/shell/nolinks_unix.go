//go:build unix

package shell

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// openNoLinks opens what an absolute, clean path names, if no part of it is a symbolic link: it goes
// down by descriptors, so that nobody can put one there meanwhile.
func openNoLinks(path string, flags int, perm os.FileMode) (*os.File, error) {
	in, err := openFolder(filepath.Dir(path), false)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	return openIn(in, filepath.Base(path), flags, perm)
}

// openFolder holds the folder of an absolute, clean path, if no part of it is a symbolic link. It
// can make what is missing.
func openFolder(path string, create bool) (*os.File, error) {
	at, err := os.OpenFile("/", passFlags, 0)
	if err != nil {
		return nil, err
	}
	for name := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		if name == "" {
			break // the root itself
		}
		next, err := openIn(at, name, passFlags, 0)
		if create && errors.Is(err, unix.ENOENT) {
			next, err = subfolder(at, name, 0o700)
		}
		_ = at.Close()
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

// openIn opens what a folder that is held has under a name, if that is no symbolic link.
func openIn(in *os.File, name string, flags int, perm os.FileMode) (*os.File, error) {
	fd, err := unix.Openat(int(in.Fd()), name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, uint32(perm.Perm()))
	for errors.Is(err, unix.EINTR) {
		fd, err = unix.Openat(int(in.Fd()), name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, uint32(perm.Perm()))
	}
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: filepath.Join(in.Name(), name), Err: err}
	}
	return os.NewFile(uintptr(fd), filepath.Join(in.Name(), name)), nil
}

// subfolder makes or finds a folder in one that is held, and holds it for reading. Only one that it
// has made gets the mode, whatever the umask is.
func subfolder(in *os.File, name string, mode os.FileMode) (*os.File, error) {
	made := unix.Mkdirat(int(in.Fd()), name, uint32(mode.Perm()))
	f, err := openIn(in, name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	switch {
	case errors.Is(err, unix.ENOENT) && made != nil:
		return nil, &os.PathError{Op: "mkdir", Path: filepath.Join(in.Name(), name), Err: made}
	case err == nil && made == nil:
		_ = f.Chmod(mode)
	}
	return f, err
}
