//go:build linux

package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// What ends and what goes on at an orderly exit.
func TestLeaveSparesWhatDetachedItselfAndEndsTheRest(t *testing.T) {
	needs(t, "nohup")
	w := openWarden(t, Limits{Grace: 300 * time.Millisecond})
	dir := t.TempDir()
	lines := map[string]string{
		"nohup":              `nohup "$S" >/dev/null 2>&1 & echo ready`,
		"setsid":             `setsid "$S" & sleep 0.1; echo ready`,
		"double fork":        `(setsid bash -c '"$S" & exit' &) ; sleep 0.2; echo ready`,
		"nohup job":          `echo ready; exec nohup "$S" >/dev/null 2>&1`,
		"background":         `"$S" & echo ready`,
		"running job":        `echo ready; exec "$S"`,
		"running job of two": `trap "" TERM; "$S" & echo ready; wait; "$S"`,
	}
	spares := []string{"double fork", "nohup", "nohup job", "setsid"}
	jobs, words := map[string]*Job{}, map[string]string{}
	for name, line := range lines {
		words[name] = word(t) + strings.ReplaceAll(name, " ", "_")
		script := filepath.Join(dir, words[name])
		if err := os.Symlink("/bin/sleep", script); err != nil {
			t.Fatal(err)
		}
		c := bash(strings.ReplaceAll(line, `"$S"`, script+" 300"))
		c.Call = name
		jobs[name] = start(t, w, c)
		printed(t, jobs[name], "ready")
	}
	eventually(t, "all run", func() bool {
		for name := range lines {
			// Also the program that is to detach it has its name in the arguments.
			itself := func(l string) bool { return strings.HasSuffix(strings.Fields(l)[1], "/"+words[name]) }
			if !slices.ContainsFunc(alive(t, "/"+words[name]+"\x00300"), itself) {
				return false
			}
		}
		return true
	})
	left, err := w.Leave()
	if err != nil {
		t.Fatal(err)
	}
	var calls []string
	for _, l := range left {
		t.Cleanup(func() { _ = syscall.Kill(l.Pid, syscall.SIGKILL) })
		calls = append(calls, l.Call)
		if !strings.Contains(l.Command, words[l.Call]+" 300") || l.HostPid != l.Pid {
			t.Errorf("told %+v", l)
		}
	}
	slices.Sort(calls)
	if !slices.Equal(calls, spares) {
		t.Errorf("spared %q", calls)
	}
	for name, word := range words {
		n := len(alive(t, "/"+word+"\x00300"))
		if want := slices.Contains(spares, name); want != (n > 0) {
			t.Errorf("%s: %d run", name, n)
		}
	}
	if s := finished(t, jobs["running job"]); !s.Cancelled || s.Signal != syscall.SIGTERM {
		t.Errorf("%+v", s)
	}
	if _, err := w.Start(bash("true")); !errors.Is(err, ErrGone) {
		t.Errorf("start after leaving: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Errorf("close after leaving: %v", err)
	}
	for _, l := range left {
		_ = syscall.Kill(l.Pid, syscall.SIGKILL)
	}
	eventually(t, "the init ends with the last of them", func() bool {
		var ws syscall.WaitStatus
		_, _ = syscall.Wait4(w.hostpid, &ws, syscall.WNOHANG, nil) // it is our child
		return syscall.Kill(w.hostpid, 0) != nil
	})
}

func TestOutputOfTheSparedIsStillDrained(t *testing.T) {
	w := openWarden(t, Limits{})
	dir := t.TempDir()
	c := bash(`setsid bash -c 'echo first; while [ ! -e "$1/go" ]; do sleep 0.01; done; head -c 1000000 /dev/zero | tr "\0" x; echo; echo last; touch "$1/done"' x "$1" & exit 0`, dir)
	c.Log = filepath.Join(dir, "log")
	j := start(t, w, c)
	finished(t, j)
	printed(t, j, "first\n")
	left, err := w.Leave()
	if err != nil || len(left) == 0 {
		t.Fatal(left, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it gets to its end without us", func() bool {
		_, err := os.Stat(filepath.Join(dir, "done"))
		return err == nil
	})
	eventually(t, "all of it in the log", func() bool {
		b, _ := os.ReadFile(c.Log)
		return len(b) == 1000012 && strings.HasPrefix(string(b), "first\n") && strings.HasSuffix(string(b), "x\nlast\n")
	})
	_, _ = syscall.Wait4(w.hostpid, nil, 0, nil)
}

func TestLeaveWithNothingDetachedIsAClose(t *testing.T) {
	w := openWarden(t, Limits{})
	c, word := tree(t, `sleep 300 & echo ready; sleep 300`)
	j := start(t, w, c)
	printed(t, j, "ready")
	left, err := w.Leave()
	if err != nil || len(left) > 0 || len(alive(t, word)) > 0 {
		t.Errorf("%v %v %q", left, err, alive(t, word))
	}
	if s := finished(t, j); !s.Cancelled || s.Lost {
		t.Errorf("%+v", s)
	}
	if syscall.Kill(w.hostpid, 0) == nil {
		t.Error("the init is there")
	}
}

// Of two programs one in the other's command, only the outer one leaves.
func TestLeaveEndsAnInnerProgramAndAllItStarted(t *testing.T) {
	w := openWarden(t, Limits{Grace: 20 * time.Second}) // the inner one has that long to end
	word := word(t)
	self, _ := os.Executable()
	c := Command{Argv: []string{self, "be-host", "wait", stubborn[0], stubborn[1]}, Env: []string{"PATH=/usr/bin:/bin", "W=" + word}, Dir: "/"}
	j := start(t, w, c)
	eventually(t, "the inner one is ready", func() bool { return strings.HasSuffix(text(j), "\nready\n") })
	left, err := w.Leave()
	if err != nil || len(left) > 0 {
		t.Errorf("%+v %v", left, err)
	}
	eventually(t, "nothing left", func() bool { return len(alive(t, word)) == 0 })
}

func TestCancelEndsAnInnerProgramAndAllItStarted(t *testing.T) {
	w := openWarden(t, Limits{})
	word := word(t)
	self, _ := os.Executable()
	c := Command{Argv: []string{self, "be-host", "wait", stubborn[0], stubborn[1]}, Env: []string{"PATH=/usr/bin:/bin", "W=" + word}, Dir: "/"}
	j := start(t, w, c)
	eventually(t, "the inner one is ready", func() bool { return strings.HasSuffix(text(j), "\nready\n") })
	j.Kill(Cancelled)
	finished(t, j)
	if l := alive(t, word); len(l) > 0 {
		t.Errorf("left %q", l)
	}
}

func TestAProgramThatLeavesSaysWhatGoesOn(t *testing.T) {
	word := word(t)
	h := startHost(t, word, "leave", `(env -i /usr/bin/setsid /bin/bash -c 'exec -a "$0" sleep 300' "$W" & ) ; sleep 0.1; echo ready`)
	_ = h.cmd.Wait()
	l := alive(t, word)
	var pid int
	if len(l) != 1 {
		t.Fatalf("%q go on", l)
	}
	_, _ = fmt.Sscan(l[0], &pid)
	_ = syscall.Kill(pid, syscall.SIGKILL)
	h.gone(t, word)
}
