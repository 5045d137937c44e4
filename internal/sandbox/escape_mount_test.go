//go:build linux

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// mountAttempts try to change the view of the file system so that the outside becomes writable. As
// root they are tried as they are, and for everybody in a user namespace of their own, where a
// command has every capability again. What a mount in such a namespace changes nobody outside
// sees, so each goes on to write a file.
func mountAttempts() []attempt {
	made := thereIs("out", "new")
	both := []attempt{
		{name: "remount", run: []string{"mounting", "remount", "$OUT"}},
		{name: "bind over a writable place", run: []string{"mounting", "bind", "$OUT", "$ROOT"}},
		{name: "clear read-only by the new calls", run: []string{"mounting", "clear", "$OUT"}},
		{name: "another root", run: []string{"mounting", "chroot", "$OUT", "$ROOT"}},
	}
	var out []attempt
	for _, a := range both {
		a.danger, a.done = "mount", made
		inNamespace := a
		inNamespace.name += " in a user namespace"
		inNamespace.run = append([]string{"in-namespace"}, a.run...)
		a.rootOnly = true
		out = append(out, a, inNamespace)
	}
	return append(out, attempt{name: "make a device and use it", danger: "devices", rootOnly: true,
		run: []string{"sh", "mknod zero c 1 5 && head -c 1 zero | od -An -tx1"}, done: says(" 00")})
}

func mountFunctions() functions {
	return functions{
		"in-namespace": func(a []string) error {
			self, err := os.Executable()
			if err != nil {
				return err
			}
			run := func(attr syscall.SysProcAttr) error {
				c := exec.Command(self, append([]string{"attempt"}, a...)...)
				attr.Cloneflags = syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS
				c.SysProcAttr, c.Stdout, c.Stderr = &attr, os.Stdout, os.Stdout
				return c.Run()
			}
			err = run(syscall.SysProcAttr{
				UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
				GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
			})
			if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) {
				// nobody's number is mapped, but the capabilities are there: enough for the attempts
				err = run(syscall.SysProcAttr{AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SYS_CHROOT}})
			}
			return err
		},
		"mounting": func(a []string) error {
			// never in the machine's own mount namespace, which the attempt outside would change
			runtime.LockOSThread()
			if unix.Unshare(unix.CLONE_NEWNS) == nil {
				_ = unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
			}
			out := a[1]
			what := func() error {
				switch a[0] {
				case "remount":
					return unix.Mount("", "/", "", unix.MS_REMOUNT|unix.MS_BIND, "")
				case "bind":
					if err := unix.Mount(out, a[2], "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
						return err
					}
					out = a[2]
					return nil
				case "clear":
					fd, err := unix.OpenTree(unix.AT_FDCWD, out, unix.OPEN_TREE_CLONE)
					if err != nil {
						return err
					}
					err = unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY})
					if err != nil {
						return err
					}
					out = fmt.Sprintf("/proc/self/fd/%d", fd)
					return nil
				case "chroot":
					dir, err := os.Open("/")
					if err != nil {
						return err
					}
					if err := unix.Chroot(a[2]); err != nil {
						return err
					}
					if err := dir.Chdir(); err != nil {
						return err
					}
					out = "." + out
					return nil
				}
				return fmt.Errorf("%s is not known", a[0])
			}
			if err := what(); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(out, "new"), nil, 0o644)
		},
	}
}
