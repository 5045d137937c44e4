//go:build linux

package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// harmless is a setting of the machine that nobody misses for a moment. It is 10, the control makes it 11,
// and it is put back.
const harmless = "/proc/sys/kernel/printk_ratelimit_burst"

// systemAttempts aim at the machine: settings, devices, shared memory, rights, families of sockets.
func systemAttempts() []attempt {
	setting := func(w *world, _ string) bool {
		b, _ := os.ReadFile(harmless)
		return strings.TrimSpace(string(b)) == "11"
	}
	keepSetting := func(t *testing.T, _ *world) {
		if err := os.WriteFile(harmless, []byte("10"), 0o644); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.WriteFile(harmless, []byte("10"), 0o644) })
	}
	return []attempt{
		{name: "in /proc/sys", danger: "settings", rootOnly: true, prepare: keepSetting,
			run: []string{"sh", "echo 11 > " + harmless}, done: setting},
		{name: "in /sys", danger: "settings", rootOnly: true, prepare: func(t *testing.T, w *world) {
			path := controlGroup(t)
			w.vars["GROUP"] = path
			t.Cleanup(func() { _ = os.Remove(path) })
		}, run: []string{"sh", "mkdir $GROUP"}, done: func(w *world, _ string) bool { return exists(w.vars["GROUP"]) }},
		{name: "the kernel's log", danger: "devices", rootOnly: true, prepare: func(t *testing.T, w *world) {
			w.vars["MARK"] = fmt.Sprintf("jig-mark-%d", time.Now().UnixNano())
		}, run: []string{"sh", "echo $MARK > /dev/kmsg"}, done: func(w *world, _ string) bool { return inKernelLog(w.vars["MARK"]) }},
		{name: "the text on the screen", danger: "disks", rootOnly: true, prepare: func(t *testing.T, w *world) {
			if !exists("/dev/vcs") {
				t.Fatal("this machine has no console to read: /dev/vcs is missing")
			}
		}, run: []string{"sh", "head -c 16 /dev/vcs | wc -c"}, done: says("16")},
		{name: "a file in /dev/shm", danger: "shared-memory", prepare: func(t *testing.T, w *world) {
			path := fmt.Sprintf("/dev/shm/jig-test-%d", os.Getpid())
			put(t, path, "theirs")
			_ = os.Lchown(path, w.who, w.who)
			w.vars["SHM"] = path
			t.Cleanup(func() { _ = os.Remove(path) })
		}, run: []string{"create", "$SHM"}, done: func(w *world, _ string) bool {
			b, _ := os.ReadFile(w.vars["SHM"])
			return string(b) == "changed"
		}},
		{name: "a segment", danger: "shared-memory", prepare: sharedSegment, run: []string{"segment", "$KEY"},
			done: func(w *world, _ string) bool { return w.segment[0] == 'X' }},

		{name: "give a file away", danger: "capabilities", rootOnly: true, run: []string{"sh", "chown 12345 mine"}, done: ownedBy(12345, "root", "mine")},
		{name: "write another user's file", danger: "capabilities", rootOnly: true, prepare: func(t *testing.T, w *world) {
			if err := os.Chown(w.path("root", "mine"), 12345, 12345); err != nil {
				t.Fatal(err)
			}
		}, run: []string{"create", "$ROOT/mine"}, done: fileIs("root", "mine", "changed")},
		{name: "a setuid program", danger: "setuid", userOnly: true, rootPrepares: true, prepare: func(t *testing.T, w *world) {
			path := w.path("root", "suid")
			if out, err := exec.Command("cp", "/usr/bin/touch", path).CombinedOutput(); err != nil {
				t.Fatalf("%v %s", err, out)
			}
			if err := os.Chmod(path, 0o4755|os.ModeSetuid); err != nil {
				t.Fatal(err)
			}
			_ = os.Chown(path, 0, 0)
			if err := os.Chmod(path, 0o755|os.ModeSetuid); err != nil {
				t.Fatal(err)
			}
		}, run: []string{"sh", "./suid made"}, done: ownedBy(0, "root", "made")},
		{name: "a program with a capability", danger: "setuid", userOnly: true, rootPrepares: true, prepare: func(t *testing.T, w *world) {
			path := w.path("root", "capable")
			if out, err := exec.Command("cp", "/bin/chown", path).CombinedOutput(); err != nil {
				t.Fatalf("%v %s", err, out)
			}
			// version 2, effective, CAP_CHOWN permitted
			if err := unix.Setxattr(path, "security.capability", []byte{1, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 0); err != nil {
				t.Fatal(err)
			}
		}, run: []string{"sh", "./capable 12345 mine"}, done: ownedBy(12345, "root", "mine")},

		{name: "by changing the mode", danger: "setuid-files", rootOnly: true, run: []string{"sh", "cp /bin/true s; chmod 4755 s"}, done: isSetuid},
		{name: "by a descriptor", danger: "setuid-files", rootOnly: true, run: []string{"setuid-file", "descriptor", "$ROOT/s"}, done: isSetuid},
		{name: "by making it so", danger: "setuid-files", rootOnly: true, run: []string{"setuid-file", "make", "$ROOT/s"}, done: isSetuid},
		{name: "by making it so with openat2", danger: "setuid-files", rootOnly: true, run: []string{"setuid-file", "openat2", "$ROOT/s"}, done: isSetuid},
		{name: "as a node", danger: "setuid-files", rootOnly: true, run: []string{"setuid-file", "node", "$ROOT/s"}, done: isSetuid},
		{name: "without a name first", danger: "setuid-files", rootOnly: true, run: []string{"setuid-file", "unnamed", "$ROOT/s"}, done: isSetuid},
		{name: "by moving one", danger: "setuid-files", rootOnly: true, run: []string{"sh", "cp -p /bin/su s || cp --preserve=mode /usr/bin/passwd s"}, done: isSetuid},

		{name: "flock", danger: "locks", run: []string{"lock", "$OUT/file"}, done: says("locked")},
		{name: "a write lease", danger: "locks", run: []string{"lease", "$OUT/file"}, done: says("leased")},

		{name: "packet", danger: "families", rootOnly: true, run: []string{"family", "17", "3"}, done: says("opened 17")},
		{name: "raw", danger: "network", rootOnly: true, run: []string{"family", "2", "3"}, done: says("opened 2")},
		{name: "vsock", danger: "families", run: []string{"family", "40", "1"}, done: says("opened 40")},
		{name: "add a key", danger: "keys", run: []string{"key"}, done: says("added")},
		{name: "32 bits", danger: "foreign-calls", prepare: func(t *testing.T, w *world) {
			w.serve(t, "tcp4", "")
			w.foreign(t)
		}, run: []string{"sh", "$BASE/bin/foreign $ADDRESS"}, done: func(w *world, _ string) bool { return soon(func() bool { return w.visits.Load() > 0 }) }},
		{name: "memory", danger: "resources", run: []string{"sh", "head -c 50000000 /dev/zero | tail -c 50000000 | wc -c"}, done: says("50000000")},
	}
}

// isSetuid reports whether the root holds a file that gives its owner's rights.
func isSetuid(w *world, _ string) bool {
	fi, err := os.Lstat(w.path("root", "s"))
	return err == nil && fi.Mode()&os.ModeSetuid != 0
}

func setuidFile(a []string) error {
	switch a[0] {
	case "make":
		_, err := unix.Open(a[1], unix.O_CREAT|unix.O_WRONLY, 0o4755)
		return err
	case "openat2":
		_, err := unix.Openat2(unix.AT_FDCWD, a[1], &unix.OpenHow{Flags: unix.O_CREAT | unix.O_WRONLY, Mode: 0o4755})
		return err
	case "node":
		return unix.Mknod(a[1], unix.S_IFREG|0o4755, 0)
	case "unnamed":
		fd, err := unix.Open(filepath.Dir(a[1]), unix.O_TMPFILE|unix.O_WRONLY, 0o4755)
		if err != nil {
			return err
		}
		return unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), unix.AT_FDCWD, a[1], unix.AT_SYMLINK_FOLLOW)
	}
	fd, err := unix.Open(a[1], unix.O_CREAT|unix.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	return unix.Fchmod(fd, 0o4755)
}

func ownedBy(uid uint32, elem ...string) func(*world, string) bool {
	return func(w *world, _ string) bool {
		fi, err := os.Lstat(w.path(elem...))
		return err == nil && fi.Sys().(*syscall.Stat_t).Uid == uid
	}
}

// controlGroup gives the name of a control group that does not exist and could be made.
func controlGroup(t *testing.T) string {
	t.Helper()
	for _, dir := range []string{"/sys/fs/cgroup/unified", "/sys/fs/cgroup/pids", "/sys/fs/cgroup"} {
		path := filepath.Join(dir, fmt.Sprintf("jig-test-%d", time.Now().UnixNano()))
		if os.Mkdir(path, 0o755) == nil && os.Remove(path) == nil {
			return path
		}
	}
	t.Fatal("no control group can be made: /sys/fs/cgroup is not writable for root")
	return ""
}

// inKernelLog looks for words in what the kernel keeps.
func inKernelLog(words string) bool {
	fd, err := unix.Open("/dev/kmsg", unix.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	b := make([]byte, 8192)
	for {
		n, err := unix.Read(fd, b)
		if err == unix.EPIPE { // overwritten while we read; the next one is there
			continue
		}
		if err != nil {
			return false
		}
		if strings.Contains(string(b[:n]), words) {
			return true
		}
	}
}

// sharedSegment makes a System V segment that the user may write.
func sharedSegment(t *testing.T, w *world) {
	t.Helper()
	key := 0x6a000000 | os.Getpid()&0xffffff
	id, err := unix.SysvShmGet(key, 4096, unix.IPC_CREAT|0o666)
	if err != nil {
		t.Fatal(err)
	}
	b, err := unix.SysvShmAttach(id, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	b[0] = '-'
	w.segment, w.vars["KEY"] = b, fmt.Sprint(key)
	t.Cleanup(func() {
		_ = unix.SysvShmDetach(b)
		_, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil)
	})
}

// foreign builds a program for 32 bits that dials.
func (w *world) foreign(t *testing.T) {
	t.Helper()
	if runtime.GOARCH != "amd64" {
		t.Fatal("this attempt is written for amd64")
	}
	path := w.path("bin", "foreign")
	if exists(path) {
		return
	}
	src := put(t, w.path("bin", "foreign.go"), `package main

import ("net"; "os")

func main() {
	if _, err := net.Dial("tcp", os.Args[1]); err != nil { println(err.Error()); os.Exit(1) }
}
`)
	c := exec.Command("go", "build", "-o", path, src)
	c.Env = append(os.Environ(), "GOARCH=386", "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
}

func systemFunctions() functions {
	return functions{
		"setuid-file": setuidFile,
		"lock": func(a []string) error {
			f, err := os.Open(a[0])
			if err != nil {
				return err
			}
			if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
				return err
			}
			fmt.Println("locked")
			return nil
		},
		"lease": func(a []string) error {
			f, err := os.Open(a[0])
			if err != nil {
				return err
			}
			if _, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
				return err
			}
			fmt.Println("leased")
			return nil
		},
		"group":        controlGroups,
		"group-inside": controlGroupsInside,
		"segment": func(a []string) error {
			id, err := unix.SysvShmGet(number(a[0]), 4096, 0o666)
			if err != nil {
				return err
			}
			b, err := unix.SysvShmAttach(id, 0, 0)
			if err != nil {
				return err
			}
			b[0] = 'X'
			return nil
		},
		"family": func(a []string) error {
			fd, err := unix.Socket(number(a[0]), number(a[1]), 0)
			if err != nil {
				// raw sockets want a protocol
				if fd, err = unix.Socket(number(a[0]), number(a[1]), unix.IPPROTO_ICMP); err != nil {
					return err
				}
			}
			fmt.Println("opened", a[0])
			return unix.Close(fd)
		},
		"key": func([]string) error {
			if _, err := unix.AddKey("user", "jig-test", []byte("x"), unix.KEY_SPEC_SESSION_KEYRING); err != nil {
				return err
			}
			fmt.Println("added")
			return nil
		},
		"type": func(a []string) error {
			fd, err := unix.Open(a[0], unix.O_RDWR, 0)
			if err != nil {
				return err
			}
			for _, c := range []byte("typed\n") {
				if _, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.TIOCSTI, uintptr(unsafe.Pointer(&c))); e != 0 {
					return e
				}
			}
			return nil
		},
	}
}
