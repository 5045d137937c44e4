package sandbox

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

func callNumbers() machine {
	return machine{calls: map[string]uint32{
		"io_uring_setup": unix.SYS_IO_URING_SETUP, "io_uring_enter": unix.SYS_IO_URING_ENTER,
		"io_uring_register": unix.SYS_IO_URING_REGISTER,
		"add_key":           unix.SYS_ADD_KEY, "request_key": unix.SYS_REQUEST_KEY, "keyctl": unix.SYS_KEYCTL,
		"ioctl": unix.SYS_IOCTL, "socket": unix.SYS_SOCKET, "socketpair": unix.SYS_SOCKETPAIR,
		"prlimit64": unix.SYS_PRLIMIT64, "truncate": unix.SYS_TRUNCATE, "openat": unix.SYS_OPENAT, "openat2": unix.SYS_OPENAT2,
		"unshare": unix.SYS_UNSHARE, "clone": unix.SYS_CLONE, "clone3": unix.SYS_CLONE3, "setns": unix.SYS_SETNS,
		"fchmod": unix.SYS_FCHMOD, "fchmodat": unix.SYS_FCHMODAT, "fchmodat2": unix.SYS_FCHMODAT2, "mknodat": unix.SYS_MKNODAT,
	}}
}

// install puts the filter on the calling thread; an exec takes it along.
func (f filter) install() error {
	m, ok := filters()
	if !ok {
		return errors.New("no system call filter for " + runtime.GOARCH)
	}
	program := f.assemble(m)
	prog := struct {
		len    uint16
		filter *instruction
	}{uint16(len(program)), &program[0]}
	_, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(program)
	if e != 0 {
		return fmt.Errorf("system call filter: %w", e)
	}
	return nil
}

// dropPrivileges takes every capability from the calling thread, for good: also from what it execs
// as root. It needs no privilege itself; without any there is nothing to lose but what a program
// with capabilities of its own would give, and no_new_privs stops that.
func dropPrivileges() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	for c := uintptr(0); c < 64; c++ {
		_ = unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0) // EINVAL past the last one, EPERM where there is nothing to drop
	}
	// keep_caps, no_setuid_fixup, noroot, each locked: uid 0 is then a user like any other
	_ = unix.Prctl(unix.PR_SET_SECUREBITS, secureNoRoot, 0, 0, 0)
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("ambient capabilities: %w", err)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fmt.Errorf("capabilities: %w", err)
	}
	return nil
}

// secureNoRoot: SECBIT_NOROOT, SECBIT_NO_SETUID_FIXUP, SECBIT_NO_CAP_AMBIENT_RAISE and their locks.
const secureNoRoot = 1 | 2 | 4 | 8 | 64 | 128
