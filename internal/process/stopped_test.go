//go:build linux

package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Without a sandbox, or where it leaves the init in reach, a command can stop the init at any moment.
func TestAStoppedInitIsContinuedWithoutAnotherStart(t *testing.T) {
	w := openWarden(t, Limits{})
	for _, line := range []string{`kill -STOP $PPID; echo a`, `sleep 0.3; kill -STOP $PPID; echo a`, `(sleep 0.1; kill -STOP $PPID; kill -STOP $PPID) & echo a; wait`} {
		j := start(t, w, bash(line))
		if s := finished(t, j); s.Exit != 0 || s.Lost || text(j) != "a\n" {
			t.Errorf("%s: %+v, %q", line, s, text(j))
		}
	}
	// It also hears that the session is over.
	dir := t.TempDir()
	run(t, w, bash(`setsid sleep 300 & (setsid /bin/bash -c 'while [ ! -e "$1/go" ]; do sleep 0.01; done; kill -STOP $0' $PPID "$1" &)`, dir))
	eventually(t, "nothing is awaited of it, so that nobody continues it", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.awake == nil
	})
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is stopped", func() bool {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", w.hostpid))
		return strings.Contains(string(b), ") T ")
	})
	left, err := w.Leave()
	for _, l := range left {
		_ = syscall.Kill(l.HostPid, syscall.SIGKILL)
	}
	if err != nil || len(left) != 1 {
		t.Errorf("%+v, %v", left, err)
	}
	_, _ = syscall.Wait4(w.hostpid, nil, 0, nil) // it is our child
}

// big is a command whose order does not fit into the socket's buffer.
func big(line string) Command {
	c := bash(line)
	for i := range 24 {
		c.Env = append(c.Env, fmt.Sprintf("V%d=%s", i, strings.Repeat("v", 64<<10)))
	}
	return c
}

func TestAnOrderThatAStoppedInitDoesNotReadHoldsNobodyUp(t *testing.T) {
	w := openWarden(t, Limits{Grace: 100 * time.Millisecond})
	j := start(t, w, bash(`kill -STOP $PPID; echo ready; sleep 300`))
	printed(t, j, "ready")
	if s, out := run(t, w, big(`echo here`)); s.Exit != 0 || out != "here\n" {
		t.Errorf("%+v, %q", s, out)
	}
	// The end of a command is asked for while an order waits to be read.
	j2 := start(t, w, bash(`sleep 0.1; kill -STOP $PPID; echo ready; sleep 300`))
	printed(t, j2, "ready")
	started := make(chan error, 1)
	go func() {
		_, err := w.Start(big(`sleep 300`))
		started <- err
	}()
	j.Kill(TimedOut)
	j2.Kill(Cancelled)
	if s := finished(t, j); !s.TimedOut {
		t.Errorf("%+v", s)
	}
	if s := finished(t, j2); !s.Cancelled {
		t.Errorf("%+v", s)
	}
	if err := <-started; err != nil {
		t.Error(err)
	}
}

func TestAnInitThatIsStoppedAgainAndAgainEndsItsCommandsAllTheSame(t *testing.T) {
	w := openWarden(t, Limits{Grace: 100 * time.Millisecond})
	c, word := tree(t, `echo ready; while :; do kill -STOP $PPID; done`)
	j := start(t, w, c)
	printed(t, j, "ready")
	// What is true depends on how far the init comes between two signals: it has begun, the init has
	// been given up, or neither in all the time there is.
	if _, err := w.Start(big(`sleep 300`)); err != nil && !errors.Is(err, ErrGone) && !errors.Is(err, errLost) && !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%v", err)
	}
	j.Kill(Cancelled)
	finished(t, j)
	_ = w.Close()
	if l := alive(t, word); len(l) > 0 {
		t.Errorf("left: %q", l)
	}
}

// Whatever came next would be read as the rest of what was not sent.
func TestNothingIsSentAfterHalfAnOrder(t *testing.T) {
	w := openWarden(t, Limits{Grace: 100 * time.Millisecond})
	c, word := tree(t, `(env -i /usr/bin/setsid /bin/bash -c 'exec -a "$0" sleep 300' "$W" &); echo ready; sleep 300`)
	j := start(t, w, c)
	printed(t, j, "ready")
	w.sendLimit = time.Millisecond // so that the first attempt is the last, and it is not continued
	if err := syscall.Kill(w.hostpid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	w.mu.Lock()
	w.awake.Stop()
	w.mu.Unlock()
	if _, err := w.Start(big(`sleep 300`)); !errors.Is(err, ErrGone) {
		t.Errorf("half an order: %v", err)
	}
	if err := w.send(newFrame(msgLeave)); err == nil {
		t.Error("something follows half an order")
	}
	if s := finished(t, j); !s.Lost {
		t.Errorf("%+v", s)
	}
	<-w.Gone()
	if _, err := w.Start(bash(`true`)); !errors.Is(err, ErrGone) {
		t.Errorf("the next one: %v", err)
	}
	if l := alive(t, word); len(l) > 0 {
		t.Errorf("left: %q", l)
	}
}

// An init that takes a little now and then is not waited for any longer than one that takes nothing.
func TestAnInitThatReadsDropByDropIsGivenUp(t *testing.T) {
	orders, theirs, err := socketpair()
	if err != nil {
		t.Fatal(err)
	}
	conn, _, err := listener()
	if err != nil {
		t.Fatal(err)
	}
	init, err := os.StartProcess("/bin/sleep", []string{"sleep", "300"}, &os.ProcAttr{})
	if err != nil {
		t.Fatal(err)
	}
	w := &Warden{orders: orders, conn: conn, proc: init, sendLimit: 50 * time.Millisecond}
	closed := make(chan bool)
	go func() {
		defer close(closed)
		for b := make([]byte, 16<<10); ; time.Sleep(5 * time.Millisecond) {
			if n, _ := theirs.Read(b); n == 0 {
				return
			}
		}
	}()
	if err := w.send(make([]byte, 16<<20)); !errors.Is(err, ErrGone) {
		t.Errorf("%v", err)
	}
	if s, err := init.Wait(); err != nil || s.Success() {
		t.Errorf("the init was not ended: %v, %v", s, err)
	}
	<-closed
	_ = theirs.Close()
}
