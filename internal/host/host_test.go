package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"jig/internal/agent"
	"jig/internal/host"
	"jig/internal/model"
	"jig/internal/msg"
	"jig/internal/proto"
	"jig/internal/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tools are one that asks, one that waits until it is cancelled and one that does its work.
type tools struct{ waiting chan bool }

func (tools) Specs() []tool.Spec {
	in := json.RawMessage(`{"type":"object"}`)
	return []tool.Spec{{Name: "write", Input: in, Asks: []string{"write"}}, {Name: "wait", Input: in}, {Name: "work", Input: in}}
}

func (o tools) Prepare(_ context.Context, c tool.Call) (tool.Prepared, error) {
	if c.Name == "write" {
		return tool.Prepared{
			Plan: tool.Plan{Title: "[write]", Ask: &tool.Question{Scope: "write", Text: "write?", Refusal: "write was not executed"}},
			Run:  func(context.Context, func(tool.Card)) (tool.Result, error) { return tool.Text("written"), nil },
		}, nil
	}
	if c.Name == "work" {
		return tool.Prepared{Run: func(context.Context, func(tool.Card)) (tool.Result, error) { return tool.Text("worked"), nil }}, nil
	}
	return tool.Prepared{Plan: tool.Plan{Title: "[wait]"}, Run: func(ctx context.Context, _ func(tool.Card)) (tool.Result, error) {
		o.waiting <- true
		<-ctx.Done()
		return tool.Result{}, ctx.Err()
	}}, nil
}

// script answers each request by the next step and keeps what it was sent.
type script struct {
	instead model.Model // answers in the place of the steps

	mu    sync.Mutex
	steps []func(ctx context.Context) (model.Reply, error)
	sent  [][]msg.Message
}

func (s *script) Stream(ctx context.Context, r model.Request, tell func(model.Delta)) (model.Reply, error) {
	if s.instead != nil {
		return s.instead.Stream(ctx, r, tell)
	}
	s.mu.Lock()
	s.sent = append(s.sent, r.Messages)
	n := len(s.sent) - 1
	s.mu.Unlock()
	if n >= len(s.steps) {
		return model.Reply{}, fmt.Errorf("no step %d", n+1)
	}
	reply, err := s.steps[n](ctx)
	tell(model.Delta{Text: reply.Blocks.Text()})
	return reply, err
}

func says(s string) func(context.Context) (model.Reply, error) {
	return func(context.Context) (model.Reply, error) {
		return model.Reply{Blocks: msg.Blocks{msg.Text{Text: s}}, Stop: model.StopEnd}, nil
	}
}

func calls(names ...string) func(context.Context) (model.Reply, error) {
	return func(context.Context) (model.Reply, error) {
		r := model.Reply{Stop: model.StopCalls}
		for _, n := range names {
			r.Blocks = append(r.Blocks, msg.Call{Name: n, Args: "{}"})
		}
		return r, nil
	}
}

type rig struct {
	h       *host.Host
	id      string
	model   *script
	waiting chan bool
	place   *place
}

// place lets a test report what a job would.
type place struct {
	post   func(tool.Notice)
	show   func(string, any)
	closed bool
	killed []string
}

func (p *place) Kill(id string) bool {
	p.killed = append(p.killed, id)
	return id != "b9"
}
func (p *place) Connect(post func(tool.Notice), show func(string, any)) { p.post, p.show = post, show }
func (p *place) Close() string                                          { p.closed = true; return "b9 goes on" }

// jobs says which jobs run.
func (p *place) jobs(ids ...string) {
	var list []proto.Job
	for _, id := range ids {
		list = append(list, proto.Job{ID: id, Label: "sleep " + id})
	}
	p.show(proto.KeyJobs, list)
}

func (p *place) ends(id string) {
	p.post(tool.Notice{Call: "call-" + id, Job: id, Blocks: msg.Blocks{msg.Text{Text: id + " ended"}}})
}

func start(t *testing.T, alone bool, steps ...func(context.Context) (model.Reply, error)) *rig {
	t.Helper()
	return startWaiting(t, alone, 0, steps...)
}

func startWaiting(t *testing.T, alone bool, most time.Duration, steps ...func(context.Context) (model.Reply, error)) *rig {
	t.Helper()
	r := &rig{h: host.New(), model: &script{steps: steps}, waiting: make(chan bool, 1), place: &place{}}
	table, err := agent.Bind(tools{r.waiting})
	if err != nil {
		t.Fatal(err)
	}
	r.id, err = r.h.Open(host.Setup{Began: proto.Began{Agent: "a"}, Alone: alone, MaxWait: most, Place: r.place,
		Turn: func(context.Context) (agent.Turn, error) { return agent.Turn{Model: r.model, Tools: table}, nil }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.h.Close() })
	return r
}

func (r *rig) do(t *testing.T, c proto.Command) {
	t.Helper()
	if err := r.h.Do(context.Background(), r.id, c); err != nil {
		t.Fatal(err)
	}
}

// until watches from the start and calls on for each fact, up to the n-th end of a turn.
func (r *rig) until(n int, on func(proto.Fact)) []proto.Fact {
	var out []proto.Fact
	for e := range r.h.Watch(context.Background(), r.id, 0) {
		if e.Fact == nil {
			continue
		}
		out = append(out, e.Fact)
		if on != nil {
			on(e.Fact)
		}
		if _, ok := e.Fact.(proto.Ended); ok {
			if n--; n == 0 {
				break
			}
		}
	}
	return out
}

func results(facts []proto.Fact) string {
	var out []string
	for _, f := range facts {
		if c, ok := f.(proto.Closed); ok {
			out = append(out, c.Result.Blocks.Text())
		}
	}
	return strings.Join(out, "|")
}

func TestOnceSessionAndDeny(t *testing.T) {
	r := start(t, false, calls("write"), calls("write"), calls("write"), calls("write"), says("done"))
	choices := []proto.Choice{proto.Once, proto.Deny, proto.Session}
	asked := 0
	r.do(t, proto.Submit{Text: "go"})
	facts := r.until(1, func(f proto.Fact) {
		if a, ok := f.(proto.Asked); ok {
			r.do(t, proto.Answer{Call: a.Call, By: "me", Choice: choices[asked]})
			asked++
		}
	})
	want := "written|write was not run: the user declined this call — do not try it again unless they ask for it|written|written"
	if got := results(facts); got != want || asked != 3 {
		t.Errorf("asked %d times: %s", asked, got)
	}
}

func TestFirstAnswerWinsAndNobodyElseAnswers(t *testing.T) {
	r := start(t, false, calls("write"), says("done"))
	r.do(t, proto.Submit{Text: "go"})
	r.until(1, func(f proto.Fact) {
		if a, ok := f.(proto.Asked); ok {
			if err := r.h.Do(context.Background(), r.id, proto.Answer{Call: a.Call, Choice: "maybe"}); err == nil {
				t.Error("maybe was taken for an answer")
			}
			r.do(t, proto.Answer{Call: a.Call, By: "first", Choice: proto.Deny})
			err := r.h.Do(context.Background(), r.id, proto.Answer{Call: a.Call, By: "second", Choice: proto.Once})
			if err == nil || err.Error() != a.Call+" waits for no answer" {
				t.Errorf("second answer: %v", err)
			}
		}
	})
}

func TestNobodyToAskMeansRefusedAtOnce(t *testing.T) {
	r := start(t, true, calls("write"), says("done"))
	r.do(t, proto.Submit{Text: "go"})
	facts := r.until(1, func(f proto.Fact) {
		if _, ok := f.(proto.Asked); ok {
			t.Error("asked all the same")
		}
	})
	if got := results(facts); got != "write was not executed" {
		t.Error(got)
	}
}

func TestEscEndsTheRunningCallAndTheTurnGoesOn(t *testing.T) {
	r := start(t, false, calls("wait", "wait"), says("went on"))
	r.do(t, proto.Submit{Text: "go"})
	go func() { <-r.waiting; r.do(t, proto.Esc{}) }()
	facts := r.until(1, nil)
	want := "wait was cancelled|wait was not run: the calls were cancelled before its turn came"
	if got := results(facts); got != want {
		t.Error(got)
	}
	if end := facts[len(facts)-1].(proto.Ended); end.Why != proto.Done || end.Rounds != 2 {
		t.Errorf("%+v", end)
	}
}

func TestStopEndsTheTurnAndTheNextRequestIsValid(t *testing.T) {
	r := start(t, false, calls("wait", "write"), says("again"))
	r.do(t, proto.Submit{Text: "go"})
	go func() { <-r.waiting; r.do(t, proto.Stop{}) }()
	facts := r.until(1, nil)
	if end := facts[len(facts)-1].(proto.Ended); end.Why != proto.Interrupted || end.Error != "interrupted" {
		t.Fatalf("%+v", end)
	}
	r.do(t, proto.Submit{Text: "more"})
	r.until(2, nil)
	last := r.model.sent[1]
	if len(last) != 4 || len(last[2].Blocks) != 2 || last[3].Blocks.Text() != "more" {
		t.Errorf("%+v", last)
	}
}

func TestStopBeforeTheTurnBeginsStillEndsIt(t *testing.T) {
	r := start(t, false, func(ctx context.Context) (model.Reply, error) { <-ctx.Done(); return model.Reply{}, ctx.Err() })
	r.do(t, proto.Submit{Text: "go"})
	r.do(t, proto.Stop{})
	facts := r.until(1, nil)
	if end := facts[len(facts)-1].(proto.Ended); end.Why != proto.Interrupted {
		t.Errorf("%+v", end)
	}
}

func TestInterruptedReplyKeepsTheTextThatWasSeen(t *testing.T) {
	r := start(t, false, func(ctx context.Context) (model.Reply, error) {
		<-ctx.Done()
		return model.Reply{Blocks: msg.Blocks{msg.Text{Text: "half an ans"}, msg.Call{Name: "write", Args: "{"}}}, ctx.Err()
	}, says("ok"))
	r.do(t, proto.Submit{Text: "go"})
	r.do(t, proto.Stop{})
	r.until(1, nil)
	r.do(t, proto.Submit{Text: "and?"})
	facts := r.until(2, nil)
	if got := results(facts); got != "" {
		t.Errorf("a call of a broken reply was dealt with: %s", got)
	}
	var roles []string
	for _, m := range r.model.sent[len(r.model.sent)-1] {
		roles = append(roles, string(m.Role)+":"+m.Blocks.Text())
	}
	if d := cmp.Diff([]string{"user:go", "assistant:half an ans", "user:and?"}, roles); d != "" {
		t.Error(d)
	}
}

// A message typed meanwhile lands at the next request, or after the turn when it is told to wait.
func TestSteeringAndQueueing(t *testing.T) {
	r := start(t, false, calls("wait"), says("one"), says("two"))
	r.do(t, proto.Submit{Text: "go"})
	<-r.waiting
	r.do(t, proto.Submit{Text: "later", When: proto.AtEnd})
	r.do(t, proto.Submit{Text: "now"})
	r.do(t, proto.Esc{})
	r.until(2, nil)
	last := func(n int) string { m := r.model.sent[n]; return m[len(m)-1].Blocks.Text() }
	if last(1) != "now" || last(2) != "later" {
		t.Errorf("%q then %q", last(1), last(2))
	}
}

func TestTwoObserversSeeTheSameFacts(t *testing.T) {
	r := start(t, true, calls("write"), says("done"))
	seen := make(chan []proto.Fact, 2)
	for range 2 {
		go func() { seen <- r.until(1, nil) }()
	}
	r.do(t, proto.Submit{Text: "go"})
	if d := cmp.Diff(<-seen, <-seen); d != "" {
		t.Error(d)
	}
}

func TestClosedHostOpensNothingAndEndsEveryWatch(t *testing.T) {
	h := host.New()
	h.Close()
	if _, err := h.Open(host.Setup{}); err == nil {
		t.Error("opened")
	}
	if err := h.Do(context.Background(), "s9", proto.Esc{}); err == nil || err.Error() != "session s9 is not open here" {
		t.Error(err)
	}
}
