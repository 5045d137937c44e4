//go:build linux

package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminal is a pseudo-terminal as a person has one.
type terminal struct {
	master int
	slave  *os.File
	path   string
}

func openTerminal(t *testing.T, who int) terminal {
	t.Helper()
	m, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(m, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(m, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	path := fmt.Sprintf("/dev/pts/%d", n)
	_ = os.Chown(path, who, who)
	s, err := os.OpenFile(path, os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = unix.Close(m), s.Close() })
	return terminal{m, s, path}
}

// shown is what has appeared on the terminal since the last look.
func (x terminal) shown() string {
	var b strings.Builder
	for range 10 {
		buf := make([]byte, 4096)
		if n, _ := unix.Read(x.master, buf); n > 0 {
			b.Write(buf[:n])
		}
		time.Sleep(2 * time.Millisecond)
	}
	return b.String()
}

// attach gives what makes a program's terminal of it.
func (x terminal) attach(who int) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}
	if a := asUser(who); a != nil {
		attr.Credential = a.Credential
	}
	return attr
}

func TestTheTerminalIsNeitherWrittenNorTypedInto(t *testing.T) {
	if testing.Short() {
		t.Skip("needs bwrap")
	}
	for _, who := range users() {
		w := newWorld(t, who)
		term := openTerminal(t, who)
		for _, a := range []struct {
			run  []string
			sign string
		}{
			{[]string{"type", "/dev/tty"}, "typed"},
			{[]string{"type", term.path}, "typed"},
			{[]string{"create", "/dev/tty"}, "changed"},
			{[]string{"create", term.path}, "changed"},
		} {
			o := w.command(a.run)
			c := exec.Command(o.Argv[0], o.Argv[1:]...)
			c.SysProcAttr, c.ExtraFiles = term.attach(who), []*os.File{term.slave}
			c.Stdin = term.slave
			c.Env = o.Env
			out, _ := c.CombinedOutput()
			if !strings.Contains(term.shown(), a.sign) {
				t.Errorf("%v does not work outside either: %s", a.run, out)
				continue
			}
			for _, tier := range tiers {
				h := startOnTerminal(t, w, term, tier)
				r := h.run(t, o)
				if shown := term.shown(); strings.Contains(shown, a.sign) {
					t.Errorf("%s as %d: %v: %q; %d %s", tier, who, a.run, shown, r.Exit, r.Out)
				}
				h.stop()
			}
		}
	}
}

// startOnTerminal starts a host that has the terminal, as the program a person uses has.
func startOnTerminal(t *testing.T, w *world, term terminal, tier Tier) *host {
	t.Helper()
	return startHostWith(t, w.binary, tier, w.policy(), func(c *exec.Cmd) {
		c.SysProcAttr, c.ExtraFiles = term.attach(w.who), []*os.File{term.slave}
	})
}

// A command that ends the process that starts commands ends the session's commands with it. The
// tiers with processes of their own do not let it.
func TestEndingTheProcessThatStartsCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("needs bwrap")
	}
	row := danger(t, "end-init")
	for _, who := range users() {
		w := newWorld(t, who)
		for _, tier := range tiers {
			h := startHost(t, who, w.binary, tier, w.policy())
			h.run(t, w.command([]string{"sh", "kill -KILL $PPID"}))
			r := h.run(t, w.command([]string{"sh", "echo still here"}))
			if ended := !strings.Contains(r.Out, "still here"); ended != (row.In(tier) == Open) {
				t.Errorf("%s as %d: the table says %s; ended: %v %s %s", tier, who, row.In(tier), ended, r.Out, r.Err)
			}
			h.stop()
		}
	}
}
