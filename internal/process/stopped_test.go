//go:build linux

package process

import (
	"errors"
	"fmt"
	"os"
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
	run(t, w, bash(`setsid sleep 300 & (setsid /bin/bash -c 'sleep 0.1; kill -STOP $0' $PPID &); sleep 0.05`))
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
	if _, err := w.Start(big(`sleep 300`)); err != nil && !errors.Is(err, ErrGone) {
		t.Errorf("%v", err)
	}
	j.Kill(Cancelled)
	finished(t, j)
	_ = w.Close()
	if l := alive(t, word); len(l) > 0 {
		t.Errorf("left: %q", l)
	}
}
