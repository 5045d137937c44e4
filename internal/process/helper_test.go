//go:build linux

package process

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

// The test binary is init and host too: its first argument says so.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "be-init":
			os.Exit(beInit(os.Args[2:]))
		case "be-host":
			beHost(os.Args[2:])
			return
		}
	}
	goleak.VerifyTestMain(m)
}

// beInit serves, with a limit on what its user may have more than now where one
// is given.
func beInit(args []string) int {
	if len(args) == 1 {
		n, _ := strconv.ParseUint(args[0], 10, 64)
		n += threadsOf(os.Getuid())
		if err := unix.Setrlimit(unix.RLIMIT_NPROC, &unix.Rlimit{Cur: n, Max: n}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return Serve(os.NewFile(3, "control"))
}

// threadsOf counts what a limit on processes counts.
func threadsOf(uid int) (n uint64) {
	dirs, _ := filepath.Glob("/proc/[0-9]*/task/[0-9]*")
	for _, d := range dirs {
		var s unix.Stat_t
		if unix.Stat(filepath.Dir(filepath.Dir(d)), &s) == nil && int(s.Uid) == uid {
			n++
		}
	}
	return n
}

// atOnce spares what a race build otherwise spends at the end of every process: a second.
const atOnce = "GORACE=atexit_sleep_ms=0"

func initLaunch(t testing.TB, l Limits, args ...string) Launch {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Launch{Path: self, Args: append([]string{self, "be-init"}, args...), Env: []string{atOnce}, Limits: l}
}

func openWarden(t testing.TB, l Limits) *Warden {
	t.Helper()
	return openLaunch(t, initLaunch(t, l))
}

func openLaunch(t testing.TB, l Launch) *Warden {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	w, err := Open(ctx, l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// bash is a command for one line, with a variable by which its processes are
// found from outside.
func bash(line string, args ...string) Command {
	return Command{
		Argv: append([]string{"/bin/bash", "-c", line, "bash"}, args...),
		Env:  []string{"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C.UTF-8"},
		Dir:  "/",
	}
}

func start(t testing.TB, w *Warden, c Command) *Job {
	t.Helper()
	j, err := w.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// finished waits for a job, for much longer than it can take.
func finished(t testing.TB, j *Job) State {
	t.Helper()
	select {
	case <-j.Done():
	case <-time.After(2 * time.Minute): // an init that does nothing is given up after half a minute
		t.Fatalf("the job is not done; it has printed %.200q", text(j))
	}
	return j.State()
}

func run(t testing.TB, w *Warden, c Command) (State, string) {
	t.Helper()
	j := start(t, w, c)
	s := finished(t, j)
	return s, text(j)
}

func text(j *Job) string {
	o := j.Output()
	if o.Gap > 0 {
		return fmt.Sprintf("%s[%d]%s", o.Head, o.Gap, o.Tail)
	}
	return string(o.Head) + string(o.Tail)
}

// alive lists the living processes that have word in their arguments or their
// environment. It shares nothing with how the package finds them.
func alive(t testing.TB, word string) (out []string) {
	t.Helper()
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		if d == fmt.Sprintf("/proc/%d", os.Getpid()) {
			continue
		}
		args, _ := os.ReadFile(d + "/cmdline")
		env, _ := os.ReadFile(d + "/environ")
		if !bytes.Contains(args, []byte(word)) && !bytes.Contains(env, []byte(word)) {
			continue
		}
		if stat, err := os.ReadFile(d + "/stat"); err == nil && !bytes.Contains(stat, []byte(") Z ")) {
			out = append(out, filepath.Base(d)+" "+strings.ReplaceAll(string(args), "\x00", " "))
		}
	}
	return out
}

// eventually waits until what holds; it gives up after long.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("in vain: %s", what)
		}
	}
}

// printed waits until a job has printed s.
func printed(t testing.TB, j *Job, s string) {
	t.Helper()
	eventually(t, fmt.Sprintf("%q in the output", s), func() bool { return strings.Contains(text(j), s) })
}

// asNobody gives a launch or a command the user 65534, whom root's powers do
// not help, and a copy of this binary that user can reach.
func asNobody(t testing.TB, l Launch) Launch {
	t.Helper()
	if os.Getuid() != 0 {
		return l // already nobody special
	}
	dir, err := os.MkdirTemp("/tmp", "process")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	b, err := os.ReadFile(l.Path)
	if err != nil {
		t.Fatal(err)
	}
	l.Path = filepath.Join(dir, "test")
	if err := os.WriteFile(l.Path, b, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	l.Attr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	return l
}

func needs(t testing.TB, tool string) string {
	t.Helper()
	if testing.Short() {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("needs " + tool)
		}
	}
	p, err := exec.LookPath(tool)
	if err != nil {
		t.Fatalf("%s is not installed", tool)
	}
	return p
}

// word is unlike anything else on this machine.
func word(t testing.TB) string {
	return fmt.Sprintf("%s-%d-%d", strings.ReplaceAll(t.Name(), "/", "-"), os.Getpid(), time.Now().UnixNano())
}

func itoa(n int) string { return strconv.Itoa(n) }
