package retry_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"jig/internal/model"
	"jig/internal/model/retry"
)

// sound is what comes after a pause; a text is a delta.
type sound struct {
	pause time.Duration
	p     model.Progress
	text  string
}

// radio is a model of which one hears something now and then, and then nothing until it breaks or is
// given up. Each try has sounds of its own.
type radio struct {
	tries  [][]sound
	breaks time.Duration // 0 is never
	err    error
	ends   bool // after the last sound comes the reply
	asked  int
}

func (f *radio) Stream(ctx context.Context, r model.Request, tell func(model.Delta)) (model.Reply, error) {
	r.Heard("h:1", model.Asked)
	sounds := f.tries[min(f.asked, len(f.tries)-1)]
	f.asked++
	for _, s := range sounds {
		select {
		case <-time.After(s.pause):
		case <-ctx.Done():
			return model.Reply{}, ctx.Err()
		}
		if s.text != "" {
			tell(model.Delta{Text: s.text})
		} else {
			r.Heard("h:1", s.p)
		}
	}
	if f.ends {
		return model.Reply{}, nil
	}
	var broken <-chan time.Time
	if f.breaks > 0 {
		broken = time.After(f.breaks)
	}
	select {
	case <-broken:
		return model.Reply{}, f.err
	case <-ctx.Done():
		return model.Reply{}, ctx.Err()
	}
}

func strict(longest time.Duration) retry.Policy {
	p := retry.Default()
	p.MaxWait, p.Bound, p.Strict, p.Haste = longest, "--max-wait", true, 2 // haste takes the chance out of the waits
	return p
}

func TestNothingIsWaitedForLongerThanTheBoundHoweverItIsSilent(t *testing.T) {
	broke := &model.Error{Kind: model.KindNetwork, Text: "h:1 sent nothing more"}
	alive := []sound{{time.Minute, model.Grew, ""}}
	for range 30 {
		alive = append(alive, sound{time.Minute, model.Alive, ""})
	}
	for name, c := range map[string]struct {
		longest time.Duration
		radio   radio
		takes   time.Duration // as it is said
		says    string
	}{
		"mute":          {2 * time.Second, radio{tries: [][]sound{nil}}, 2 * time.Second, "h:1 has sent nothing for 2s (2s is the longest that is waited, see --max-wait)"},
		"in the middle": {10 * time.Minute, radio{tries: [][]sound{{{4 * time.Minute, model.Grew, ""}, {4 * time.Minute, 0, "a"}}}}, 26 * time.Minute, "h:1 has sent nothing for 10m0s (10m0s is the longest that is waited, see --max-wait)"},
		"keep-alives":   {10 * time.Minute, radio{tries: [][]sound{alive}}, 12 * time.Minute, "h:1 has sent nothing but keep-alives for 10m0s (10m0s is the longest that is waited, see --max-wait)"},
		"again":         {10 * time.Minute, radio{tries: [][]sound{nil}, breaks: 3 * time.Minute, err: broke}, 10 * time.Minute, "h:1 has sent nothing in the last try (gave up after 2 tries; 10m0s is the longest that is waited, see --max-wait)"},
		"at that time":  {10 * time.Minute, radio{tries: [][]sound{nil}, breaks: 5 * time.Minute, err: broke}, 10 * time.Minute, "h:1 has sent nothing for 10m0s (10m0s is the longest that is waited, see --max-wait)"},
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			_, err := retry.New(&c.radio, strict(c.longest), nil).Stream(t.Context(), model.Request{}, nil)
			var e *model.Error
			if !errors.As(err, &e) || e.Kind != model.KindNetwork || err.Error() != c.says {
				t.Errorf("%s: %v", name, err)
			}
			if took := time.Since(start) * 2; took > c.takes {
				t.Errorf("%s: took %v, want %v", name, took, c.takes)
			}
		})
	}
}

// A limit may be waited for nearly as long as the bound; the try after it must not be for nothing.
func TestATryAfterALongWaitIsGivenAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &late{after: 20 * time.Second / 2}
		if _, err := retry.New(s, strict(10*time.Minute), nil).Stream(t.Context(), model.Request{}, nil); err != nil || s.asked != 2 {
			t.Errorf("%d: %v", s.asked, err)
		}
	})
}

// late is refused once, for ten minutes, and then takes its time.
type late struct {
	after time.Duration
	asked int
}

func (l *late) Stream(ctx context.Context, r model.Request, _ func(model.Delta)) (model.Reply, error) {
	r.Heard("h", model.Asked)
	if l.asked++; l.asked == 1 {
		return model.Reply{}, fault(model.KindLimit, 10*time.Minute)
	}
	select {
	case <-time.After(l.after):
		return model.Reply{}, nil
	case <-ctx.Done():
		return model.Reply{}, ctx.Err()
	}
}

func TestWithPeopleSilenceIsShownAndNotBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &radio{ends: true, tries: [][]sound{{{40 * time.Second, model.Alive, ""}, {25 * time.Second, model.Grew, ""}, {29 * time.Second, 0, "a"}, {31 * time.Second, model.Grew, ""}, {20*time.Minute + time.Second, model.Grew, ""}}}}
		p := retry.Default()
		p.MaxWait = 10 * time.Minute
		start := time.Now()
		var shown []string
		p.Quiet = func(s *retry.Silence) {
			at := time.Since(start).String()
			if s == nil {
				shown = append(shown, at+" over")
				return
			}
			shown = append(shown, at+" "+s.Text)
			if s.Try != 1 || time.Since(s.Since) != s.For {
				t.Errorf("%+v", s)
			}
		}
		if _, err := retry.New(f, p, nil).Stream(t.Context(), model.Request{}, nil); err != nil {
			t.Fatal(err)
		}
		want := []string{"30s h:1 has sent nothing for 30s", "1m0s h:1 has sent nothing but keep-alives for 1m0s", "1m5s over", "2m4s h:1 has sent nothing for 30s", "2m5s over", "2m35s h:1 has sent nothing for 30s"}
		if d := cmp.Diff(want, shown[:min(len(shown), 6)]); d != "" || len(shown) != 5+40+1 || !strings.HasSuffix(shown[len(shown)-1], "over") {
			t.Error(len(shown), d)
		}
	})
}

func TestCancellingASilentTryIsNotGivingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
		defer cancel()
		p := strict(0)
		if _, err := retry.New(&radio{tries: [][]sound{nil}}, p, nil).Stream(ctx, model.Request{}, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

// What waits for another's limit waits as surely as for its own.
func TestTheGateIsWaitedForWithinTheBoundAndOnce(t *testing.T) {
	for name, c := range map[string]struct {
		longest, takes time.Duration
		asked          int
		says           string
	}{
		"too short": {100 * time.Millisecond, 0, 0, "it broke (another request waits 2s for that; 100ms is the longest that is waited)"},
		"enough":    {10 * time.Second, 1500 * time.Millisecond, 1, ""},
		"no bound":  {0, 1500 * time.Millisecond, 1, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := retry.Default()
			p.Gate, p.Haste = &retry.Gate{}, 2
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan bool)
			go func() {
				defer close(done)
				for ctx.Err() == nil { // another one that is limited again and again
					a := &scripted{steps: []step{{err: fault(model.KindLimit, 1500*time.Millisecond)}}, start: time.Now()}
					_, _ = retry.New(a, p, nil).Stream(ctx, model.Request{}, nil)
				}
			}()
			synctest.Wait()
			b := &scripted{last: step{text: "ok"}, start: time.Now()}
			mine := p
			mine.MaxWait = c.longest
			_, err := retry.New(b, mine, nil).Stream(t.Context(), model.Request{}, nil)
			if said := fmt.Sprint(err); said != c.says && (c.says != "" || err != nil) {
				t.Errorf("%s: %v", name, err)
			}
			var e *model.Error
			if c.says != "" && (!errors.As(err, &e) || e.Kind != model.KindLimit || e.After != 1500*time.Millisecond) {
				t.Errorf("%s: %+v", name, e)
			}
			if took := time.Since(b.start) * 2; took > c.takes || len(b.at) != c.asked {
				t.Errorf("%s: asked at %v, took %v", name, b.at, took)
			}
			cancel()
			<-done
		})
	}
}
