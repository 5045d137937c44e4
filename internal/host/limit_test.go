package host_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"jig/internal/agent"
	"jig/internal/host"
	"jig/internal/model"
	"jig/internal/model/retry"
	"jig/internal/proto"
)

// screen is somebody who watches a session and writes down what it is shown of waits and ends.
type screen struct {
	mu    sync.Mutex
	lines []string
	waits bool // a wait is shown now
	start time.Time
}

func (s *screen) watch(t *testing.T, r *rig) {
	s.start = time.Now()
	go func() {
		for e := range r.h.Watch(t.Context(), r.id, 0) {
			line := ""
			if e.Key == proto.KeyWaiting {
				s.mu.Lock()
				s.waits = e.Now != nil
				s.mu.Unlock()
			}
			switch {
			case e.Key == proto.KeyWaiting && e.Now == nil:
				continue
			case e.Key == proto.KeyWaiting:
				w := e.Now.(proto.Waiting).Retry
				line = fmt.Sprintf("%s %s: %gs, try %d", w.Provider, w.Kind, w.Seconds, w.Try)
			default:
				end, ok := e.Fact.(proto.Ended)
				if !ok {
					continue
				}
				line = string(end.Why)
			}
			s.mu.Lock()
			s.lines = append(s.lines, time.Since(s.start).String()+" "+line)
			s.mu.Unlock()
		}
	}()
}

func (s *screen) seen() (lines []string, waits bool) {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lines, s.waits
}

// startPatient is a session with people whose turns ask again as a policy says.
func startPatient(t *testing.T, p retry.Policy, steps ...func(context.Context) (model.Reply, error)) *rig {
	t.Helper()
	r := &rig{h: host.New(), model: &script{steps: steps}, waiting: make(chan bool, 1), place: &place{}}
	table, err := agent.Bind(tools{r.waiting})
	if err != nil {
		t.Fatal(err)
	}
	r.id, err = r.h.Open(host.Setup{Began: proto.Began{Agent: "a", Provider: "p"}, Place: r.place,
		Turn: func(context.Context) (agent.Turn, error) {
			return agent.Turn{Model: r.model, Tools: table, Retry: p, Send: agent.Send{Provider: "p"}}, nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.h.Close() })
	return r
}

func TestASessionTriesAgainWhenTheLimitPassesAndCountsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, false, limited(75*time.Second), limited(0), says("through"))
		var s screen
		s.watch(t, r)
		r.do(t, proto.Submit{Text: "go"})
		facts := r.until(3, nil)
		want := []string{"0s failed", "0s  limit: 75s, try 0", "30s  limit: 45s, try 0", "1m0s  limit: 15s, try 0",
			"1m15s failed", "1m15s  limit: 60s, try 0", "1m45s  limit: 30s, try 0", "2m15s done"}
		lines, waits := s.seen()
		if d := cmp.Diff(want, lines); d != "" || waits {
			t.Error(waits, d)
		}
		said := 0
		for _, f := range facts {
			if x, ok := f.(proto.Said); ok && x.Message.Blocks.Text() == "go" {
				said++
			}
		}
		if said != 1 || r.last(2) != "go" {
			t.Errorf("the message was said %d times, and the last request ends with %q", said, r.last(2))
		}
		r.h.Close()
	})
}

// A wait that is short is part of the turn; one that is too long for that ends it, and the session
// asks again by itself when it is over.
func TestAShortLimitIsWaitedForInTheTurnAndALongOneAfterIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := retry.Default()
		p.MaxWait, p.Haste = 10*time.Minute, 2 // haste takes the chance out of the waits
		r := startPatient(t, p, calls("write"), limited(20*time.Second), limited(time.Hour), says("through"))
		var s screen
		s.watch(t, r)
		r.do(t, proto.Submit{Text: "go"})
		facts := r.until(2, func(f proto.Fact) {
			if a, ok := f.(proto.Asked); ok {
				r.do(t, proto.Answer{Call: a.Call, Choice: proto.Once})
			}
		})
		lines, waits := s.seen()
		begin, end := lines[:4], lines[len(lines)-1:]
		if d := cmp.Diff([]string{"0s p limit: 20s, try 2", "10s failed", "10s p limit: 3600s, try 0", "40s p limit: 3570s, try 0"}, begin); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff([]string{"1h0m10s done"}, end); d != "" || waits {
			t.Error(waits, d)
		}
		if results(facts) != "written" {
			t.Errorf("the call ran again: %s", results(facts))
		}
		r.h.Close()
	})
}

func TestEscOrStopWhileALimitIsWaitedForEndsTheWait(t *testing.T) {
	for name, c := range map[string]proto.Command{"esc": proto.Esc{}, "stop": proto.Stop{}} {
		synctest.Test(t, func(t *testing.T) {
			r := start(t, false, limited(time.Minute), says("after all"))
			var s screen
			s.watch(t, r)
			r.do(t, proto.Submit{Text: "go"})
			r.until(1, nil)
			time.Sleep(10 * time.Second)
			r.do(t, c)
			lines, waits := s.seen()
			if d := cmp.Diff([]string{"0s failed", "0s  limit: 60s, try 0"}, lines); d != "" || waits {
				t.Errorf("%s: %v %s", name, waits, d)
			}
			r.place.ends("b1") // a notice does not wake what a person has stopped
			time.Sleep(time.Hour)
			if n := len(r.model.sent); n != 1 {
				t.Errorf("%s: %d requests", name, n)
			}
			r.do(t, proto.Submit{Text: "now"})
			r.until(2, nil)
			if r.last(1) != "now" {
				t.Errorf("%s: %q", name, r.last(1))
			}
			r.h.Close()
		})
	}
}

func TestEscEndsTheTurnThatWaitsForItsProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startPatient(t, retry.Default(), limited(5*time.Minute), says("never"))
		var s screen
		s.watch(t, r)
		r.do(t, proto.Submit{Text: "go"})
		time.Sleep(7 * time.Second)
		r.do(t, proto.Esc{})
		lines, waits := s.seen()
		if len(lines) != 2 || !strings.HasPrefix(lines[0], "0s p limit: 3") || lines[1] != "7s interrupted" || waits {
			t.Errorf("%v %q", waits, lines)
		}
		time.Sleep(time.Hour)
		if len(r.model.sent) != 1 {
			t.Errorf("%d requests", len(r.model.sent))
		}
		r.h.Close()
	})
}

func TestAnOverloadWhoseEndIsKnownIsALimitToo(t *testing.T) {
	busy := func(after time.Duration) func(context.Context) (model.Reply, error) {
		return func(context.Context) (model.Reply, error) {
			return model.Reply{}, &model.Error{Kind: model.KindServer, After: after, Text: "overloaded"}
		}
	}
	synctest.Test(t, func(t *testing.T) {
		r := start(t, false, busy(20*time.Second), busy(0))
		r.do(t, proto.Submit{Text: "go"})
		r.until(2, nil)
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := len(r.model.sent); n != 2 {
			t.Errorf("%d requests: what is broken without an end in sight is a person's to try again", n)
		}
		r.h.Close()
	})
}

func TestALonelyRunEndsWithTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, true, limited(time.Minute), says("never"))
		r.do(t, proto.Submit{Text: "go"})
		r.until(1, nil)
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := len(r.model.sent); n != 1 {
			t.Errorf("%d requests", n)
		}
		r.h.Close()
	})
}
