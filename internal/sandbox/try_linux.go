package sandbox

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"jig/internal/process"
)

// stageTry is the argument of the command that a trial run starts inside.
const stageTry = "try"

// MachineKey names what a probe's answer depends on: the kernel, its boot, this program, the user,
// bubblewrap, and how this process is confined itself. A jig inside a sandbox or a container reads
// the same state folder as one outside, and what works there need not work here.
func MachineKey(binary, bwrap string) string {
	var u unix.Utsname
	_ = unix.Uname(&u)
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "" // nothing to tell one boot from another by: nothing is kept
	}
	var parts []string
	for _, path := range []string{binary, bwrap} {
		if fi, err := os.Stat(path); err == nil {
			parts = append(parts, fmt.Sprintf("%s %d %d", path, fi.Size(), fi.ModTime().UnixNano()))
		} else {
			parts = append(parts, "-")
		}
	}
	return fmt.Sprintf("%s|%s|%s|%d|%s", unix.ByteSliceToString(u.Release[:]), strings.TrimSpace(string(boot)),
		strings.Join(parts, "|"), os.Geteuid(), confinement())
}

// confinement tells one confinement of this process from another, as far as the system shows it.
// Landlock is not shown; whoever uses it has set no_new_privs.
func confinement() string {
	var out []string
	for _, ns := range []string{"user", "mnt", "pid"} {
		to, _ := os.Readlink("/proc/self/ns/" + ns)
		out = append(out, to)
	}
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		switch name {
		case "CapEff", "CapBnd", "NoNewPrivs", "Seccomp", "Seccomp_filters":
			out = append(out, strings.TrimSpace(value))
		}
	}
	profile, _ := os.ReadFile("/proc/self/attr/current")
	return strings.Join(append(out, strings.TrimRight(string(profile), "\x00\n")), " ")
}

// Try runs a tier for real: an init in it, and in that a command that attempts what it must be able
// to do and what it must not. What happened is judged from out here. temp is a folder for the trial,
// best one that no command may write to: what another session's command does to the trial's files
// could make a tier look as if it did not work. It cannot make up what the trial would have written:
// the trial puts a word of its own into the files' names, and tells it through the pipe alone.
func Try(ctx context.Context, t Tier, binary, bwrap, temp string) error {
	dir, err := os.MkdirTemp(temp, "jig-try-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	inside, outside := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	for _, d := range []string{inside, outside} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return err
		}
	}
	l, err := Enter(t, Policy{Root: inside, Write: []string{inside}, Bwrap: bwrap}, binary)
	if err != nil {
		return err
	}
	w, err := process.Open(ctx, l)
	var denied syscall.Errno
	if t == Namespaces && errors.As(err, &denied) && (denied == unix.EPERM || denied == unix.ENOSPC || denied == unix.EUSERS || denied == unix.ENOSYS) {
		return fmt.Errorf("namespaces are denied here: %w", denied)
	}
	if err != nil {
		return err
	}
	defer func() { _ = w.Close() }()
	address := "" // inside another sandbox there may be no network to be kept from
	if listener, err := net.Listen("tcp", "127.0.0.1:0"); err == nil {
		defer func() { _ = listener.Close() }()
		address = listener.Addr().String()
	}
	j, err := w.Start(process.Command{
		Argv: []string{binary, Command, stageTry, inside, outside, address, string(t)},
		Env:  []string{}, Dir: inside, Call: "try",
	})
	if err != nil {
		return err
	}
	select {
	case <-j.Done():
	case <-ctx.Done():
		return ErrNotAnswered
	}
	out := j.Output()
	word, said, _ := strings.Cut(strings.TrimSpace(string(out.Head)+string(out.Tail)), "\n")
	if word != "" && exists(filepath.Join(outside, word)) {
		return errors.New("a command could write outside")
	}
	if j.State().Exit != 0 || !isPlain(filepath.Join(inside, word)) {
		if said == "" {
			said = fmt.Sprintf("the trial command ended with %d", j.State().Exit)
		}
		return errors.New(said)
	}
	return nil
}

// tryInside is the trial's command. It says what is wrong and returns an exit code.
func tryInside(args []string) int {
	if len(args) != 4 {
		return 2
	}
	inside, outside, address, tier := args[0], args[1], args[2], Tier(args[3])
	fail := func(format string, a ...any) int { fmt.Printf(format+"\n", a...); return 1 }
	word := rand.Text()
	fmt.Println(word)
	if err := os.WriteFile(filepath.Join(inside, word), nil, 0o600); err != nil {
		return fail("a command cannot write inside: %v", err)
	}
	if err := os.WriteFile(filepath.Join(outside, word), nil, 0o600); err == nil {
		return fail("a command could write outside")
	}
	if address != "" {
		if c, err := net.Dial("tcp", address); err == nil {
			_ = c.Close()
			return fail("a command could use the network")
		}
	}
	if tier != Landlock {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return fail("no loopback inside: %v", err)
		}
		defer func() { _ = l.Close() }()
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			return fail("no loopback inside: %v", err)
		}
		_ = c.Close()
		if os.Getppid() > 2 {
			return fail("other processes are visible")
		}
	}
	if n, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); err != nil || n != 1 {
		return fail("no_new_privs is not set")
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil || data[0].Permitted|data[1].Permitted != 0 {
		return fail("a command holds capabilities")
	}
	if f, err := os.OpenFile("/dev/null", os.O_RDWR, 0); err != nil {
		return fail("/dev/null: %v", err)
	} else {
		_ = f.Close()
	}
	return 0
}

// notes names what a kernel cannot do in the tier, a sentence each.
func notes(t Tier) []string {
	var out []string
	v := landlockVersion()
	switch {
	case t == None && v == 0:
		out = append(out, "this kernel has no Landlock, or it is switched off")
	case t == Landlock && v < 6:
		out = append(out, "this kernel cannot keep signals and abstract unix sockets inside (Linux 6.12 can)")
	}
	if t == Landlock && v < 2 {
		out = append(out, "this kernel refuses to move files between folders (Linux 5.19 allows it)")
	}
	return out
}
