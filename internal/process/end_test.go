//go:build linux

package process

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// trees are commands whose processes are hard to end. Each prints ready when
// all of them run; %s is the word they are found by.
var trees = map[string]string{
	"plain":                           `sleep 300 & sleep 300 & echo ready; wait`,
	"pipeline":                        `mkfifo "$1/p"; (while :; do echo c; sleep 0.05; done) > "$1/p" & echo ready; cat "$1/p" >/dev/null`,
	"own session":                     `setsid sleep 300 & sleep 0.1; echo ready; sleep 300`,
	"double fork":                     `(setsid bash -c 'sleep 300 & sleep 300' & ) ; sleep 0.1; echo ready; sleep 300`,
	"empty environment":               `(env -i /usr/bin/setsid /bin/bash -c 'sleep 300 & (sleep 300 &) ; exec -a "$0" sleep 300' "$W" & ) ; sleep 0.2; echo ready; sleep 300`,
	"ignores TERM":                    `trap '' TERM; (trap '' TERM; exec -a "$W" sleep 300) & setsid bash -c 'trap "" TERM; sleep 300' & sleep 0.1; echo ready; sleep 300`,
	"only the parent ends":            `bash -c 'trap "" TERM; while :; do sleep 0.01; done' & echo ready; sleep 300`,
	"stopped":                         `setsid sleep 300 & kill -STOP $!; (kill -STOP $BASHPID) & sleep 0.1; echo ready; sleep 300`,
	"always in execve":                `e() { exec /bin/bash -c 'exec /bin/bash "$0" "$W"' /dev/fd/9; }; echo 'exec /bin/bash "$0" "$1"' >"$1/again"; for i in 1 2 3 4; do /bin/bash "$1/again" "$W" & done; echo ready; wait`,
	"forks and forks":                 `f() { (sleep 0.005; f) & } ; f; f; f; sleep 0.1; echo ready; sleep 300`,
	"limits reset":                    `ulimit -R unlimited; setsid sleep 300 & (sleep 300 &) ; echo ready; sleep 300`,
	"limits reset, empty environment": `ulimit -R unlimited; env -i W="$W" sleep 300 & echo ready; exec -a "$W" sleep 300`,
	"many":                            `for i in $(seq 100); do sleep 300 & done; echo ready; wait`,
}

func tree(t *testing.T, line string) (Command, string) {
	w := word(t)
	c := bash(line, t.TempDir())
	c.Env = append(c.Env, "W="+w)
	return c, w
}

func TestCancelEndsTheWholeTree(t *testing.T) {
	w := openWarden(t, Limits{Grace: 200 * time.Millisecond})
	by, byWord := tree(t, `exec -a "$W" sleep 300`)
	bystander := start(t, w, by)
	for name, line := range trees {
		t.Run(name, func(t *testing.T) {
			c, word := tree(t, line)
			j := start(t, w, c)
			printed(t, j, "ready")
			if len(alive(t, word)) == 0 {
				t.Fatal("nothing runs")
			}
			j.Kill(Cancelled)
			s := finished(t, j)
			if left := alive(t, word); len(left) > 0 {
				t.Errorf("left: %q", left)
			}
			if !s.Cancelled || s.TimedOut || s.LogFull || s.Signal == 0 || s.Exit != 128+int(s.Signal) {
				t.Errorf("state %+v", s)
			}
		})
	}
	if s := bystander.State(); s.Ended || len(alive(t, byWord)) != 1 {
		t.Errorf("the bystander was hit: %+v", s)
	}
}

func TestTimeoutEndsTheWholeTreeAndKeepsTheOutput(t *testing.T) {
	w := openWarden(t, Limits{Grace: 100 * time.Millisecond})
	for _, name := range []string{"own session", "ignores TERM", "empty environment"} {
		for timeout := time.Second; ; timeout *= 2 {
			c, word := tree(t, trees[name])
			c.Timeout = timeout
			j := start(t, w, c)
			s := finished(t, j)
			if left := alive(t, word); len(left) > 0 {
				t.Errorf("%s: left: %q", name, left)
			}
			if !s.TimedOut || s.Cancelled || s.Took < c.Timeout {
				t.Errorf("%s: %+v", name, s)
			}
			if strings.Contains(text(j), "ready") {
				break
			}
			if timeout > time.Minute { // the machine is slow, but not as slow as that
				t.Errorf("%s: the output is %q", name, text(j))
				break
			}
		}
	}
}

func TestTermComesBeforeKill(t *testing.T) {
	w := openWarden(t, Limits{Grace: 20 * time.Second})
	j := start(t, w, bash(`trap 'echo cleaned up; exit 7' TERM; echo ready; while :; do sleep 0.01; done`))
	printed(t, j, "ready")
	j.Kill(Cancelled)
	if s := finished(t, j); s.Exit != 7 || s.Signal != 0 || !s.Cancelled || !strings.HasSuffix(text(j), "cleaned up\n") {
		t.Errorf("%+v %q", s, text(j))
	}
}

func TestKillAfterTheEndEndsWhatIsLeft(t *testing.T) {
	w := openWarden(t, Limits{})
	c, word := tree(t, `setsid sleep 300 & (env -i sleep 300 &) ; sleep 0.1; exit 4`)
	j := start(t, w, c)
	before := finished(t, j)
	j.Kill(Cancelled)
	eventually(t, "nothing left", func() bool { return len(alive(t, word)) == 0 && w.Empty() })
	if after := j.State(); after != before || after.Exit != 4 {
		t.Errorf("%+v became %+v", before, after)
	}
}

func TestSecondKillChangesNoReason(t *testing.T) {
	w := openWarden(t, Limits{})
	j := start(t, w, bash(`sleep 300`))
	j.Kill(TimedOut)
	j.Kill(Cancelled)
	if s := finished(t, j); !s.TimedOut || s.Cancelled {
		t.Errorf("%+v", s)
	}
}

// A signal is for the process that was looked at and not for the one that has
// its number by now: here, another start time under the same number.
func TestSignalNeverReachesARecycledNumber(t *testing.T) {
	w := openWarden(t, Limits{})
	j := start(t, w, bash(`echo ready; exec sleep 300`))
	printed(t, j, "ready")
	p, ok := readProc(j.HostPid())
	if !ok {
		t.Fatal("the process is not to be read")
	}
	tab := newTable(os.Getpid(), w.number)
	former := p
	former.start--
	tab.signal(former, unix.SIGKILL)
	time.Sleep(50 * time.Millisecond)
	if j.State().Ended {
		t.Fatal("the later process was ended")
	}
	tab.signal(p, unix.SIGKILL)
	if s := finished(t, j); s.Signal != syscall.SIGKILL {
		t.Errorf("%+v", s)
	}
}

func TestAdoptedProcessesAreReaped(t *testing.T) {
	w := openWarden(t, Limits{})
	run(t, w, bash(`for i in $(seq 50); do (setsid sleep 0.05 &) ; done`))
	eventually(t, "no process, dead or alive, under the init", func() bool { return len(descendants(w.hostpid, nil)) == 0 })
	eventually(t, "empty", w.Empty)
}

// The limit that marks commands must not stay on the init, or a warden inside a
// command would make its own processes look like another's.
func TestMarkIsOnCommandsOnly(t *testing.T) {
	w := openWarden(t, Limits{})
	j := start(t, w, bash(`exec sleep 300`))
	tab := newTable(0, w.number)
	if m := readMark(j.HostPid()); m != tab.markOf(j.id) {
		t.Errorf("the command's mark is %x", m)
	}
	if m := readMark(w.hostpid); m != readMark(os.Getpid()) {
		t.Errorf("the init's mark is %x", m)
	}
	if l := len(tab.look(scope{}, false)); l != 1 {
		t.Errorf("%d marked processes", l)
	}
}

func TestStatOfAProcessWithAStrangeName(t *testing.T) {
	line := func(name string) []byte {
		return fmt.Appendf(nil, "42 (%s) S 7 42 41 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 777 1 1", name)
	}
	for _, name := range []string{"x", "", ") Z 1 1 1", "a b) (c", "\n", "((((", "))))"} {
		p, ok := parseStat(line(name))
		if !ok || p.pid != 42 || p.ppid != 7 || p.sid != 41 || p.start != 777 || p.name != name {
			t.Errorf("%q: %+v %v", name, p, ok)
		}
	}
}

func FuzzStat(f *testing.F) {
	f.Add([]byte("42 (sh) S 7 42 41 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 777 1 1"))
	f.Add([]byte("1 (()) R"))
	f.Add([]byte(")("))
	f.Fuzz(func(t *testing.T, b []byte) {
		if p, ok := parseStat(b); ok && p.pid == 0 && len(b) < 30 {
			t.Errorf("%q gives %+v", b, p)
		}
	})
}
