//go:build linux

package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// highWater is the most memory a process has had, in bytes.
func highWater(t *testing.T, pid int) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	var kb int64
	_, rest, _ := strings.Cut(string(b), "VmHWM:")
	if _, err := fmt.Sscan(rest, &kb); err != nil {
		t.Fatal(err)
	}
	return kb << 10
}

func TestMemoryIsFlatWhateverIsPrinted(t *testing.T) {
	for name, line := range map[string]string{
		"300 MB of lines":    `yes | head -c 314572800`,
		"one line of 100 MB": `head -c 104857600 /dev/zero | tr '\0' x`,
	} {
		t.Run(name, func(t *testing.T) {
			w := openWarden(t, Limits{KeepFree: -1})
			run(t, w, bash(`seq 100000`)) // what every job needs
			runtime.GC()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			initBefore := highWater(t, w.hostpid)
			c := bash(line)
			c.Log = filepath.Join(t.TempDir(), "log")
			j := start(t, w, c)
			for done := false; !done; {
				select {
				case <-j.Done():
					done = true
				case <-time.After(20 * time.Millisecond):
					_ = j.Output() // a screen looks on meanwhile
				}
			}
			runtime.ReadMemStats(&after)
			if grown := int64(after.Sys) - int64(before.Sys); grown > 16<<20 {
				t.Errorf("the host took %d MiB more", grown>>20)
			}
			if grown := highWater(t, w.hostpid) - initBefore; grown > 4<<20 {
				t.Errorf("the init took %d MiB more", grown>>20)
			}
			o := j.Output()
			s, err := os.Stat(c.Log)
			if err != nil || s.Size() != o.Bytes || o.Bytes < 100<<20 {
				t.Errorf("%d bytes printed, %d logged, %v", o.Bytes, s.Size(), err)
			}
			_ = os.Remove(c.Log)
		})
	}
}

func TestJobWhoseLogFillsTheDiskIsEnded(t *testing.T) {
	w := openWarden(t, Limits{KeepFree: 1 << 62})
	c := bash(`yes & yes`)
	c.Log = filepath.Join(t.TempDir(), "log")
	j := start(t, w, c)
	s := finished(t, j)
	if !s.LogFull || s.Cancelled || s.LogErr == nil || s.Signal == 0 {
		t.Errorf("%+v", s)
	}
	if st, err := os.Stat(c.Log); err != nil || st.Size() > 2*logStep {
		t.Errorf("the log has %d bytes, %v", st.Size(), err)
	}
	eventually(t, "empty", w.Empty)
}

func TestLongArgumentsAndEnvironments(t *testing.T) {
	w := openWarden(t, Limits{})
	const most = 128<<10 - 1
	long := func(n int) Command {
		return Command{Argv: []string{"/bin/bash", "-c", `echo ${#1} ${#E}`, "x", strings.Repeat("a", n)}, Env: []string{"E=" + strings.Repeat("e", n-2)}, Dir: "/"}
	}
	if s, out := run(t, w, long(most)); s.Exit != 0 || out != fmt.Sprintln(most, most-2) {
		t.Errorf("the longest that is possible: %+v %.80q", s, out)
	}
	_, err := w.Start(long(most + 1))
	if !errors.Is(err, syscall.E2BIG) || !strings.Contains(err.Error(), "one argument or variable has 131072 bytes, 131071 are possible") {
		t.Errorf("one byte more: %.200v", err)
	}

	many := func(megabytes int) Command { // in pieces of 64 KiB
		c := bash(`cat /proc/self/environ | wc -c`)
		c.Env = []string{"PATH=/usr/bin:/bin"}
		for i := range megabytes * 16 {
			c.Env = append(c.Env, fmt.Sprintf("V%04d=%s", i, strings.Repeat("v", 64<<10-7)))
		}
		return c
	}
	// The system takes a quarter of the stack limit, and 6 MiB at most.
	var stack syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_STACK, &stack); err != nil {
		t.Fatal(err)
	}
	if stack.Cur >= 16<<20 {
		if s, out := run(t, w, many(3)); s.Exit != 0 || len(out) < 7 {
			t.Errorf("3 MB: %+v %q", s, out)
		}
	} else {
		if s, out := run(t, w, many(1)); s.Exit != 0 || len(out) < 7 {
			t.Errorf("1 MB: %+v %q", s, out)
		}
		if _, err := w.Start(many(3)); !errors.Is(err, syscall.E2BIG) {
			t.Errorf("3 MB: %v", err)
		}
	}
	for _, n := range []int{8, 20} { // over the system's limit, and over that of a message
		_, err := w.Start(many(n))
		if !errors.Is(err, syscall.E2BIG) || !strings.Contains(err.Error(), "write long text to a file") {
			t.Errorf("%d MB: %v", n, err)
		}
	}
	if _, out := run(t, w, bash("echo fine")); out != "fine\n" {
		t.Errorf("afterwards: %q", out)
	}
}

func TestAFailedForkIsAnErrorOfThatCommandOnly(t *testing.T) {
	l := asNobody(t, initLaunch(t, Limits{}, "60"))
	if l.Attr != nil {
		l.Attr.Credential.Uid = 100000 + uint32(os.Getpid()) // the limit counts all that a user has on the machine
	}
	w := openLaunch(t, l)
	var sleeping []*Job
	var err error
	for range 80 {
		var j *Job
		if j, err = w.Start(Command{Argv: []string{"/bin/sleep", "300"}, Dir: "/"}); err != nil {
			break
		}
		sleeping = append(sleeping, j)
	}
	if !errors.Is(err, syscall.EAGAIN) || !strings.Contains(err.Error(), "the system can start no more processes now") {
		t.Fatalf("after %d: %v", len(sleeping), err)
	}
	for range 10 {
		j, err := w.Start(Command{Argv: []string{"/bin/sleep", "300"}, Dir: "/"})
		if err == nil { // somebody else of that user has ended
			sleeping = append(sleeping, j)
		} else if !errors.Is(err, syscall.EAGAIN) {
			t.Fatalf("again: %v", err)
		}
	}
	for _, j := range sleeping {
		j.Kill(Cancelled)
	}
	for _, j := range sleeping {
		finished(t, j)
	}
	if s, out := run(t, w, bash("echo fine")); out != "fine\n" {
		t.Errorf("afterwards: %+v %q", s, out)
	}
}

// A user other than root cannot look into the init, although it is that user's.
func TestTheInitHidesItsMemoryFromCommands(t *testing.T) {
	l := asNobody(t, initLaunch(t, Limits{}))
	l.Env = []string{"SECRET=1"}
	w := openLaunch(t, l)
	// The same attempts on a process of that user that does not hide are the proof
	// that they could succeed.
	for _, attempt := range []string{
		`cat /proc/$P/environ >/dev/null`,
		`ls /proc/$P/fd >/dev/null`,
		`head -c 0 /proc/$P/mem`,
		`cat /proc/$P/maps >/dev/null`,
	} {
		for who, want := range map[string]bool{`P=$PPID`: false, `sleep 300 & P=$!`: true} {
			s, out := run(t, w, bash(who+"; "+attempt+`; r=$?; kill $! 2>/dev/null; exit $r`))
			if want != (s.Exit == 0) {
				t.Errorf("%s; %s: exit %d, %s", who, attempt, s.Exit, out)
			}
			if !want && !strings.Contains(out, "ermission denied") {
				t.Errorf("%s: refused for another reason: %s", attempt, out)
			}
		}
	}
}

func TestIdleWardenEndsAndABusyOneDoesNot(t *testing.T) {
	idle := 150 * time.Millisecond
	dir := t.TempDir()
	var w *Warden
	for {
		w = openWarden(t, Limits{Idle: idle})
		j, err := w.Start(bash(`setsid /bin/bash -c 'while [ ! -e "$0/go" ]; do sleep 0.01; done' "$1" & exit 0`, dir))
		if err == nil {
			finished(t, j)
			break
		}
		if !errors.Is(err, ErrGone) { // on a busy machine so much time can have passed
			t.Fatal(err)
		}
	}
	select {
	case <-w.Gone():
		t.Error("it ended while a process was left")
	case <-time.After(3 * idle):
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	<-w.Gone()
	if _, err := w.Start(bash("true")); !errors.Is(err, ErrGone) {
		t.Errorf("%v", err)
	}
	never := openWarden(t, Limits{Idle: -1})
	fresh := openWarden(t, Limits{Idle: idle})
	select {
	case <-fresh.Gone():
	case <-time.After(20 * time.Second):
		t.Error("a warden that was never used does not end")
	}
	if _, out := run(t, never, bash("echo here")); out != "here\n" {
		t.Error(out)
	}
}

func TestEmptyCountsWhatCommandsLeftBehind(t *testing.T) {
	w := openWarden(t, Limits{})
	if !w.Empty() {
		t.Error("not empty at first")
	}
	c, word := tree(t, `(env -i setsid bash -c 'exec -a "$0" sleep 300' "$W" &); exit 0`)
	j := start(t, w, c)
	finished(t, j)
	eventually(t, "the child runs", func() bool { return len(alive(t, word)) == 1 })
	if w.Empty() {
		t.Error("empty with a child")
	}
	for range 20 {
		run(t, w, bash("true"))
		if w.Empty() {
			t.Fatal("empty with a child, after another command")
		}
	}
	j.Kill(Cancelled)
	eventually(t, "empty", w.Empty)
}
