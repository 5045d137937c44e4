package shell

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

func TestACommandThatStopsTheInitHoldsNobodyUp(t *testing.T) {
	eachTier(t, func(t *testing.T, s *session) {
		s.says("kill -STOP $PPID; echo a", "a\n")
		s.call(args{"command": "sleep 0.3; kill -STOP $PPID; echo stopped > stopped; sleep 300", "background": true})
		s.says("until test -e stopped; do sleep 0.05; done; echo b", "b\n")
		s.call(args{"command": "kill -STOP $PPID; sleep 300", "background": true, "timeout": 1})
		if n := s.notice(); !strings.HasPrefix(n, "[background job b2 finished: timed out after 1s]") {
			t.Errorf("%q", n)
		}
		s.says("echo c", "c\n")
	}, func(o *Options) { // more than the init's socket holds
		for i := range 8 {
			o.Env = append(o.Env, fmt.Sprintf("JIG_TEST_BIG_%d=%s", i, strings.Repeat("x", 100<<10)))
		}
	})
}

// A command marks itself as another session's before it is ended.
func TestACommandTakesNoOtherSessionsCommandWithIt(t *testing.T) {
	eachTier(t, func(t *testing.T, s *session) {
		other := begin(t, in(s.tier))
		r := other.call(args{"command": "ulimit -SR > mark; exec sleep 300", "background": true})
		other.says("until test -s mark; do sleep 0.05; done", "[command produced no output]")
		mark, err := os.ReadFile(other.root + "/mark")
		s.must(err)
		if !regexp.MustCompile(`^\d{19}\n$`).Match(mark) {
			t.Fatalf("the mark is %q", mark)
		}
		got := s.call(args{"command": "(ulimit -SR " + string(mark[:19]) + "; sleep 300 & exec sleep 300) & wait", "timeout": 1})
		if !got.Failed {
			t.Errorf("%q", got.Blocks.Text())
		}
		if !other.Kill(r.Job) {
			t.Error("the other session's command had ended")
		}
	})
}
