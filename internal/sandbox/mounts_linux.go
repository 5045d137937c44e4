package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// The mounts of the namespaces tier, made inside the new namespaces by their first process. Landlock
// alone would do for writing, but only mounts can hide, and only a read-only mount refuses a change
// of mode, owner, time or attribute. Landlock forbids mounting, so this comes before it.

const recursive = unix.AT_RECURSIVE

// arrange builds the view that commands get.
func (o plan) arrange() error {
	// what the machine mounts later must not appear in here, writable
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("private mounts: %w", err)
	}
	// copies of what stays as it is, taken before all else becomes read-only
	write, err := cloneAll(o.Write, 0)
	if err != nil {
		return err
	}
	var copies []string
	copies = append(copies, o.Keep...)
	kept, err := cloneAll(copies, unix.MOUNT_ATTR_RDONLY)
	if err != nil {
		return err
	}
	guard, err := cloneAll(o.Guard, unix.MOUNT_ATTR_RDONLY)
	if err != nil {
		return err
	}
	shared, err := cloneAll(o.Shared, 0)
	if err != nil {
		return err
	}
	devices, err := cloneAll(deviceFiles, 0)
	if err != nil {
		return err
	}
	if !slices.Contains(o.Write, "/") {
		if err := set(unix.AT_FDCWD, "/", recursive, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV); err != nil {
			return fmt.Errorf("read-only mounts: %w", err)
		}
	}
	if err := mountProc(); err != nil {
		return err
	}
	if err := mountDev(devices); err != nil {
		return err
	}
	above := func(path string) bool {
		return !slices.ContainsFunc(o.Write, func(w string) bool { return w != "/" && within(w, path) })
	}
	for _, path := range o.Hide {
		if above(path) {
			if err := cover(path); err != nil {
				return err
			}
		}
	}
	if err := placeAll(o.Write, write); err != nil {
		return err
	}
	for _, path := range o.Hide {
		if !above(path) {
			if err := cover(path); err != nil {
				return err
			}
		}
	}
	if err := placeAll(copies, kept); err != nil {
		return err
	}
	for path, to := range o.Links {
		if err := os.Symlink(to, path); err != nil {
			return err
		}
	}
	if err := placeAll(o.Guard, guard); err != nil {
		return err
	}
	if err := placeAll(o.Shared, shared); err != nil {
		return err
	}
	return o.guardAgain()
}

// guardAgain makes read-only what lies inside a place that was opened again.
func (o plan) guardAgain() error {
	paths := o.guardedAgain()
	again, err := cloneAll(paths, unix.MOUNT_ATTR_RDONLY)
	if err != nil {
		return err
	}
	return placeAll(paths, again)
}

// set adds attributes to a mount; what is locked in this namespace can be tightened, never loosened.
func set(dir int, path string, flags uint, attr uint64) error {
	return unix.MountSetattr(dir, path, flags, &unix.MountAttr{Attr_set: attr})
}

// cloneAll takes detached copies of the mounts below each path.
func cloneAll(paths []string, attr uint64) ([]int, error) {
	var out []int
	for _, path := range paths {
		if path == "/" { // stays where it is
			out = append(out, -1)
			continue
		}
		at, err := openReal(path)
		if err != nil {
			return nil, fmt.Errorf("copy of the mounts at %s: %w", path, err)
		}
		fd, err := unix.OpenTree(at, "", unix.AT_EMPTY_PATH|unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|recursive)
		_ = unix.Close(at)
		if err != nil {
			return nil, fmt.Errorf("copy of the mounts at %s: %w", path, err)
		}
		if attr != 0 {
			if err := set(fd, "", unix.AT_EMPTY_PATH|recursive, attr); err != nil {
				return nil, fmt.Errorf("copy of the mounts at %s: %w", path, err)
			}
		}
		out = append(out, fd)
	}
	return out, nil
}

// placeAll puts the copies back at their paths, which are made where a hidden folder lacks them.
func placeAll(paths []string, copies []int) error {
	for i, path := range paths {
		if copies[i] < 0 {
			continue
		}
		if err := place(copies[i], path); err != nil {
			return err
		}
	}
	return nil
}

func place(fd int, path string) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("mount at %s: %w", path, err)
	}
	if !exists(path) { // what is wrong shows when it is opened
		if st.Mode&unix.S_IFMT == unix.S_IFDIR {
			_ = makeFolder(path, 0o755)
		} else {
			_ = makeFile(filepath.Dir(path), filepath.Base(path), "")
		}
	}
	at, err := openReal(path)
	if err != nil {
		return fmt.Errorf("mount at %s: %w", path, err)
	}
	defer func() { _ = unix.Close(at) }()
	if err := unix.MoveMount(fd, "", at, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH); err != nil {
		return fmt.Errorf("mount at %s: %w", path, err)
	}
	return unix.Close(fd)
}

// cover hides a folder behind an empty one, and a socket behind /dev/null.
func cover(path string) error {
	fd, err := openReal(path)
	if errors.Is(err, unix.ENOENT) { // gone meanwhile; nothing is made on the machine to hide
		return nil
	}
	if err != nil {
		return fmt.Errorf("hide %s: %w", path, err)
	}
	defer func() { _ = unix.Close(fd) }()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("hide %s: %w", path, err)
	}
	at := fmt.Sprintf("/proc/self/fd/%d", fd)
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		err = unix.Mount("/dev/null", at, "", unix.MS_BIND, "")
	} else {
		err = unix.Mount("tmpfs", at, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode="+permissions(at))
	}
	if err != nil {
		return fmt.Errorf("hide %s: %w", path, err)
	}
	return nil
}

// mountProc shows the processes of the new PID namespace, and keeps the machine's settings from a
// root that is the machine's.
func mountProc() error {
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("a new /proc: %w", err)
	}
	masks := procMasks()
	copies, err := cloneAll(masks, unix.MOUNT_ATTR_RDONLY)
	if err != nil {
		return err
	}
	return placeAll(masks, copies)
}

// deviceFiles is what commands see of the machine's devices.
var deviceFiles = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"}

// mountDev makes a small /dev: the harmless devices, terminals and shared memory of our own.
func mountDev(devices []int) error {
	if err := unix.Mount("tmpfs", "/dev", "tmpfs", unix.MS_NOSUID|unix.MS_NOEXEC, "mode=0755"); err != nil {
		return fmt.Errorf("a new /dev: %w", err)
	}
	if err := placeAll(deviceFiles, devices); err != nil {
		return err
	}
	for _, dir := range []string{"/dev/pts", "/dev/shm"} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
	}
	if err := unix.Mount("tmpfs", "/dev/shm", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777"); err != nil {
		return fmt.Errorf("a new /dev/shm: %w", err)
	}
	if err := unix.Mount("devpts", "/dev/pts", "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=620"); err != nil {
		return fmt.Errorf("new terminals: %w", err)
	}
	for name, to := range map[string]string{"ptmx": "pts/ptmx", "fd": "/proc/self/fd", "stdin": "/proc/self/fd/0",
		"stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"} {
		if err := os.Symlink(to, "/dev/"+name); err != nil {
			return err
		}
	}
	return nil
}

// loopbackUp makes localhost work in the new network namespace, where it starts switched off.
func loopbackUp() error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	defer func() { _ = unix.Close(s) }()
	req, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	req.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, req); err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	return nil
}

// writable is what Landlock lets the namespaces tier write: the places of the plan, its own /dev and
// /proc (settings in there are mounted read-only), and what hides a folder.
func (o plan) writable() []string {
	out := slices.Concat(o.Write, []string{"/proc", "/dev"})
	for _, path := range o.Hide {
		if isDir(path) && slices.ContainsFunc(o.Write, func(w string) bool { return within(w, path) }) {
			out = append(out, path)
		}
	}
	return slices.DeleteFunc(out, func(p string) bool { return strings.TrimSpace(p) == "" })
}
