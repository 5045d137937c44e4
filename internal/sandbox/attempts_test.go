//go:build linux

package sandbox

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// attemptMain runs a function of the tables and prints what it found.
func attemptMain(args []string) int {
	all := fileFunctions()
	maps.Copy(all, mountFunctions())
	maps.Copy(all, processFunctions())
	maps.Copy(all, socketFunctions())
	maps.Copy(all, systemFunctions())
	maps.Copy(all, pairFunctions())
	f, ok := all[args[0]]
	if !ok {
		fmt.Println("no attempt called", args[0])
		return 2
	}
	if err := f(args[1:]); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

type functions = map[string]func([]string) error

// fileFunctions are the attempts on files that no shell line makes.
func fileFunctions() functions {
	return functions{
		"create": func(a []string) error { return os.WriteFile(a[0], []byte("changed"), 0o644) },
		"create-at": func(a []string) error {
			dir, err := unix.Open(a[0], unix.O_PATH|unix.O_DIRECTORY, 0)
			if err != nil {
				return err
			}
			_, err = unix.Openat(dir, a[1], unix.O_CREAT|unix.O_WRONLY, 0o644)
			return err
		},
		"map": func(a []string) error {
			f, err := os.OpenFile(a[0], os.O_RDWR, 0)
			if err != nil {
				return err
			}
			m, err := unix.Mmap(int(f.Fd()), 0, 4, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
			if err != nil {
				return err
			}
			copy(m, "XXXX")
			return unix.Msync(m, unix.MS_SYNC)
		},
		"reopen": func(a []string) error {
			f, err := os.Open(a[0])
			if err != nil {
				return err
			}
			return os.WriteFile(fmt.Sprintf("/proc/self/fd/%d", f.Fd()), []byte("changed"), 0)
		},
		"truncate": func(a []string) error { return os.Truncate(a[0], 0) },
		"open-truncate": func(a []string) error {
			_, err := unix.Open(a[0], unix.O_RDONLY|unix.O_TRUNC, 0)
			_, err3 := unix.Open(a[0], 3|unix.O_TRUNC, 0)
			_, err2 := unix.Openat2(unix.AT_FDCWD, a[0], &unix.OpenHow{Flags: unix.O_RDONLY | unix.O_TRUNC})
			return errors.Join(err, err2, err3)
		},
		"allocate": func(a []string) error {
			fd, err := unix.Open(a[0], unix.O_WRONLY, 0)
			if err != nil {
				return err
			}
			return unix.Fallocate(fd, 0, 0, 1<<20)
		},
		"listen": func(a []string) error {
			l, err := net.Listen("unix", a[0])
			if err == nil {
				l.(*net.UnixListener).SetUnlinkOnClose(false)
			}
			return err
		},
		"unnamed": func(a []string) error {
			fd, err := unix.Open(a[0], unix.O_TMPFILE|unix.O_WRONLY, 0o644)
			if err != nil {
				return err
			}
			return unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), unix.AT_FDCWD, filepath.Join(a[0], a[1]), unix.AT_SYMLINK_FOLLOW)
		},
		"link-descriptor": func(a []string) error {
			fd, err := unix.Open(a[0], unix.O_PATH, 0)
			if err != nil {
				return err
			}
			err = unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), unix.AT_FDCWD, a[1], unix.AT_SYMLINK_FOLLOW)
			if err != nil {
				return err
			}
			return os.WriteFile(a[1], []byte("changed"), 0o644)
		},
		"rename": func(a []string) error { return os.Rename(a[0], a[1]) },
		"swap": func(a []string) error {
			return unix.Renameat2(unix.AT_FDCWD, a[0], unix.AT_FDCWD, a[1], unix.RENAME_EXCHANGE)
		},
		"chmod-descriptor": func(a []string) error {
			f, err := os.Open(a[0])
			if err != nil {
				return err
			}
			return f.Chmod(0o777)
		},
		"attribute": func(a []string) error { return unix.Setxattr(a[0], "user.jig", []byte("x"), 0) },
		"pipe": func(a []string) error {
			fd, err := unix.Open(a[0], unix.O_WRONLY|unix.O_NONBLOCK, 0)
			if err != nil {
				return err
			}
			_, err = unix.Write(fd, []byte("changed"))
			return err
		},
	}
}
