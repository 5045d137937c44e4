//go:build linux

package process

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Marks are no secret and anybody can give itself any: that must not make one command's end another
// one's, whichever session that belongs to.
func TestAForgedMarkEndsNobodyElse(t *testing.T) {
	victims, w := openWarden(t, Limits{}), openWarden(t, Limits{Grace: 200 * time.Millisecond})
	theirs, victim := tree(t, `(env -i /usr/bin/setsid /bin/bash -c 'exec -a "$0" sleep 300' "$W" & ); sleep 0.1; echo ready; sleep 300`)
	other := start(t, victims, theirs)
	printed(t, other, "ready")
	eventually(t, "both run", func() bool { return len(alive(t, victim)) == 2 })
	before := alive(t, victim)
	// Another call of the same session, with a whole session in it.
	self, _ := os.Executable()
	inner := word(t) + "inner"
	sibling := start(t, w, Command{Argv: []string{self, "be-host", "wait", stubborn[1]}, Env: []string{"PATH=/usr/bin:/bin", "W=" + inner}, Dir: "/"})
	eventually(t, "the inner one is ready", func() bool { return strings.HasSuffix(text(sibling), "\nready\n") })
	var init int
	_, _ = fmt.Sscanf(text(sibling), "init %d", &init)
	eventually(t, "of the inner one there are its program and what detached itself", func() bool { return len(alive(t, inner)) == 2 })
	innerBefore := alive(t, inner)
	if init == 0 {
		t.Fatalf("%q", text(sibling))
	}
	marks := []uint64{readMark(other.HostPid()), baseOf(numberOf(init)) + 1, baseOf(numberOf(victims.hostpid)) + 1}
	for _, mark := range marks {
		for name, line := range map[string]string{
			"on the command":   `ulimit -SR %d; sleep 300 & echo ready; sleep 300`,
			"on a child":       `(ulimit -SR %d; exec sleep 300) & sleep 0.1; echo ready; sleep 300`,
			"on a detached":    `(ulimit -SR %d; exec setsid sleep 300) & sleep 0.1; echo ready; sleep 300`,
			"on a false init":  `(ulimit -SR %d; exec -a jig /bin/bash -c 'echo -n jig-warden > /proc/$$/comm; sleep 300') & sleep 0.1; echo ready; sleep 300`,
			"two generations":  `(ulimit -SR %d; (sleep 300 & sleep 300) & sleep 300) & sleep 0.1; echo ready; sleep 300`,
			"and the variable": `ulimit -SR %d; export JIG_CALL=` + other.mark + `; setsid sleep 300 & echo ready; exec sleep 300`,
		} {
			c, mine := tree(t, fmt.Sprintf(line, mark))
			j := start(t, w, c)
			printed(t, j, "ready")
			j.Kill(TimedOut)
			finished(t, j)
			if l := alive(t, mine); len(l) > 0 {
				t.Errorf("%s: left: %q", name, l)
			}
			if now := alive(t, victim); len(now) != len(before) || other.State().Ended {
				t.Fatalf("%s: of another session's command there is %q, before %q", name, now, before)
			}
			if now := alive(t, inner); len(now) != len(innerBefore) || sibling.State().Ended {
				t.Fatalf("%s: of another call there is %q, before %q", name, now, innerBefore)
			}
		}
	}
	sibling.Kill(Cancelled)
	finished(t, sibling)
	if l := alive(t, inner); len(l) > 0 {
		t.Errorf("left: %q", l)
	}
}

// Whoever looks like a part of another session is in the list of what goes on all the same.
func TestWhatPretendsToBeAnInitIsListed(t *testing.T) {
	victims := openWarden(t, Limits{})
	other := start(t, victims, bash(`sleep 300`))
	w := openWarden(t, Limits{Grace: 200 * time.Millisecond})
	word := word(t)
	c := bash(`
setsid /bin/bash -c 'echo -n jig-warden > /proc/$$/comm; while :; do sleep 300; done' &
(ulimit -SR `+fmt.Sprint(readMark(other.HostPid()))+`; exec setsid sleep 300) &
setsid sleep 300 & echo ready`, word)
	c.Env = append(c.Env, "W="+word)
	j := start(t, w, c)
	printed(t, j, "ready")
	finished(t, j)
	var going []string
	eventually(t, "all have come as far as their last program", func() bool {
		going = alive(t, word)
		last := slices.DeleteFunc(slices.Clone(going), func(l string) bool { return !strings.HasSuffix(strings.TrimSpace(l), " sleep 300") })
		return len(going) == 4 && len(last) == 3
	})
	left, err := w.Leave()
	for _, l := range left {
		t.Cleanup(func() { _ = syscall.Kill(l.HostPid, syscall.SIGKILL) })
	}
	if err != nil || len(left) != len(going) || len(left) != 4 {
		t.Errorf("%q go on, told are %+v, %v", going, left, err)
	}
	for _, l := range left {
		_ = syscall.Kill(l.HostPid, syscall.SIGKILL)
	}
	eventually(t, "nothing left", func() bool {
		_, _ = syscall.Wait4(w.hostpid, nil, syscall.WNOHANG, nil) // it is our child
		return len(alive(t, word)) == 0 && syscall.Kill(w.hostpid, 0) != nil
	})
}
