//go:build linux || darwin

package code

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// single says whether a file has one name only.
func single(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Nlink == 1
}

// keep gives a new file the owner, mode and extended attributes (access lists and labels are such)
// of an old one. An error means that something would be lost.
func keep(f, old *os.File) error {
	was, err := old.Stat()
	if err != nil {
		return err
	}
	is, err := f.Stat()
	if err != nil {
		return err
	}
	a, ok := was.Sys().(*syscall.Stat_t)
	b, ok2 := is.Sys().(*syscall.Stat_t)
	if !ok || !ok2 {
		return errors.ErrUnsupported
	}
	if a.Uid != b.Uid || a.Gid != b.Gid {
		if err := f.Chown(int(a.Uid), int(a.Gid)); err != nil {
			return err
		}
	}
	if err := f.Chmod(was.Mode()); err != nil { // after chown, which takes setuid away
		return err
	}
	return keepAttributes(int(f.Fd()), int(old.Fd()))
}

func keepAttributes(to, from int) error {
	list, err := attributes(from)
	if err != nil {
		return err
	}
	for _, name := range list {
		want, err := attribute(from, name)
		if err != nil {
			return err
		}
		if have, err := attribute(to, name); err == nil && bytes.Equal(have, want) {
			continue // labels are often set when a file is made, and may not be set later
		}
		if err := unix.Fsetxattr(to, name, want, 0); err != nil {
			return err
		}
	}
	return nil
}

func attributes(fd int) ([]string, error) {
	buf := make([]byte, 64<<10)
	n, err := unix.Flistxattr(fd, buf)
	if errors.Is(err, unix.ENOTSUP) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return strings.FieldsFunc(string(buf[:n]), func(r rune) bool { return r == 0 }), nil
}

func attribute(fd int, name string) ([]byte, error) {
	buf := make([]byte, 64<<10)
	n, err := unix.Fgetxattr(fd, name, buf)
	if err != nil {
		return nil, err
	}
	return buf[:n], nil
}

// lock makes writers take turns in a directory, those of other processes too, and returns what ends
// the turn. It is only advice: where locks are not to be had, or somebody keeps one for longer than
// patience, the write goes on without; the checks right before it are what guards the file.
func lock(ctx context.Context, dir *os.File) (unlock func()) {
	for end := time.Now().Add(patience); ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
		err := unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil || !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) || time.Now().After(end) {
			break
		}
	}
	return func() { _ = dir.Close() }
}
