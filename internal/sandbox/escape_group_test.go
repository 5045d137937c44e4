//go:build linux

package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// controlGroups mounts the control groups as the root of a namespace of its own sees them, which is
// the group that the caller lives in, and makes one.
func controlGroups(a []string) error {
	runtime.LockOSThread()
	if a[0] == "unshare" {
		if err := unix.Unshare(unix.CLONE_NEWCGROUP); err != nil {
			return err
		}
	} else {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		c := exec.Command(self, "attempt", "group-inside", a[1])
		c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWCGROUP, AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN}}
		out, err := c.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w %s", err, out)
		}
		return nil
	}
	return controlGroupsInside(a[1:])
}

func controlGroupsInside(a []string) error {
	if err := os.MkdirAll(a[0], 0o755); err != nil {
		return err
	}
	if err := unix.Mount("cgroup2", a[0], "cgroup2", 0, ""); err != nil {
		return err
	}
	return os.Mkdir(filepath.Join(a[0], "reached"), 0o755)
}

// The group that jig and whatever started it live in ends or freezes them all. Where the user owns
// it, as in a login of systemd's, the owner of a user namespace could mount it.
func TestNoControlGroupIsReached(t *testing.T) {
	if testing.Short() {
		t.Skip("needs bwrap")
	}
	if os.Geteuid() != 0 {
		return // only root can make the group that the attempt aims at
	}
	for _, who := range users() {
		w := newWorld(t, who)
		group := w.group(t)
		dir, err := os.Open(group)
		if err != nil {
			t.Fatal(err)
		}
		defer dir.Close()
		into := func(c *exec.Cmd) {
			attr := asUser(who)
			if attr == nil {
				attr = &syscall.SysProcAttr{}
			}
			attr.UseCgroupFD, attr.CgroupFD = true, int(dir.Fd())
			c.SysProcAttr = attr
		}
		reached := func() bool {
			defer os.Remove(filepath.Join(group, "reached"))
			return exists(filepath.Join(group, "reached"))
		}
		for _, how := range []string{"unshare", "clone"} {
			o := w.command([]string{"in-namespace", "group", how, "$ROOT/cg"})
			c := exec.Command(o.Argv[0], o.Argv[1:]...)
			c.Dir, c.Env = o.Dir, o.Env
			into(c)
			if out, err := c.CombinedOutput(); !reached() {
				t.Fatalf("the attempt does not work outside either: %v %s", err, out)
			}
			for _, tier := range tiers {
				w.reset(t)
				h := startHostWith(t, w.binary, tier, w.policy(), into)
				r := h.run(t, o)
				h.stop()
				if reached() {
					t.Errorf("%s in %s as %d: the host's group was reached: %d %s", how, tier, who, r.Exit, r.Out)
				}
			}
		}
	}
}

// group makes a control group that belongs to the user, as a login's does.
func (w *world) group(t *testing.T) string {
	t.Helper()
	for _, root := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
		var st unix.Statfs_t
		if unix.Statfs(root, &st) != nil || st.Type != unix.CGROUP2_SUPER_MAGIC {
			continue
		}
		path := filepath.Join(root, fmt.Sprintf("jig-test-%d", time.Now().UnixNano()))
		if err := os.Mkdir(path, 0o755); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			for range 100 { // until the last of its processes is gone
				if os.Remove(path) == nil {
					return
				}
				time.Sleep(20 * time.Millisecond)
			}
			t.Errorf("%s is still used", path)
		})
		for _, name := range []string{"", "cgroup.procs", "cgroup.subtree_control"} {
			if err := os.Chown(filepath.Join(path, name), w.who, w.who); err != nil {
				t.Fatal(err)
			}
		}
		return path
	}
	t.Fatal("this machine has no second version of the control groups")
	return ""
}
