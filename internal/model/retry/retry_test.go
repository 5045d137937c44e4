package retry_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"jig/internal/model"
	"jig/internal/model/retry"
	"jig/internal/msg"
)

// step is what one try comes to, after a time.
type step struct {
	text  string // told before the end
	takes time.Duration
	err   error
}

// scripted plays steps and remembers when each was asked for.
type scripted struct {
	mu    sync.Mutex
	steps []step
	last  step // when there is no step left
	at    []time.Duration
	start time.Time
	sent  []model.Request
}

func (s *scripted) Stream(ctx context.Context, r model.Request, tell func(model.Delta)) (model.Reply, error) {
	s.mu.Lock()
	st := s.last
	if len(s.steps) > 0 {
		st, s.steps = s.steps[0], s.steps[1:]
	}
	s.at = append(s.at, time.Since(s.start))
	r.Heard = nil // of each try its own
	s.sent = append(s.sent, r)
	s.mu.Unlock()
	if st.text != "" {
		tell(model.Delta{Text: st.text})
	}
	reply := model.Reply{Blocks: msg.Blocks{msg.Text{Text: st.text}, msg.Call{Name: "f", Args: "{}"}}}
	select {
	case <-time.After(st.takes):
	case <-ctx.Done():
		return reply, ctx.Err()
	}
	return reply, st.err
}

func fault(k model.Kind, after time.Duration) error {
	return &model.Error{Kind: k, After: after, Text: "it broke"}
}

// play runs a script under a policy, with fake time.
func play(t *testing.T, p retry.Policy, last step, steps []step, check func(s *scripted, waits []retry.Wait, told []model.Delta, reply model.Reply, err error)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{steps: steps, last: last, start: time.Now()}
		var waits []retry.Wait
		var told []model.Delta
		m := retry.New(s, p, func(w *retry.Wait) {
			if w != nil {
				waits = append(waits, *w)
			}
		})
		reply, err := m.Stream(t.Context(), model.Request{Model: "m"}, func(d model.Delta) { told = append(told, d) })
		check(s, waits, told, reply, err)
	})
}

// between checks that a wait is a time less the share left to chance.
func between(t *testing.T, what string, got, most time.Duration) {
	t.Helper()
	if got > most || got < most-most/4 {
		t.Errorf("%s: waited %v, want at most %v and little less", what, got, most)
	}
}

func TestWhatPassesIsTriedAgainAndWhatDoesNotIsFinal(t *testing.T) {
	final := &model.Error{Kind: model.KindLimit, Text: "never", Final: true}
	for name, c := range map[string]struct {
		err   error
		tries int
	}{
		"limit": {fault(model.KindLimit, 0), 13}, "server": {fault(model.KindServer, 0), 13}, "network": {fault(model.KindNetwork, 0), 5},
		"auth": {fault(model.KindAuth, 0), 1}, "request": {fault(model.KindRequest, 0), 1}, "overflow": {fault(model.KindOverflow, 0), 1},
		"quota": {fault(model.KindQuota, time.Second), 1}, "protocol": {fault(model.KindProtocol, 0), 1}, "final": {final, 1}, "ours": {errors.New("a bug"), 1},
	} {
		play(t, retry.Default(), step{err: c.err}, nil, func(s *scripted, _ []retry.Wait, _ []model.Delta, _ model.Reply, err error) {
			if len(s.at) != c.tries || err == nil {
				t.Errorf("%s: %d tries, want %d: %v", name, len(s.at), c.tries, err)
			}
			if c.tries > 1 && !strings.HasSuffix(err.Error(), fmt.Sprintf("it broke (gave up after %d tries)", c.tries)) {
				t.Errorf("%s: %v", name, err)
			}
			if c.tries == 1 && !errors.Is(err, c.err) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

func TestTheZeroPolicyTriesOnce(t *testing.T) {
	play(t, retry.Policy{}, step{err: fault(model.KindLimit, time.Second)}, nil, func(s *scripted, waits []retry.Wait, _ []model.Delta, _ model.Reply, err error) {
		if len(s.at) != 1 || waits != nil || err.Error() != "it broke" {
			t.Errorf("%d tries, %v, %v", len(s.at), waits, err)
		}
	})
}

func TestWaitsGrowAndStopGrowing(t *testing.T) {
	play(t, retry.Default(), step{err: fault(model.KindServer, 0)}, nil, func(s *scripted, waits []retry.Wait, _ []model.Delta, _ model.Reply, _ error) {
		want := 500 * time.Millisecond
		for i := 1; i < len(s.at); i++ {
			between(t, "server", s.at[i]-s.at[i-1], want)
			want = min(2*want, time.Minute)
		}
		if total := s.at[len(s.at)-1]; total > 7*time.Minute || total < 4*time.Minute {
			t.Errorf("%v in all", total)
		}
		if w := waits[0]; w.Try != 2 || w.Tries != 13 || w.Why.Text != "it broke" || w.Until.Sub(w.Since) != w.Left {
			t.Errorf("%+v", w)
		}
	})
}

// Twelve overloads in a row are a bad quarter of an hour, not the end of a session.
func TestALongOverloadIsSurvived(t *testing.T) {
	var steps []step
	for range 12 {
		steps = append(steps, step{err: &model.Error{Kind: model.KindServer, Status: 529, Text: "Overloaded"}})
	}
	p := retry.Default()
	p.MaxWait = 10 * time.Minute
	play(t, p, step{text: "through"}, steps, func(s *scripted, _ []retry.Wait, _ []model.Delta, reply model.Reply, err error) {
		if err != nil || reply.Blocks.Text() != "through" || len(s.at) != 13 {
			t.Errorf("%v after %d tries", err, len(s.at))
		}
	})
}

func TestTheProvidersWordIsWaitedForAndNotCounted(t *testing.T) {
	p := retry.Default()
	var steps []step
	for range 30 {
		steps = append(steps, step{err: fault(model.KindLimit, 40*time.Second)})
	}
	play(t, p, step{text: "ok"}, steps, func(s *scripted, waits []retry.Wait, _ []model.Delta, _ model.Reply, err error) {
		if err != nil || len(s.at) != 31 {
			t.Fatalf("%v after %d tries", err, len(s.at))
		}
		for i := 1; i < len(s.at); i++ {
			if d := s.at[i] - s.at[i-1]; d < 40*time.Second || d > 45*time.Second {
				t.Errorf("waited %v", d)
			}
		}
		if waits[0].Tries != 0 {
			t.Errorf("%+v", waits[0])
		}
	})
}

func TestAProviderThatAlwaysSaysAMomentIsNotStormed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{last: step{err: fault(model.KindLimit, time.Millisecond)}, start: time.Now()}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		_, err := retry.New(s, retry.Default(), nil).Stream(ctx, model.Request{}, nil)
		if !errors.Is(err, context.DeadlineExceeded) || len(s.at) > 400 {
			t.Errorf("%d requests in an hour: %v", len(s.at), err)
		}
	})
}

func TestMaxWaitBoundsEverythingThatIsWaited(t *testing.T) {
	for name, c := range map[string]struct {
		last  step
		tries int
		says  string
		takes time.Duration
	}{
		"too long at once":   {step{err: fault(model.KindLimit, time.Hour)}, 1, "it broke (it says to wait 1h0m0s; 10m0s is the longest that is waited, see --max-wait)", 0},
		"too long in sum":    {step{err: fault(model.KindLimit, 4*time.Minute)}, 3, "it broke (gave up after 3 tries; it says to wait 4m0s; 10m0s is the longest that is waited, see --max-wait)", 9 * time.Minute},
		"tries count":        {step{takes: 5 * time.Minute, err: fault(model.KindNetwork, 0)}, 3, "it broke (gave up after 3 tries; 10m0s is the longest that is waited, see --max-wait)", 15*time.Minute + 2*time.Second},
		"what came does not": {step{text: "a", takes: 0, err: fault(model.KindNetwork, 0)}, 5, "it broke (gave up after 5 tries)", 8 * time.Second},
	} {
		p := retry.Default()
		p.MaxWait, p.Bound = 10*time.Minute, "--max-wait"
		play(t, p, c.last, nil, func(s *scripted, _ []retry.Wait, _ []model.Delta, _ model.Reply, err error) {
			if len(s.at) != c.tries || err == nil || err.Error() != c.says {
				t.Errorf("%s: %d tries: %v", name, len(s.at), err)
			}
			if took := time.Since(s.start); took > c.takes {
				t.Errorf("%s: took %v", name, took)
			}
			var e *model.Error
			if name == "too long at once" && (!errors.As(err, &e) || e.After != time.Hour || e.Kind != model.KindLimit) {
				t.Errorf("what the host needs is lost: %+v", e)
			}
		})
	}
}

func TestAWaitIsShownAtOnceCountedDownAndTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		s := &scripted{steps: []step{{takes: 7 * time.Second, err: fault(model.KindLimit, 100*time.Second)}}, last: step{text: "ok"}, start: start}
		var shown []string
		m := retry.New(s, retry.Default(), func(w *retry.Wait) {
			at := time.Since(start).Round(time.Second).String()
			if w == nil {
				shown = append(shown, "over")
				return
			}
			if w.Since != start.Add(7*time.Second) || w.Until.Before(start.Add(107*time.Second)) {
				t.Errorf("%+v", w)
			}
			shown = append(shown, at)
			if left := time.Until(w.Until); left != w.Left {
				t.Errorf("%v left, said %v", left, w.Left)
			}
		})
		if _, err := m.Stream(t.Context(), model.Request{}, nil); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]string{"7s", "37s", "1m7s", "1m37s", "over"}, shown); d != "" {
			t.Error(d)
		}
	})
}

func TestCancellingEndsAWaitAtOnceAndKeepsWhatWasSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{steps: []step{{text: "half", err: fault(model.KindNetwork, 0)}, {text: "half an answer", err: fault(model.KindLimit, time.Hour)}}, start: time.Now()}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		over := 0
		reply, err := retry.New(s, retry.Default(), func(w *retry.Wait) {
			if w == nil {
				over++
			}
		}).Stream(ctx, model.Request{}, nil)
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(s.start) != time.Minute || reply.Blocks.Text() != "half an answer" || over != 2 {
			t.Errorf("%v after %v, %q, %d", err, time.Since(s.start), reply.Blocks.Text(), over)
		}
	})
}

// What a try told is void only when the next one begins, and only when it told anything.
func TestAPartOfAnAnswerIsTakenBackBeforeTheNextTry(t *testing.T) {
	steps := []step{{text: "one", err: fault(model.KindNetwork, 0)}, {err: fault(model.KindNetwork, 0)}, {text: "two", err: fault(model.KindServer, 0)}}
	play(t, retry.Default(), step{text: "whole"}, steps, func(s *scripted, _ []retry.Wait, told []model.Delta, reply model.Reply, err error) {
		want := []model.Delta{{Text: "one"}, {Reset: true}, {Text: "two"}, {Reset: true}, {Text: "whole"}}
		if d := cmp.Diff(want, told); err != nil || d != "" || reply.Blocks.Text() != "whole" || len(reply.Blocks) != 2 {
			t.Errorf("%v %+v\n%s", err, reply, d)
		}
		for _, r := range s.sent {
			if d := cmp.Diff(s.sent[0], r); d != "" {
				t.Errorf("another request: %s", d)
			}
		}
	})
}

// Eight agents that meet one limit together: while it lasts nobody else asks, and they do not come
// back all at the same moment.
func TestAgentsThatShareALimitDoNotStormIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := retry.Default()
		p.Gate = &retry.Gate{}
		start := time.Now()
		first := &scripted{steps: []step{{err: fault(model.KindLimit, time.Minute)}}, last: step{text: "ok"}, start: start}
		var all sync.WaitGroup
		ask := func(s *scripted) {
			all.Go(func() {
				if _, err := retry.New(s, p, nil).Stream(t.Context(), model.Request{}, nil); err != nil {
					t.Error(err)
				}
			})
		}
		ask(first)
		synctest.Wait()
		time.Sleep(time.Second)
		others := make([]*scripted, 7)
		for i := range others {
			others[i] = &scripted{last: step{text: "ok"}, start: start}
			ask(others[i])
		}
		all.Wait()
		moments := map[time.Duration]bool{first.at[1]: true}
		for _, s := range others {
			if len(s.at) != 1 || s.at[0] < time.Minute {
				t.Errorf("asked at %v", s.at)
			}
			moments[s.at[0]] = true
		}
		if len(moments) < 8 {
			t.Errorf("some came back together: %v", moments)
		}
	})
}

func TestTheGateIsOpenWhenNobodyWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := retry.Default()
		p.Gate = &retry.Gate{}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		limited := &scripted{last: step{err: fault(model.KindLimit, time.Hour)}, start: time.Now()}
		if _, err := retry.New(limited, p, nil).Stream(ctx, model.Request{}, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		again := &scripted{last: step{text: "ok"}, start: time.Now()}
		if _, err := retry.New(again, p, nil).Stream(t.Context(), model.Request{}, nil); err != nil || again.at[0] != 0 {
			t.Errorf("%v at %v", err, again.at)
		}
	})
}

func TestHasteShortensWaitsAndNotWhatIsSaidOfThem(t *testing.T) {
	p := retry.Default()
	p.Haste = 60
	p.MaxWait = 3 * time.Minute
	play(t, p, step{err: fault(model.KindLimit, time.Minute)}, nil, func(s *scripted, waits []retry.Wait, _ []model.Delta, _ model.Reply, err error) {
		if took := time.Since(s.start); took != 3*time.Second || len(s.at) != 4 || waits[0].Left != time.Minute {
			t.Errorf("%d tries in %v: %+v, %v", len(s.at), took, waits, err)
		}
	})
}
