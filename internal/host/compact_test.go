package host_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"jig/internal/agent"
	"jig/internal/host"
	"jig/internal/model"
	"jig/internal/msg"
	"jig/internal/proto"
)

// talker answers each request with "ok", and one for a summary as it is told to.
type talker struct {
	window    int
	summary   func(context.Context) (model.Reply, error)
	summaries int
	asked     chan bool // for a summary
}

func (m *talker) Stream(ctx context.Context, r model.Request, _ func(model.Delta)) (model.Reply, error) {
	if err := ctx.Err(); err != nil {
		return model.Reply{}, err
	}
	if strings.Contains(r.Messages[len(r.Messages)-1].Blocks.Text(), "Write a summary of it now") {
		m.summaries++
		if m.asked != nil {
			m.asked <- true
		}
		if m.summary != nil {
			return m.summary(ctx)
		}
		return model.Reply{Stop: model.StopEnd, Blocks: msg.Blocks{msg.Text{Text: "SUMMARY"}}}, nil
	}
	if n := r.Size() / 4; n > m.window {
		return model.Reply{}, &model.Error{Kind: model.KindOverflow, Status: 400, Text: "too long"}
	}
	return model.Reply{Stop: model.StopEnd, Blocks: msg.Blocks{msg.Text{Text: "ok"}}}, nil
}

func startTalk(t *testing.T, m *talker, s host.Setup) (*rig, func(n int) []proto.Fact) {
	t.Helper()
	r := &rig{h: host.New(), waiting: make(chan bool, 1), place: &place{}}
	table, err := agent.Bind(tools{r.waiting})
	if err != nil {
		t.Fatal(err)
	}
	s.Began = proto.Began{Agent: "a", Provider: "p", Model: "m"}
	s.Turn = func(context.Context) (agent.Turn, error) {
		return agent.Turn{Model: m, Tools: table, Room: agent.Room{Window: m.window, Ask: true}}, nil
	}
	if r.id, err = r.h.Open(s); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.h.Close() })
	return r, func(n int) []proto.Fact { return r.until(n, nil) }
}

// words is a message of about so many tokens.
func words(tokens int) proto.Submit {
	return proto.Submit{Text: strings.Repeat("word ", tokens*4/5)}
}

func kinds(facts []proto.Fact) string {
	var out []string
	for _, f := range facts {
		switch f := f.(type) {
		case proto.Said:
			out = append(out, string(f.Message.Role))
		case proto.Asked:
			out = append(out, "asked")
		case proto.Answered:
			out = append(out, string(f.Choice)+" by "+f.By)
		case proto.Compacted:
			out = append(out, "compacted")
		case proto.Ended:
			out = append(out, string(f.Why))
		case proto.Cost:
			out = append(out, "cost")
		}
	}
	return strings.Join(out, ", ")
}

func TestPersonIsAskedWhetherToSumUp(t *testing.T) {
	const two = "user, assistant, done, user, "
	for name, c := range map[string]struct {
		answer proto.Command
		want   string
	}{
		"once":    {proto.Answer{Call: proto.CallCompaction, By: "terminal", Choice: proto.Once}, two + "asked, once by terminal, compacted, assistant, done"},
		"session": {proto.Answer{Call: proto.CallCompaction, By: "terminal", Choice: proto.Session}, two + "asked, session by terminal, compacted, assistant, done"},
		"no":      {proto.Answer{Call: proto.CallCompaction, By: "terminal", Choice: proto.Deny}, two + "asked, deny by terminal, assistant, done"},
		"esc":     {proto.Esc{}, two + "asked, deny by esc, interrupted"},
		"stop":    {proto.Stop{}, two + "asked, deny by esc, interrupted"},
	} {
		m := &talker{window: 10_000}
		r, ended := startTalk(t, m, host.Setup{})
		r.do(t, words(4_000))
		ended(1)
		r.do(t, words(3_500))
		got := r.until(2, func(f proto.Fact) {
			if a, ok := f.(proto.Asked); ok && a.Call == proto.CallCompaction {
				r.do(t, c.answer)
			}
		})
		if k := kinds(got); k != c.want {
			t.Errorf("%s: %s", name, k)
		}
	}
}

func TestNobodyIsAskedInARunWithoutPeople(t *testing.T) {
	m := &talker{window: 10_000}
	r, ended := startTalk(t, m, host.Setup{Alone: true})
	r.do(t, words(4_000))
	ended(1)
	r.do(t, words(3_500))
	if k := kinds(ended(2)); k != "user, assistant, done, user, compacted, assistant, done" {
		t.Error(k)
	}
}

// Whoever has said no is not asked at every message, but once more when the provider refuses.
func TestNoHoldsUntilTheProviderRefuses(t *testing.T) {
	m := &talker{window: 10_000}
	r, _ := startTalk(t, m, host.Setup{})
	sizes := []int{4_000, 3_500, 500, 500, 3_000, 10}
	answers := []proto.Choice{proto.Deny, proto.Once}
	asked := 0
	for i, n := range sizes {
		r.do(t, words(n))
		seen := 0
		r.until(i+1, func(f proto.Fact) {
			if _, ok := f.(proto.Asked); !ok {
				return
			}
			if seen++; seen > asked {
				r.do(t, proto.Answer{Call: proto.CallCompaction, By: "terminal", Choice: answers[asked]})
				asked++
			}
		})
	}
	want := "user, assistant, done, user, asked, deny by terminal, assistant, done, user, assistant, done, user, assistant, done, " +
		"user, asked, once by terminal, compacted, assistant, done, user, assistant, done"
	if k := kinds(known(r)); k != want {
		t.Error(k)
	}
}

func TestSummaryByHandNeedsAnIdleSession(t *testing.T) {
	r := start(t, false, calls("wait"), says("done"))
	r.do(t, proto.Submit{Text: "go"})
	<-r.waiting
	err := r.h.Do(t.Context(), r.id, proto.Compact{})
	if err == nil || !strings.Contains(err.Error(), "busy") {
		t.Errorf("%v", err)
	}
	r.do(t, proto.Esc{})
	r.until(1, nil)
}

func TestSummaryByHandIsCarriedOutBetweenTurnsAndPaidFor(t *testing.T) {
	temp := t.TempDir()
	m := &talker{window: 100_000}
	spent := proto.Cost{Session: 5}
	r, ended := startTalk(t, m, host.Setup{ID: "abc", Archive: temp, Cost: func() *proto.Cost { c := spent; return &c }})
	r.do(t, words(4_000))
	ended(1)
	r.do(t, proto.Compact{Guidance: "names"})
	facts := known(r)
	if k := kinds(facts); k != "user, assistant, cost, done, compacted, cost" {
		t.Errorf("%s", k)
	}
	for _, f := range facts {
		if c, ok := f.(proto.Compacted); ok {
			data, err := os.ReadFile(c.Archive)
			if err != nil || !strings.Contains(string(data), "word word") || !strings.Contains(c.Summary.Blocks.Text(), c.Archive) {
				t.Errorf("%q: %v", c.Archive, err)
			}
		}
	}
	if err := r.h.Do(t.Context(), r.id, proto.Compact{}); err == nil || !strings.Contains(err.Error(), "not enough") {
		t.Errorf("%v", err)
	}
}

// A model that was told a key may write it into its summary.
func TestSummaryAndItsArchiveHoldNoKey(t *testing.T) {
	m := &talker{window: 100_000, summary: func(context.Context) (model.Reply, error) {
		return model.Reply{Stop: model.StopEnd, Blocks: msg.Blocks{msg.Text{Text: "the key is sk-secret"}}}, nil
	}}
	r, ended := startTalk(t, m, host.Setup{ID: "abc", Archive: t.TempDir(), Mask: func(s string) string { return strings.ReplaceAll(s, "sk-secret", "[key]") }})
	r.do(t, proto.Submit{Text: "take sk-secret " + words(4_000).Text})
	ended(1)
	r.do(t, proto.Compact{})
	for _, f := range known(r) {
		if c, ok := f.(proto.Compacted); ok {
			data, err := os.ReadFile(c.Archive)
			text := c.Summary.Blocks.Text() + string(data)
			if err != nil || strings.Contains(text, "sk-secret") || strings.Count(text, "[key]") != 2 {
				t.Errorf("%v: %.200s", err, text)
			}
			return
		}
	}
	t.Error("it was not summed up")
}

// known are the facts that there are by now.
func known(r *rig) (out []proto.Fact) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for e := range r.h.Watch(ctx, r.id, 0) {
		if e.Fact != nil {
			out = append(out, e.Fact)
		}
	}
	return out
}

func TestSummaryByHandThatIsEndedChangesNothing(t *testing.T) {
	for name, end := range map[string]func(*rig, context.CancelFunc){
		"esc":       func(r *rig, _ context.CancelFunc) { _ = r.h.Do(context.Background(), r.id, proto.Esc{}) },
		"stop":      func(r *rig, _ context.CancelFunc) { _ = r.h.Do(context.Background(), r.id, proto.Stop{}) },
		"the asker": func(_ *rig, cancel context.CancelFunc) { cancel() },
	} {
		m := &talker{window: 100_000, asked: make(chan bool, 1), summary: func(ctx context.Context) (model.Reply, error) {
			<-ctx.Done()
			return model.Reply{Blocks: msg.Blocks{msg.Text{Text: "half"}}}, ctx.Err()
		}}
		r, ended := startTalk(t, m, host.Setup{})
		r.do(t, words(4_000))
		ended(1)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- r.h.Do(ctx, r.id, proto.Compact{}) }()
		<-m.asked
		end(r, cancel)
		if err := <-done; err == nil {
			t.Errorf("%s: no error", name)
		}
		r.do(t, proto.Submit{Text: "on"})
		// That half of one came is counted, and all.
		if k := kinds(ended(2)); k != "user, assistant, done, cost, user, assistant, done" {
			t.Errorf("%s: %s", name, k)
		}
		cancel()
	}
}

func TestSummaryByHandThatFailsSaysWhy(t *testing.T) {
	m := &talker{window: 100_000, summary: func(context.Context) (model.Reply, error) { return model.Reply{}, errors.New("no such model") }}
	r, ended := startTalk(t, m, host.Setup{})
	r.do(t, words(4_000))
	ended(1)
	if err := r.h.Do(t.Context(), r.id, proto.Compact{}); err == nil || err.Error() != "no such model" {
		t.Errorf("%v", err)
	}
	if k := kinds(known(r)); k != "user, assistant, done" {
		t.Error(k)
	}
}
