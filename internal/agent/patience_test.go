package agent_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"jig/internal/agent"
	"jig/internal/model"
	"jig/internal/model/retry"
	"jig/internal/msg"
	"jig/internal/proto"
	"jig/internal/session"
	"jig/internal/tool"
)

// counting is a tool that counts how often each of its arguments ran.
type counting struct{ ran map[string]int }

func (counting) Specs() []tool.Spec {
	return []tool.Spec{{Name: "count", Input: json.RawMessage(`{"type":"object"}`)}}
}

func (o counting) Prepare(_ context.Context, c tool.Call) (tool.Prepared, error) {
	return tool.Prepared{Run: func(context.Context, func(tool.Card)) (tool.Result, error) {
		o.ran[string(c.Args)]++
		return tool.Text("ok"), nil
	}}, nil
}

// flaky breaks every request off once, after it has told of a whole call, and then answers it.
type flaky struct {
	broken, rounds int
	sent           [][]msg.Message
}

func (f *flaky) Stream(_ context.Context, r model.Request, tell func(model.Delta)) (model.Reply, error) {
	f.sent = append(f.sent, r.Messages)
	call := msg.Call{Name: "count", Args: `{"round":` + string(rune('0'+f.rounds)) + `}`}
	reply := model.Reply{Blocks: msg.Blocks{msg.Text{Text: "counting"}, call}}
	tell(model.Delta{Text: "counting", Call: "count"})
	if f.broken == f.rounds {
		f.broken++
		return reply, &model.Error{Kind: model.KindNetwork, Text: "broke off"}
	}
	if f.rounds++; f.rounds == 4 {
		return model.Reply{Blocks: msg.Blocks{msg.Text{Text: "done"}}, Stop: model.StopEnd}, nil
	}
	reply.Stop = model.StopCalls
	return reply, nil
}

// noting is a desk that keeps what is said and shown.
type noting struct {
	line  *session.Line
	waits []proto.Waiting
	open  bool // a wait is shown
	late  bool // something was said while one was
}

func (d *noting) Say(f ...proto.Fact) error {
	d.late = d.late || d.open
	return d.line.Say(f...)
}

func (d *noting) Show(key string, v any) {
	if key != proto.KeyWaiting {
		return
	}
	if d.open = v != nil; d.open {
		d.waits = append(d.waits, v.(proto.Waiting))
	}
}

func (d *noting) Ask(context.Context, string, tool.Question) (bool, string) { return true, "" }
func (d *noting) Scope(ctx context.Context) (context.Context, func())       { return ctx, func() {} }

// A reply that broke off after a whole call must not run it, and the try that follows runs it once.
func TestACallOfATryThatBrokeOffIsNotRunAndThatOfTheNextTryIsRunOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, o := &flaky{}, counting{map[string]int{}}
		table, err := agent.Bind(o)
		if err != nil {
			t.Fatal(err)
		}
		d := &noting{line: session.NewLine(nil, proto.Said{Message: msg.Say(msg.User, "go")})}
		end := agent.RunTurn(t.Context(), d, nothing{}, d.line.State, agent.Turn{Model: m, Tools: table, Retry: retry.Default(), Send: agent.Send{Provider: "p"}})
		if end.Why != proto.Done || end.Rounds != 4 {
			t.Errorf("%+v", end)
		}
		if len(o.ran) != 3 {
			t.Errorf("ran %v", o.ran)
		}
		for args, n := range o.ran {
			if n != 1 {
				t.Errorf("%s ran %d times", args, n)
			}
		}
		for i := 0; i < len(m.sent); i += 2 {
			if len(m.sent[i]) != len(m.sent[i+1]) || len(m.sent[i]) != 1+i {
				t.Errorf("request %d has %d messages, and its second try %d", i/2+1, len(m.sent[i]), len(m.sent[i+1]))
			}
		}
		if len(d.waits) != 4 || d.open || d.late {
			t.Errorf("%d waits, still shown: %v, said during one: %v", len(d.waits), d.open, d.late)
		}
		for _, w := range d.waits {
			if w.Retry.Provider != "p" || w.Retry.Kind != "network" || w.Retry.Try != 2 || w.Retry.Tries != 5 || w.Retry.Why != "broke off" || time.Duration(w.Retry.Seconds*1e9) > 500*time.Millisecond {
				t.Errorf("%+v", w.Retry)
			}
		}
	})
}

func TestWhatEndsATurnForALimitIsToldToTheHost(t *testing.T) {
	for name, c := range map[string]struct {
		err     *model.Error
		limited bool
	}{
		"limit":           {&model.Error{Kind: model.KindLimit, After: time.Hour, Text: "x"}, true},
		"limit, unsaid":   {&model.Error{Kind: model.KindLimit, Text: "x"}, true},
		"final":           {&model.Error{Kind: model.KindLimit, After: time.Hour, Text: "x", Final: true}, false},
		"overload":        {&model.Error{Kind: model.KindServer, After: time.Hour, Text: "x"}, true},
		"broken":          {&model.Error{Kind: model.KindServer, Text: "x"}, false},
		"quota":           {&model.Error{Kind: model.KindQuota, After: time.Hour, Text: "x"}, false},
		"nobody is there": {&model.Error{Kind: model.KindNetwork, Text: "x"}, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := retry.Default()
			p.MaxWait = 10 * time.Minute
			d := &noting{line: session.NewLine(nil, proto.Said{Message: msg.Say(msg.User, "go")})}
			end := agent.RunTurn(t.Context(), d, nothing{}, d.line.State, agent.Turn{Model: failing{c.err}, Retry: p})
			if end.Limited != c.limited || c.limited && end.After != c.err.After || end.Why != proto.Failed {
				t.Errorf("%s: %+v", name, end)
			}
		})
	}
}

// A wait is for what its advice says; whoever reads of it has nothing to do.
func TestAWaitDoesNotRepeatTheAdviceThatItFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := retry.Default()
		p.MaxWait = time.Second
		d := &noting{line: session.NewLine(nil, proto.Said{Message: msg.Say(msg.User, "go")})}
		end := agent.RunTurn(t.Context(), d, nothing{}, d.line.State, agent.Turn{Model: failing{&model.Error{Kind: model.KindLimit, Text: "slow down; wait", What: "slow down"}}, Retry: p})
		if len(d.waits) == 0 || d.waits[0].Retry.Why != "slow down" || end.What != "slow down" || !strings.HasPrefix(end.Error, "slow down; wait (gave up after 2 tries") {
			t.Errorf("%+v %+v", d.waits, end)
		}
	})
}

// mute makes a request and never hears anything.
type mute struct{}

func (mute) Stream(ctx context.Context, r model.Request, _ func(model.Delta)) (model.Reply, error) {
	r.Heard("h", model.Asked)
	<-ctx.Done()
	return model.Reply{}, ctx.Err()
}

func TestSilenceIsShownAndEndsTheTurnWhenPatienceIsAtItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := retry.Default()
		p.MaxWait, p.Strict = 100*time.Second, true
		d := &noting{line: session.NewLine(nil, proto.Said{Message: msg.Say(msg.User, "go")})}
		end := agent.RunTurn(t.Context(), d, nothing{}, d.line.State, agent.Turn{Model: mute{}, Retry: p, Send: agent.Send{Provider: "p"}})
		if end.Why != proto.Failed || end.Error != "h has sent nothing for 1m40s (1m40s is the longest that is waited)" {
			t.Errorf("%+v", end)
		}
		if len(d.waits) != 3 || d.open || d.late {
			t.Fatalf("%+v", d.waits)
		}
		if s := d.waits[2].Silence; *s != (proto.Silence{Provider: "p", Kind: "silence", Why: "h has sent nothing for 1m30s", Silent: 90, Try: 1}) {
			t.Errorf("%+v", s)
		}
	})
}

type failing struct{ err error }

func (f failing) Stream(context.Context, model.Request, func(model.Delta)) (model.Reply, error) {
	return model.Reply{}, f.err
}
