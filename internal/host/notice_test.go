package host_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"jig/internal/model"
	"jig/internal/proto"
)

// last is the newest message of the n-th request.
func (r *rig) last(n int) string {
	r.model.mu.Lock()
	defer r.model.mu.Unlock()
	m := r.model.sent[n]
	return m[len(m)-1].Blocks.Text()
}

func limited(after time.Duration) func(context.Context) (model.Reply, error) {
	return func(context.Context) (model.Reply, error) {
		return model.Reply{}, &model.Error{Kind: model.KindLimit, After: after, Text: "too many requests"}
	}
}

func TestNoticeWakesAnIdleSessionOnce(t *testing.T) {
	r := start(t, false, says("started it"), says("noted"))
	r.do(t, proto.Submit{Text: "go"})
	r.until(1, nil)
	r.place.ends("b1")
	r.place.ends("b1") // delivered again after a reconnect
	facts := r.until(2, nil)
	if r.last(1) != "b1 ended" {
		t.Errorf("the model read %q", r.last(1))
	}
	notices := 0
	for _, f := range facts {
		if s, ok := f.(proto.Said); ok && s.Notice == "call-b1" {
			notices++
		}
	}
	if notices != 1 {
		t.Errorf("%d notices in the log", notices)
	}
}

func TestNoticeOfARunningTurnLandsAtTheNextRequest(t *testing.T) {
	r := start(t, false, calls("wait"), says("seen"))
	r.do(t, proto.Submit{Text: "go"})
	<-r.waiting
	r.place.ends("b1")
	r.do(t, proto.Esc{})
	facts := r.until(1, nil)
	if r.last(1) != "b1 ended" || len(facts) == 0 {
		t.Errorf("the model read %q", r.last(1))
	}
}

// After Esc the model is not woken by what it left running: the notice waits for a person.
func TestNoticeAfterAStoppedTurnIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, false, calls("wait"), says("both"))
		r.do(t, proto.Submit{Text: "go"})
		<-r.waiting
		r.do(t, proto.Stop{})
		r.until(1, nil)
		r.place.ends("b1")
		synctest.Wait()
		if n := len(r.model.sent); n != 1 {
			t.Fatalf("%d requests: the notice woke the model", n)
		}
		r.do(t, proto.Submit{Text: "go on"})
		r.until(2, nil)
		sent := r.model.sent[1]
		if got := sent[len(sent)-2].Blocks.Text() + "|" + sent[len(sent)-1].Blocks.Text(); got != "b1 ended|go on" {
			t.Error(got)
		}
		r.h.Close()
	})
}

func TestLimitedTurnHoldsNoticesUntilTheLimitPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, false, limited(40*time.Second), says("through"))
		begin := time.Now()
		r.do(t, proto.Submit{Text: "go"})
		facts := r.until(1, nil)
		if end := facts[len(facts)-1].(proto.Ended); !end.Limited || end.After != 40*time.Second {
			t.Fatalf("%+v", end)
		}
		r.place.ends("b1")
		time.Sleep(30 * time.Second)
		synctest.Wait()
		if len(r.model.sent) != 1 {
			t.Fatal("asked again before the limit passed")
		}
		r.until(2, nil)
		if d := time.Since(begin); d != 40*time.Second || r.last(1) != "b1 ended" {
			t.Errorf("asked again after %v with %q", d, r.last(1))
		}
		r.h.Close()
	})
}

func TestPersonNeedNotWaitForTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, false, limited(time.Hour), says("through"))
		begin := time.Now()
		r.do(t, proto.Submit{Text: "go"})
		r.until(1, nil)
		r.do(t, proto.Submit{Text: "now"})
		r.until(2, nil)
		if d := time.Since(begin); d != 0 || r.last(1) != "now" {
			t.Errorf("after %v: %q", d, r.last(1))
		}
		r.h.Close()
	})
}

// A run that nobody watches waits for its jobs and hands over what they report, each time with
// another request.
func TestLonelyRunWaitsForItsJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, true, says("left it running"), says("both seen"))
		r.place.jobs("b1", "b2")
		r.do(t, proto.Submit{Text: "go"})
		var waits []string
		done := make(chan bool)
		go func() {
			defer close(done)
			for e := range r.h.Watch(t.Context(), r.id, 0) {
				if w, ok := e.Now.(proto.Waiting); ok {
					waits = append(waits, time.Since(w.Since).String())
				}
				if _, ok := e.Fact.(proto.Ended); ok {
					return
				}
			}
		}()
		time.Sleep(70 * time.Second)
		synctest.Wait()
		if len(r.model.sent) != 1 {
			t.Fatalf("%d requests", len(r.model.sent))
		}
		r.place.ends("b1")
		r.place.jobs("b2")
		synctest.Wait()
		if len(r.model.sent) != 2 {
			t.Fatal("the notice was not handed over")
		}
		r.place.jobs()
		<-done
		if got := strings.Join(waits, " "); got != "30s 1m0s" {
			t.Errorf("said that it waits after %s", got)
		}
		r.h.Close()
	})
}

func TestWaitIsBoundedAndNamesWhatItKilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startWaiting(t, true, 10*time.Minute, says("started a server"))
		r.place.jobs("b1")
		r.do(t, proto.Submit{Text: "go"})
		facts := r.until(1, nil)
		end := facts[len(facts)-1].(proto.Ended)
		if end.Why != proto.Done || end.Note != "gave up waiting after 10m0s (--max-wait) and killed b1 (sleep b1)" {
			t.Errorf("%+v", end)
		}
		if notes := r.h.Close(); len(notes) != 1 || notes[0] != "b9 goes on" || !r.place.closed {
			t.Errorf("notes %q", notes)
		}
	})
}

func TestStopEndsARunThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, true, says("started a server"))
		r.place.jobs("b1")
		r.do(t, proto.Submit{Text: "go"})
		synctest.Wait()
		r.do(t, proto.Stop{})
		facts := r.until(1, nil)
		if end := facts[len(facts)-1].(proto.Ended); end.Why != proto.Interrupted {
			t.Errorf("%+v", end)
		}
		r.h.Close()
	})
}

func TestAPersonEndsTheJobsTheyName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, false)
		r.do(t, proto.Kill{Jobs: []string{"b1", "b3"}})
		if !slices.Equal(r.place.killed, []string{"b1", "b3"}) {
			t.Errorf("%q", r.place.killed)
		}
		err := r.h.Do(t.Context(), r.id, proto.Kill{Jobs: []string{"b2", "b9"}})
		if err == nil || err.Error() != "no job b9 is running" || len(r.place.killed) != 4 {
			t.Errorf("%v, %q", err, r.place.killed)
		}
		r.h.Close()
	})
}
