//go:build linux

package sandbox

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// detectMain goes down the ladder for real and says what it found, the tier first.
func detectMain(bwrap string) int {
	self, err := os.Executable()
	if err != nil {
		return 1
	}
	r := Detect(context.Background(), Probe{Key: MachineKey(self, bwrap), Try: func(ctx context.Context, t Tier) error {
		return Try(ctx, t, self, bwrap, os.TempDir())
	}})
	fmt.Println(r.Tier)
	fmt.Println(strings.Join(r.Lines(), "\n"))
	return 0
}

// denyMain runs this program again as nobody in a user namespace that allows no others. It is
// started in a namespace of its own, so the setting is that namespace's, not the machine's.
func denyMain(args []string) int {
	if err := os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0); err != nil {
		fmt.Println(err)
		return 1
	}
	self, err := os.Executable()
	if err != nil {
		return 1
	}
	c := exec.Command(self, args...)
	if os.Getuid() == 0 {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	} else {
		runtime.LockOSThread()
		if err := dropPrivileges(); err != nil {
			fmt.Println(err)
			return 1
		}
	}
	c.Stdout, c.Stderr, c.Stdin = os.Stdout, os.Stderr, os.Stdin
	if err := c.Run(); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

func TestTheLadderHere(t *testing.T) {
	if testing.Short() {
		t.Skip("needs bwrap")
	}
	for _, who := range users() {
		w := newWorld(t, who)
		broken := put(t, w.path("bin", "bwrap"), "#!/bin/sh\ncase $1 in --version) echo bubblewrap 9;; *) echo no permission >&2; exit 1;; esac\n")
		if err := os.Chmod(broken, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, x := range []struct {
			name, bwrap string
			want        Tier
			says        string
		}{
			{"bwrap works", w.bwrap, Bwrap, "bwrap: works"},
			{"bwrap is not installed", "", Namespaces, "bwrap: bwrap is not installed"},
			{"bwrap is there and useless", broken, Namespaces, "no permission"},
			{"bwrap is gone", w.path("bin", "none"), Namespaces, "no such file"},
		} {
			r := w.outside(t, order{Argv: []string{w.binary, "detect", x.bwrap}, Dir: "/"})
			if tier, rest, _ := strings.Cut(r.Out, "\n"); Tier(tier) != x.want || !strings.Contains(rest, x.says) {
				t.Errorf("%s, as %d: %s%s", x.name, who, r.Out, r.Err)
			}
		}
	}
}

// Containers often deny user namespaces: Landlock alone is left, and does.
func TestWithoutUserNamespacesLandlockIsLeft(t *testing.T) {
	if testing.Short() {
		t.Skip("needs bwrap")
	}
	w := newWorld(t, users()[len(users())-1])
	c := exec.Command(w.binary, "deny", "detect", w.bwrap)
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{Size: 65536}}, GidMappings: []syscall.SysProcIDMap{{Size: 65536}}, GidMappingsEnableSetgroups: true}
	if os.Geteuid() != 0 { // only ourselves can be mapped then
		c.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: nobody, HostID: os.Getuid(), Size: 1}}
		c.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: nobody, HostID: os.Getgid(), Size: 1}}
		c.SysProcAttr.GidMappingsEnableSetgroups = false
		c.SysProcAttr.AmbientCaps = []uintptr{unix.CAP_SYS_RESOURCE, unix.CAP_SETPCAP}
	}
	out, err := c.CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil || Tier(lines[0]) != Landlock || len(lines) < 4 {
		t.Fatalf("%v %s", err, out)
	}
	for i, tier := range []Tier{Bwrap, Namespaces} {
		if !strings.HasPrefix(lines[i+1], string(tier)+": ") || strings.Contains(lines[i+1], "works") {
			t.Errorf("not why %s does not work: %s", tier, lines[i+1])
		}
	}
}

// A jig that a command starts is confined by what it finds inside.
func TestASandboxInsideASandbox(t *testing.T) {
	if testing.Short() {
		t.Skip("needs bwrap")
	}
	for _, who := range users() {
		w := newWorld(t, who)
		for _, tier := range tiers {
			h := startHost(t, who, w.binary, tier, w.policy())
			o := w.command([]string{"sh", "TMPDIR=/tmp $BASE/bin/jig detect " + w.bwrap})
			r := h.run(t, o)
			h.stop()
			found, _, _ := strings.Cut(r.Out, "\n")
			if Tier(found) == None || r.Exit != 0 {
				t.Errorf("%s as %d: %d %s%s", tier, who, r.Exit, r.Out, r.Err)
			}
			if tier == Landlock && Tier(found) != Landlock {
				t.Errorf("inside landlock as %d: %s", who, r.Out)
			}
			t.Logf("inside %s as %d: %s", tier, who, found)
		}
	}
}
