//go:build linux

package process

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestCallReturnsAlthoughAGrandchildHoldsThePipe(t *testing.T) {
	w := openWarden(t, Limits{})
	for name, line := range map[string]string{
		"silent":       `sleep 300 & echo ok`,
		"printing":     `while :; do echo tick; sleep 0.01; done & sleep 0.1; echo ok`,
		"flooding":     `yes & sleep 0.1; echo ok >&2; kill -STOP $!; sleep 0.1; kill -CONT $!`,
		"own session":  `setsid sleep 300 & echo ok`,
		"double forks": `(setsid sleep 300 & sleep 0.05) & echo ok`,
	} {
		t.Run(name, func(t *testing.T) {
			j := start(t, w, bash(line))
			if s := finished(t, j); s.Exit != 0 || s.Signal != 0 || s.Cancelled || s.Took > 20*time.Second {
				t.Errorf("state %+v", s)
			}
			if name != "flooding" && !strings.Contains(text(j), "ok\n") {
				t.Errorf("printed %q", text(j))
			}
			if w.Empty() {
				t.Error("empty although a child is left")
			}
		})
	}
}

// What it printed last must be there, at once: many short commands whose last
// write is followed by their end.
func TestNothingThatACommandPrintedIsMissingWhenItIsDone(t *testing.T) {
	w := openWarden(t, Limits{})
	for i := range 60 {
		_, out := run(t, w, bash(`sleep 300 & head -c 20000 /dev/zero | tr '\0' x; echo; echo end >&2`))
		if len(out) != 20005 || !strings.HasSuffix(out, "x\nend\n") {
			t.Fatalf("run %d: %d bytes", i, len(out))
		}
	}
}

func TestOutputOfAChildIsKeptAfterTheCall(t *testing.T) {
	w := openWarden(t, Limits{})
	log := filepath.Join(t.TempDir(), "log")
	c := bash(`(while [ ! -e "$1/go" ]; do sleep 0.01; done; echo later) & echo first`, filepath.Dir(log))
	c.Log = log
	j := start(t, w, c)
	finished(t, j)
	if text(j) != "first\n" {
		t.Errorf("printed %q", text(j))
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(log), "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	printed(t, j, "first\nlater\n")
	if b, _ := os.ReadFile(log); string(b) != "first\nlater\n" {
		t.Errorf("the log has %q", b)
	}
}

func TestStandardInputIsEmptyEverywhere(t *testing.T) {
	w := openWarden(t, Limits{})
	for _, line := range []string{
		`cat; echo done`,
		`cat /dev/stdin; echo done`,
		`cat </dev/stdin; echo done`,
		`cat & wait; echo done`,
		`setsid cat /dev/stdin; echo done`,
		`grep x; echo done`,
		`read line || echo done`,
		`(cat | cat) ; echo done`,
	} {
		if _, out := run(t, w, bash(line)); out != "done\n" {
			t.Errorf("%s: printed %q", line, out)
		}
	}
}

func TestNoTerminalCanBeReached(t *testing.T) {
	w := openWarden(t, Limits{})
	s, out := run(t, w, bash(`: </dev/tty`))
	if s.Exit == 0 || !strings.Contains(out, "No such device") {
		t.Errorf("exit %d, %q", s.Exit, out)
	}
}

func TestReopeningStandardErrorTruncatesNothing(t *testing.T) {
	w := openWarden(t, Limits{})
	c := bash(`echo one; echo two >/dev/stderr; echo three >/dev/stdout; echo four >/proc/self/fd/1; echo five`)
	c.Log = filepath.Join(t.TempDir(), "log")
	_, out := run(t, w, c)
	want := "one\ntwo\nthree\nfour\nfive\n"
	log, _ := os.ReadFile(c.Log)
	if out != want || string(log) != want {
		t.Errorf("printed %q, logged %q", out, log)
	}
}

func TestExitCodesAndSignals(t *testing.T) {
	w := openWarden(t, Limits{})
	for line, want := range map[string]State{
		`exit 0`:                         {},
		`exit 3`:                         {Exit: 3},
		`exit 255`:                       {Exit: 255},
		`kill -TERM $$`:                  {Exit: 143, Signal: syscall.SIGTERM},
		`kill -KILL $$`:                  {Exit: 137, Signal: syscall.SIGKILL},
		`exit 137`:                       {Exit: 137},
		`echo out; echo err >&2; exit 1`: {Exit: 1},
	} {
		s, _ := run(t, w, bash(line))
		if s.Exit != want.Exit || s.Signal != want.Signal || !s.Ended || s.Cancelled || s.TimedOut || s.Lost {
			t.Errorf("%s: %+v", line, s)
		}
	}
}

func TestWhatCannotStartSaysWhy(t *testing.T) {
	w := openWarden(t, Limits{})
	dir := t.TempDir()
	gone := filepath.Join(dir, "gone")
	script := filepath.Join(dir, "script")
	plain := filepath.Join(dir, "plain")
	for name, s := range map[string]string{script: "#!/no/such/interpreter\n", plain: "#!/bin/sh\n"} {
		if err := os.WriteFile(name, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(script, 0o755); err != nil {
		t.Fatal(err)
	}
	argv := func(s ...string) Command { return Command{Argv: s, Dir: "/"} }
	vanished := bash("true")
	vanished.Dir = gone
	nodir := bash("true")
	nodir.Dir = plain
	for _, c := range []struct {
		cmd  Command
		err  error
		text string
	}{
		{argv("/no/such/program"), syscall.ENOENT, "/no/such/program: no such file or directory"},
		{argv(plain), syscall.EACCES, plain + ": permission denied"},
		{argv(dir), syscall.EACCES, dir + ": permission denied"},
		{argv(script), syscall.ENOENT, script + ": no such file or directory (the file is there, but not the interpreter it names)"},
		{vanished, syscall.ENOENT, "working directory " + gone + ": no such file or directory"},
		{nodir, syscall.ENOTDIR, "working directory " + plain + ": not a directory"},
		{argv("/bin/echo", "a\x00b"), syscall.EINVAL, "/bin/echo: invalid argument (a NUL byte in the command line, the environment or the working directory)"},
	} {
		c.cmd.Log = filepath.Join(dir, "log")
		_, err := w.Start(c.cmd)
		var start *StartError
		if !errors.As(err, &start) || !errors.Is(err, c.err) || err.Error() != c.text {
			t.Errorf("%q: %v", c.cmd.Argv, err)
		}
		if _, err := os.Stat(c.cmd.Log); err == nil {
			t.Error("a log of nothing is left")
		}
	}
	eventually(t, "empty after failures", w.Empty)
	if _, out := run(t, w, bash("echo fine")); out != "fine\n" {
		t.Errorf("after the failures: %q", out)
	}
	if _, err := w.Start(Command{}); err == nil {
		t.Error("nothing was started")
	}
}

func TestAVanishedDirectoryHurtsOnlyCommandsInIt(t *testing.T) {
	w := openWarden(t, Limits{})
	dir := filepath.Join(t.TempDir(), "d")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	c := bash(`rmdir "$PWD"; echo gone`)
	c.Dir = dir
	if _, out := run(t, w, c); out != "gone\n" {
		t.Fatal(out)
	}
	if _, err := w.Start(c); err == nil || !strings.HasPrefix(err.Error(), "working directory ") {
		t.Errorf("in it: %v", err)
	}
	if s, out := run(t, w, bash(`cd /tmp && pwd`)); s.Exit != 0 || out != "/tmp\n" {
		t.Errorf("elsewhere: %q", out)
	}
}

func TestEnvironmentIsExactlyWhatWasGiven(t *testing.T) {
	w := openWarden(t, Limits{})
	c := Command{Argv: []string{"/usr/bin/env", "-0"}, Env: []string{"A=1", "B=\xff\n2", "JIG_CALL=somebody else"}, Dir: "/", Call: "call.7"}
	_, out := run(t, w, c)
	got := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	if len(got) != 3 || got[0] != "A=1" || got[1] != "B=\xff\n2" || !strings.HasPrefix(got[2], "JIG_CALL=call.7.") {
		t.Errorf("%q", got)
	}
}

func TestCommandsInheritNoDescriptor(t *testing.T) {
	// Descriptors without the close-on-exec flag, as a shell leaves them.
	var p [2]int
	if err := syscall.Pipe(p[:]); err != nil {
		t.Fatal(err)
	}
	high, _, e := syscall.Syscall(syscall.SYS_FCNTL, uintptr(p[0]), syscall.F_DUPFD, 250)
	if e != 0 {
		t.Fatal(e)
	}
	w := openWarden(t, Limits{})
	_, out := run(t, w, bash(`ls -1 /proc/self/fd | tr '\n' ' '`))
	if out != "0 1 2 3 " { // 3 is the directory ls reads
		t.Errorf("a command has descriptors %s", out)
	}
	// Nor may the init keep them: whoever reads from this pipe would wait for ever.
	_ = syscall.Close(p[1])
	got := make(chan bool, 1)
	go func() {
		n, _ := syscall.Read(p[0], make([]byte, 1))
		got <- n == 0
	}()
	select {
	case ok := <-got:
		if !ok {
			t.Error("no end of file")
		}
	case <-time.After(10 * time.Second):
		t.Error("the init holds an inherited pipe open")
		w.Close()
		<-got
	}
	_ = syscall.Close(p[0])
	_ = syscall.Close(int(high))
}

func TestSeveralCommandsSeeEachOther(t *testing.T) {
	w := openWarden(t, Limits{})
	j := start(t, w, bash(`trap 'echo heard; exit 5' USR1; echo ready; while :; do sleep 0.01; done`))
	printed(t, j, "ready")
	if s, out := run(t, w, bash(`kill -USR1 "$1"`, itoa(j.Pid()))); s.Exit != 0 {
		t.Fatal(out)
	}
	if s := finished(t, j); s.Exit != 5 || !strings.HasSuffix(text(j), "heard\n") {
		t.Errorf("%+v %q", s, text(j))
	}
	if j.HostPid() != j.Pid() {
		t.Errorf("pid %d, on the machine %d", j.Pid(), j.HostPid())
	}
}

func TestOutputOfARunningCommandEndsOnARune(t *testing.T) {
	w := openWarden(t, Limits{})
	j := start(t, w, bash(`printf 'a\xe2\x82'; sleep 300`))
	printed(t, j, "a")
	eventually(t, "three bytes", func() bool { return j.out.output().Bytes == 3 })
	if o := j.Output(); !bytes.Equal(o.Head, []byte("a")) || o.Bytes != 1 {
		t.Errorf("%q %d", o.Head, o.Bytes)
	}
	j.Kill(Cancelled)
	finished(t, j)
	if text(j) != "a\xe2\x82" { // it is not going to be completed
		t.Errorf("%q", text(j))
	}
}
