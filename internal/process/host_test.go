//go:build linux

package process

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// beHost is a program that starts commands and then ends in some way. Its
// arguments are the way, and one command line each.
func beHost(args []string) {
	self, _ := os.Executable()
	w, err := Open(context.Background(), Launch{Path: self, Args: []string{self, "be-init"}})
	if err != nil {
		fmt.Println("cannot open:", err)
		os.Exit(3)
	}
	fmt.Println("init", w.hostpid)
	for _, line := range args[1:] {
		c := bash(line)
		c.Env = append(c.Env, "W="+os.Getenv("W"))
		j, err := w.Start(c)
		if err != nil {
			fmt.Println("cannot start:", err)
			os.Exit(3)
		}
		for !strings.Contains(text(j), "ready") {
			time.Sleep(time.Millisecond)
		}
	}
	fmt.Println("ready")
	switch args[0] {
	case "wait":
		time.Sleep(time.Hour)
	case "panic":
		panic("on purpose")
	case "exit":
		os.Exit(0)
	case "leave":
		left, err := w.Leave()
		for _, l := range left {
			fmt.Println("left", l.Pid, l.Call, l.Command)
		}
		fmt.Println("done", err)
		os.Exit(0)
	}
}

type host struct {
	cmd   *exec.Cmd
	lines []string
	init  int
}

// startHost runs beHost until its commands run.
func startHost(t *testing.T, w string, args ...string) *host {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	h := &host{cmd: exec.Command(self, append([]string{"be-host"}, args...)...)}
	h.cmd.Env = append(os.Environ(), "W="+w)
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.cmd.Process.Kill(); _ = h.cmd.Wait() })
	s := bufio.NewScanner(out)
	for s.Scan() {
		h.lines = append(h.lines, s.Text())
		if n, err := fmt.Sscanf(s.Text(), "init %d", &h.init); n == 1 && err == nil {
			continue
		}
		if s.Text() == "ready" {
			return h
		}
	}
	t.Fatalf("the host did not get ready: %q", h.lines)
	return nil
}

func (h *host) gone(t *testing.T, word string) {
	t.Helper()
	var left []string
	var init error
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if left, init = alive(t, word), syscall.Kill(h.init, 0); len(left) == 0 && init != nil {
			return
		}
	}
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", h.init))
	t.Errorf("left: %q, the init: %v %s", left, init, stat)
}

var stubborn = []string{
	`trap '' TERM; setsid bash -c 'trap "" TERM HUP; sleep 300' & sleep 0.1; echo ready; sleep 300`,
	`(env -i /usr/bin/setsid /bin/bash -c 'exec -a "$0" sleep 300' "$W" & ) ; sleep 0.1; echo ready`,
	`nohup sleep 300 >/dev/null & echo ready`,
}

func TestNothingIsLeftHoweverTheHostEnds(t *testing.T) {
	for way, end := range map[string]func(*host){
		"killed":     func(h *host) { _ = h.cmd.Process.Kill() },
		"terminated": func(h *host) { _ = h.cmd.Process.Signal(syscall.SIGTERM) },
		"hung up":    func(h *host) { _ = h.cmd.Process.Signal(syscall.SIGHUP) },
		"panic":      func(*host) {},
		"exit":       func(*host) {},
		"stopped, then killed": func(h *host) {
			_ = h.cmd.Process.Signal(syscall.SIGSTOP)
			time.Sleep(50 * time.Millisecond)
			_ = h.cmd.Process.Kill()
		},
	} {
		t.Run(way, func(t *testing.T) {
			w := word(t)
			mode := "wait"
			if way == "panic" || way == "exit" {
				mode = way
			}
			h := startHost(t, w, append([]string{mode}, stubborn...)...)
			end(h)
			_ = h.cmd.Wait()
			h.gone(t, w)
		})
	}
}

// Children that end while the host does not read must be reaped, and the init
// must still notice its end.
func TestAHostThatDoesNotReadBlocksNoInit(t *testing.T) {
	w := word(t)
	h := startHost(t, w, "wait", `echo ready; while [ ! -e /proc/$PPID/stop ]; do (sleep 0.001 &) ; done`)
	_ = h.cmd.Process.Signal(syscall.SIGSTOP)
	time.Sleep(300 * time.Millisecond)
	// Without anybody who reaps there would be more and more of them.
	eventually(t, "dead children are reaped", func() bool {
		zombies := 0
		for _, pid := range descendants(h.init, nil) {
			if _, ok := readProc(pid); !ok {
				zombies++
			}
		}
		return zombies <= 20
	})
	_ = h.cmd.Process.Kill()
	_ = h.cmd.Wait()
	h.gone(t, w)
}

func TestClosingEndsEverythingAndSettlesEveryJob(t *testing.T) {
	w := openWarden(t, Limits{Grace: 100 * time.Millisecond})
	var jobs []*Job
	word := word(t)
	for _, line := range stubborn {
		c := bash(line)
		c.Env = append(c.Env, "W="+word)
		jobs = append(jobs, start(t, w, c))
		printed(t, jobs[len(jobs)-1], "ready")
	}
	finished(t, jobs[1])
	finished(t, jobs[2])
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if left := alive(t, word); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	if s := finished(t, jobs[0]); !s.Cancelled || s.Lost || s.Signal == 0 {
		t.Errorf("%+v", s)
	}
	if s := jobs[1].State(); s.Cancelled || s.Exit != 0 {
		t.Errorf("%+v", s)
	}
	if _, err := w.Start(bash("true")); !errors.Is(err, ErrGone) {
		t.Errorf("start after close: %v", err)
	}
	jobs[0].Kill(Cancelled) // must not block or panic
	if err := w.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
}

// Without a sandbox a command can end the init, or stop it.
func TestAnInitThatWasKilledLeavesNothing(t *testing.T) {
	w := openWarden(t, Limits{})
	word := word(t)
	c := bash(`(env -i /usr/bin/setsid /bin/bash -c 'exec -a "$0" sleep 300' "$W" & ) ; trap '' TERM; sleep 0.1; echo ready; sleep 300`)
	c.Env = append(c.Env, "W="+word)
	j := start(t, w, c)
	printed(t, j, "ready")
	dir := t.TempDir()
	start(t, w, bash(`while [ ! -e "$1/go" ]; do sleep 0.01; done; kill -KILL $PPID`, dir))
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if s := finished(t, j); !s.Lost || s.Exit != 137 {
		t.Errorf("%+v", s)
	}
	<-w.Gone()
	eventually(t, "nothing left", func() bool { return len(alive(t, word)) == 0 })
	if _, err := w.Start(bash("true")); !errors.Is(err, ErrGone) {
		t.Errorf("start: %v", err)
	}
}

// The caller must not run such a command again.
func TestACommandThatEndsTheInitAtOnceIsNotTakenForUnstarted(t *testing.T) {
	w := openWarden(t, Limits{})
	if _, err := w.Start(bash(`kill -KILL $PPID`)); errors.Is(err, ErrGone) {
		t.Errorf("%v", err)
	}
}

func TestAnInitThatWasStoppedStillEndsAJob(t *testing.T) {
	w := openWarden(t, Limits{Grace: 10 * time.Millisecond})
	j := start(t, w, bash(`kill -STOP $PPID; echo ready; sleep 300`))
	printed(t, j, "ready")
	j.Kill(Cancelled)
	finished(t, j)
}

func TestSignalsToTheInitDoNotEndIt(t *testing.T) {
	w := openWarden(t, Limits{})
	_, out := run(t, w, bash(`for s in HUP INT QUIT TERM PIPE USR1 USR2 TSTP; do kill -$s $PPID; done; sleep 0.05; echo still here`))
	if _, again := run(t, w, bash(`echo still here`)); out != "still here\n" || again != out {
		t.Errorf("%q %q", out, again)
	}
}

// What a program ignores its children ignore, too, unless somebody sees to it.
func TestAProgramStartedWithNohupPassesThatNotOn(t *testing.T) {
	needs(t, "nohup")
	self, _ := os.Executable()
	w := openLaunch(t, Launch{Path: "/usr/bin/env", Args: []string{"env", "nohup", self, "be-init"}, Env: []string{"PATH=/usr/bin:/bin"}})
	_, out := run(t, w, bash(`grep SigIgn /proc/self/status`))
	_, mask, _ := strings.Cut(strings.TrimSpace(out), "\t")
	ignored, err := strconv.ParseUint(mask, 16, 64)
	if err != nil {
		t.Fatalf("%q: %v", out, err)
	}
	for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGPIPE} {
		if ignored&(1<<(sig-1)) != 0 { // a C library may ignore numbers of its own
			t.Errorf("a command ignores %v: %s", sig, mask)
		}
	}
}

func TestOpenSaysWhatTheInitSaid(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	_, err := Open(ctx, Launch{Path: "/bin/sh", Args: []string{"sh", "-c", "echo no such luck >&2; exit 3"}})
	if err == nil || err.Error() != "/bin/sh did not become ready: no such luck" {
		t.Errorf("%v", err)
	}
	if _, err = Open(ctx, Launch{Path: "/no/such/init", Args: []string{"x"}}); err == nil {
		t.Error("opened nothing")
	}
	short, cancel2 := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel2()
	if _, err = Open(short, Launch{Path: "/bin/sleep", Args: []string{"sleep", "300"}}); err == nil || !strings.Contains(err.Error(), "deadline") {
		t.Errorf("%v", err)
	}
}

func TestAnInitWhoseRuntimeGivesUpSaysWhyInOneLine(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	script := `echo 'runtime: no new thread' >&2; echo 'fatal error: newosproc' >&2; echo >&2
echo 'goroutine 1 [running]:' >&2; i=0; while [ $i -lt 300 ]; do echo "main.main() x.go:$i +0x1d" >&2; i=$((i+1)); done; exit 2`
	_, err := Open(ctx, Launch{Path: "/bin/sh", Args: []string{"sh", "-c", script}})
	if err == nil || err.Error() != "/bin/sh did not become ready: runtime: no new thread fatal error: newosproc" {
		t.Errorf("%v", err)
	}
}

func TestWhatIsLeftUnsaidOfLimitsHasItsDefault(t *testing.T) {
	want := Limits{Grace: 500 * time.Millisecond, Idle: time.Minute, KeepFree: 1 << 30}
	if got := (Limits{}).orDefaults(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
