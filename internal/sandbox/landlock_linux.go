package sandbox

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// landlockVersion is what the kernel offers; 0: nothing.
func landlockVersion() int {
	n, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if e != 0 {
		return 0
	}
	return int(n)
}

// What changes something in the file system. Reading is not handled: everything may be read, and
// rules for it would only cost.
const (
	writeFile = unix.LANDLOCK_ACCESS_FS_WRITE_FILE
	writeDir  = unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
		unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM
)

// handled is what a kernel of that version can refuse. In the first one a file never moves between
// folders at all, so leaving refer out makes nothing weaker.
func handled(version int) uint64 {
	rights := uint64(writeFile | writeDir)
	if version >= 2 {
		rights |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if version >= 3 {
		rights |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if version >= 5 {
		rights |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	return rights
}

// scoped keeps signals and abstract unix sockets inside; the kernel can from the sixth version on.
func scoped(version int) uint64 {
	if version < 6 {
		return 0
	}
	return unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
}

// rules is one Landlock domain.
type rules struct {
	version int
	files   bool     // whether writes are confined; else the domain only scopes
	write   []string // folders and files that may be written, by their real paths; what is missing is left out
	devices []string // device files and folders of them
}

// restrict puts the calling thread, and what it execs, into a domain. One thread, then an exec:
// restricting every thread of a running program would give each, and so each command, a domain of
// its own, and commands of one session could not signal or trace one another.
func (r rules) restrict() error {
	attr := struct{ files, network, scoped uint64 }{scoped: scoped(r.version)}
	if r.files {
		attr.files = handled(r.version)
	}
	if attr.files == 0 && attr.scoped == 0 {
		return nil
	}
	size := unsafe.Sizeof(attr)
	if r.version < 4 { // the kernel refuses fields it does not know, also when they are zero
		size = unsafe.Sizeof(attr.files)
	} else if r.version < 6 {
		size = unsafe.Sizeof(attr.files) * 2
	}
	fd, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if e != 0 {
		return fmt.Errorf("landlock ruleset: %w", e)
	}
	defer func() { _ = unix.Close(int(fd)) }()
	if r.files {
		for _, path := range r.write {
			if err := addRule(int(fd), path, attr.files); err != nil {
				return err
			}
		}
		for _, path := range r.devices {
			if err := addRule(int(fd), path, attr.files&(writeFile|unix.LANDLOCK_ACCESS_FS_TRUNCATE|unix.LANDLOCK_ACCESS_FS_IOCTL_DEV)); err != nil {
				return err
			}
		}
	}
	if _, _, e := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); e != 0 {
		return fmt.Errorf("landlock: %w", e)
	}
	return nil
}

// addRule allows rights below path. A file takes only the rights that make sense for one. What is
// missing, or a link by now, gets no rule.
func addRule(ruleset int, path string, rights uint64) error {
	fd, err := openReal(path)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.ELOOP) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("landlock rule for %s: %w", path, err)
	}
	defer func() { _ = unix.Close(fd) }()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("landlock rule for %s: %w", path, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= writeFile | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	var rule [12]byte // struct landlock_path_beneath_attr is packed: 8 bytes of rights, 4 of descriptor
	*(*uint64)(unsafe.Pointer(&rule[0])) = rights
	*(*int32)(unsafe.Pointer(&rule[8])) = int32(fd)
	if _, _, e := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&rule[0])), 0, 0, 0); e != 0 {
		return fmt.Errorf("landlock rule for %s: %w", path, e)
	}
	return nil
}
