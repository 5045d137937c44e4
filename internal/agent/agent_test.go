package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"jig/internal/agent"
	"jig/internal/model"
	"jig/internal/msg"
	"jig/internal/proto"
	"jig/internal/session"
	"jig/internal/tool"
)

// desk keeps a real line and answers questions as told.
type desk struct {
	*session.Line
	answer func(tool.Question) (bool, string)
	mu     sync.Mutex
	cancel []context.CancelFunc
}

func newDesk() *desk { return &desk{Line: session.NewLine(nil)} }

func (d *desk) Ask(_ context.Context, _ string, q tool.Question) (bool, string) { return d.answer(q) }

func (d *desk) Scope(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cancel = append(d.cancel, cancel)
	return ctx, cancel
}

func (d *desk) esc() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cancel[len(d.cancel)-1]()
}

// owner is a set of tools, each a function of its arguments.
type owner map[string]func(ctx context.Context, args string) (tool.Prepared, error)

func (o owner) Specs() []tool.Spec {
	var out []tool.Spec
	for _, n := range []string{"look", "poke", "ask", "boom", "odd", "big"} {
		if o[n] != nil {
			out = append(out, tool.Spec{Name: n, Input: json.RawMessage(`{"type":"object"}`), Cap: 1000})
		}
	}
	return out
}

func (o owner) Prepare(ctx context.Context, c tool.Call) (tool.Prepared, error) {
	return o[c.Name](ctx, string(c.Args))
}

func does(together bool, f func(ctx context.Context) (tool.Result, error)) tool.Prepared {
	return tool.Prepared{Plan: tool.Plan{Title: "[t]", Together: together},
		Run: func(ctx context.Context, _ func(tool.Card)) (tool.Result, error) { return f(ctx) }}
}

func call(id, name, args string) msg.Call { return msg.Call{ID: id, Name: name, Args: args} }

func texts(rs []tool.Result) []string {
	var out []string
	for _, r := range rs {
		out = append(out, r.Blocks.Text())
	}
	return out
}

func TestEveryCallGetsExactlyOneResultInOrder(t *testing.T) {
	o := owner{
		"look": func(_ context.Context, args string) (tool.Prepared, error) {
			return does(true, func(context.Context) (tool.Result, error) { return tool.Text("saw " + args), nil }), nil
		},
		"boom": func(context.Context, string) (tool.Prepared, error) {
			return does(true, func(context.Context) (tool.Result, error) { panic("secret detail") }), nil
		},
		"odd": func(context.Context, string) (tool.Prepared, error) { panic("in prepare") },
		"big": func(context.Context, string) (tool.Prepared, error) {
			return does(true, func(context.Context) (tool.Result, error) {
				return tool.Text(strings.Repeat("é", 900) + "\xff"), nil
			}), nil
		},
		"poke": func(context.Context, string) (tool.Prepared, error) {
			return does(false, func(context.Context) (tool.Result, error) { return tool.Text(""), nil }), nil
		},
	}
	table, err := agent.Bind(o)
	if err != nil {
		t.Fatal(err)
	}
	d := newDesk()
	results, err := agent.RunCalls(context.Background(), d, table, []msg.Call{
		call("1", "look", `{"a":1}`), call("2", "loook", `{}`), call("3", "look", `{"a":`), call("4", "boom", ``),
		call("5", "odd", `{}`), call("6", "big", `{}`), call("7", "poke", `{}`), call("8", "repo_browser.look", `{}`), call("9", "zzz", "{}"),
	})
	if err != nil {
		t.Fatal(err)
	}
	broken := " failed because of a fault inside jig, not because of its arguments; what it had done until then may stand — try another way, or tell the user"
	want := []string{
		`saw {"a":1}`,
		`there is no tool "loook"; did you mean look?`,
		"the arguments of look are not valid JSON (unexpected end of JSON input); nothing was run — send the call again with one complete JSON object",
		"boom" + broken, "odd" + broken,
		strings.Repeat("é", 500) + "\n[output cut at 1000 bytes]",
		"[no output]",
		`there is no tool "repo_browser.look"; did you mean look?`,
		`there is no tool "zzz"; the tools are look, poke, boom, odd, big`,
	}
	for i, got := range texts(results) {
		if got != want[i] {
			t.Errorf("call %d\n got %s\nwant %s", i+1, got, want[i])
		}
	}
	closed := map[string]int{}
	for _, f := range facts(d.Line) {
		if c, ok := f.(proto.Closed); ok {
			closed[c.Call]++
			if (c.Call == "4" || c.Call == "5") != (c.Cause != "") {
				t.Errorf("call %s has cause %q in the log", c.Call, c.Cause)
			}
		}
	}
	for i := range want {
		if n := closed[fmt.Sprint(i+1)]; n != 1 {
			t.Errorf("call %d was closed %d times", i+1, n)
		}
	}
}

func facts(l *session.Line) []proto.Fact {
	l.Close()
	var out []proto.Fact
	for e := range l.Watch(context.Background(), 0) {
		if e.Fact != nil {
			out = append(out, e.Fact)
		}
	}
	return out
}

// The readers of one reply must overlap: each waits until all have begun.
func TestNeighboursThatMayRunTogether(t *testing.T) {
	var begun sync.WaitGroup
	begun.Add(3)
	o := owner{"look": func(context.Context, string) (tool.Prepared, error) {
		return does(true, func(context.Context) (tool.Result, error) {
			begun.Done()
			begun.Wait()
			return tool.Text("ok"), nil
		}), nil
	}}
	table, _ := agent.Bind(o)
	results, err := agent.RunCalls(context.Background(), newDesk(), table,
		[]msg.Call{call("1", "look", "{}"), call("2", "look", "{}"), call("3", "look", "{}")})
	if err != nil || strings.Join(texts(results), " ") != "ok ok ok" {
		t.Errorf("%v %v", texts(results), err)
	}
}

// A writer waits for what came before it, is prepared after that, and nothing overlaps it.
func TestWriterSeesWhatTheReadersBeforeItDid(t *testing.T) {
	var mu sync.Mutex
	read, writing := false, false
	o := owner{
		"look": func(context.Context, string) (tool.Prepared, error) {
			return does(true, func(context.Context) (tool.Result, error) {
				mu.Lock()
				defer mu.Unlock()
				if writing {
					return tool.Text("overlapped"), nil
				}
				read = true
				return tool.Text("read"), nil
			}), nil
		},
		"poke": func(context.Context, string) (tool.Prepared, error) {
			mu.Lock()
			defer mu.Unlock()
			if !read {
				return tool.Prepared{}, tool.Fails("not read yet")
			}
			return does(false, func(context.Context) (tool.Result, error) {
				mu.Lock()
				writing = true
				mu.Unlock()
				defer func() { mu.Lock(); writing = false; mu.Unlock() }()
				return tool.Text("wrote"), nil
			}), nil
		},
	}
	table, _ := agent.Bind(o)
	results, _ := agent.RunCalls(context.Background(), newDesk(), table,
		[]msg.Call{call("1", "look", "{}"), call("2", "poke", "{}"), call("3", "look", "{}")})
	if got := strings.Join(texts(results), " "); got != "read wrote read" {
		t.Error(got)
	}
}

func TestQuestionDecidesAndItsAnswerIsTold(t *testing.T) {
	ran := 0
	o := owner{"ask": func(context.Context, string) (tool.Prepared, error) {
		p := does(false, func(context.Context) (tool.Result, error) { ran++; return tool.Text("ran"), nil })
		p.Ask = &tool.Question{Scope: "ask", Text: "may it?", Refusal: "ask was not executed"}
		return p, nil
	}}
	table, _ := agent.Bind(o)
	d := newDesk()
	answers := []func(tool.Question) (bool, string){
		func(tool.Question) (bool, string) { return true, "" },
		func(tool.Question) (bool, string) { return false, "" },
		func(q tool.Question) (bool, string) { return false, q.Refusal },
	}
	var got []string
	for _, a := range answers {
		d.answer = a
		r, _ := agent.RunCalls(context.Background(), d, table, []msg.Call{call("1", "ask", "{}")})
		got = append(got, texts(r)...)
	}
	want := "ran|ask was not run: the user declined this call — do not try it again unless they ask for it|ask was not executed"
	if s := strings.Join(got, "|"); s != want || ran != 1 {
		t.Errorf("ran %d times: %s", ran, s)
	}
}

// Esc ends the running calls; those not begun say so, and the turn is not over.
func TestCancelledCallsSayHowFarTheyGot(t *testing.T) {
	d := newDesk()
	begun := make(chan bool)
	o := owner{
		"look": func(context.Context, string) (tool.Prepared, error) {
			return does(true, func(ctx context.Context) (tool.Result, error) {
				close(begun)
				<-ctx.Done()
				return tool.Result{}, ctx.Err()
			}), nil
		},
		"poke": func(context.Context, string) (tool.Prepared, error) {
			return does(false, func(context.Context) (tool.Result, error) { return tool.Text("poked"), nil }), nil
		},
	}
	table, _ := agent.Bind(o)
	go func() { <-begun; d.esc() }()
	results, err := agent.RunCalls(context.Background(), d, table, []msg.Call{call("1", "look", "{}"), call("2", "poke", "{}")})
	want := "look was cancelled|poke was not run: the calls were cancelled before its turn came"
	if got := strings.Join(texts(results), "|"); got != want || err != nil {
		t.Errorf("%v %s", err, got)
	}
}

func TestTwoToolsOfOneNameAreRefused(t *testing.T) {
	o := owner{"look": nil}
	o["look"] = func(context.Context, string) (tool.Prepared, error) { return tool.Prepared{}, nil }
	if _, err := agent.Bind(o, o); err == nil {
		t.Error("bound twice")
	}
}

// script is a model that answers by function.
type script []func(model.Request) (model.Reply, error)

func (s *script) Stream(ctx context.Context, r model.Request, tell func(model.Delta)) (model.Reply, error) {
	if len(*s) == 0 {
		return model.Reply{}, errors.New("the script is over")
	}
	step := (*s)[0]
	*s = (*s)[1:]
	reply, err := step(r)
	tell(model.Delta{Text: reply.Blocks.Text()})
	return reply, err
}

func says(text string) func(model.Request) (model.Reply, error) {
	return func(model.Request) (model.Reply, error) {
		return model.Reply{Blocks: msg.Blocks{msg.Text{Text: text}}, Stop: model.StopEnd}, nil
	}
}

func wants(stop model.Stop, calls ...msg.Call) func(model.Request) (model.Reply, error) {
	return func(model.Request) (model.Reply, error) {
		var r model.Reply
		for _, c := range calls {
			r.Blocks = append(r.Blocks, msg.Call{Given: c.ID, Name: c.Name, Args: c.Args})
		}
		r.Stop = stop
		return r, nil
	}
}

type nothing struct{}

func (nothing) Take(context.Context) []proto.Said   { return nil }
func (nothing) Wait(context.Context) (bool, string) { return false, "" }

var looker = owner{"look": func(_ context.Context, args string) (tool.Prepared, error) {
	return does(true, func(context.Context) (tool.Result, error) { return tool.Text("saw " + args), nil }), nil
}}

func turn(t *testing.T, d *desk, rounds int, steps ...func(model.Request) (model.Reply, error)) proto.Ended {
	t.Helper()
	table, err := agent.Bind(looker)
	if err != nil {
		t.Fatal(err)
	}
	m := script(steps)
	if err := d.Say(proto.Said{Message: msg.Say(msg.User, "go")}); err != nil {
		t.Fatal(err)
	}
	return agent.RunTurn(context.Background(), d, nothing{}, d.State, agent.Turn{Model: &m, Tools: table, Limits: agent.Limits{Rounds: rounds}})
}

func TestRepeatedProviderIDsStillMakeTwoCallsWithTwoResults(t *testing.T) {
	d := newDesk()
	var sent []msg.Message
	end := turn(t, d, 0,
		wants(model.StopCalls, call("call_1", "look", `{"n":1}`), call("call_1", "look", `{"n":2}`)),
		func(r model.Request) (model.Reply, error) { sent = r.Messages; return says("done")(r) })
	if end.Why != proto.Done || end.Rounds != 2 || len(sent) != 3 {
		t.Fatalf("%+v, %d messages", end, len(sent))
	}
	for i, b := range sent[2].Blocks {
		r := b.(msg.Result)
		if r.Call != sent[1].Blocks.Calls()[i].ID || r.Blocks.Text() != fmt.Sprintf(`saw {"n":%d}`, i+1) {
			t.Errorf("result %d: %+v", i, r)
		}
	}
	if ids := sent[1].Blocks.Calls(); ids[0].ID == ids[1].ID {
		t.Error("two calls share an id")
	}
}

func TestCallsOfACutReplyNeverRun(t *testing.T) {
	d := newDesk()
	var sent []msg.Message
	turn(t, d, 0, wants(model.StopLength, call("a", "look", `{"n":1}`), call("b", "look", `{"n":`)),
		func(r model.Request) (model.Reply, error) { sent = r.Messages; return says("ok")(r) })
	for _, b := range sent[2].Blocks {
		r := b.(msg.Result)
		if !r.Failed || !strings.HasPrefix(r.Blocks.Text(), "the reply was cut at the output limit before this look call was complete; nothing was run") {
			t.Errorf("%+v", r)
		}
	}
}

func TestCallsOfADeclinedReplyNeverRunAndEndTheTurn(t *testing.T) {
	d := newDesk()
	end := turn(t, d, 0, wants(model.StopRefusal, call("a", "look", `{"n":1}`), call("b", "nowhere", `{}`)), says("never asked"))
	if end.Why != proto.Failed || end.Rounds != 1 || end.Error != "the model declined to answer; none of its calls was run" {
		t.Errorf("%+v", end)
	}
	sent := d.State().Messages
	results := sent[len(sent)-1].Blocks
	for i, name := range []string{"look", "nowhere"} {
		r := results[i].(msg.Result)
		want := "the reply that this " + name + " call stood in was declined by the model or its provider; nothing was run — do without what was declined, or ask the user"
		if !r.Failed || r.Blocks.Text() != want {
			t.Errorf("%+v", r)
		}
	}
}

func TestThreeIdenticalMalformedCallsEndTheTurn(t *testing.T) {
	bad := wants(model.StopCalls, call("x", "look", `{"n":`))
	end := turn(t, newDesk(), 0, bad, bad, bad, says("never asked"))
	if end.Why != proto.Failed || end.Rounds != 3 || !strings.HasPrefix(end.Error, "the model made the same malformed call 3 times in a row: look: the arguments of look are not valid JSON") {
		t.Errorf("%+v", end)
	}
	cut := wants(model.StopLength, call("x", "look", `{"content":"aaa`))
	if end := turn(t, newDesk(), 0, cut, cut, cut, says("never asked")); end.Why != proto.Failed || end.Rounds != 3 {
		t.Errorf("cut: %+v", end)
	}
	good := wants(model.StopCalls, call("x", "look", `{}`))
	if end := turn(t, newDesk(), 0, bad, bad, good, bad, bad, says("fine")); end.Why != proto.Done {
		t.Errorf("a good call between does not count anew: %+v", end)
	}
}

func TestTurnBudgetIsTheWholeRuns(t *testing.T) {
	c := wants(model.StopCalls, call("x", "look", `{}`))
	end := turn(t, newDesk(), 2, c, c, says("too late"))
	want := "the tool loop used up --max-turns: 2 turns are the whole run's budget and the model wanted another; raise --max-turns or ask for less"
	if end.Why != proto.Failed || end.Error != want || end.Rounds != 2 {
		t.Errorf("%+v", end)
	}
	if end := turn(t, newDesk(), 1, says("in time")); end.Why != proto.Done {
		t.Errorf("%+v", end)
	}
}

func TestAnswerThatIsCutOrDeclinedIsAFailure(t *testing.T) {
	for stop, want := range map[model.Stop]string{
		model.StopLength:  "the model's answer was cut at its output limit; ask for a shorter one",
		model.StopRefusal: "the model declined to answer: I can't",
	} {
		end := turn(t, newDesk(), 0, func(model.Request) (model.Reply, error) {
			return model.Reply{Blocks: msg.Blocks{msg.Text{Text: "I\ncan't"}}, Stop: stop}, nil
		})
		if end.Why != proto.Failed || end.Error != want {
			t.Errorf("%+v", end)
		}
	}
}

func TestFailedRequestEndsTheTurnInOneLine(t *testing.T) {
	end := turn(t, newDesk(), 0, func(model.Request) (model.Reply, error) {
		return model.Reply{Blocks: msg.Blocks{msg.Call{Name: "look", Args: "{}"}}}, errors.New("it\nbroke")
	})
	if end.Why != proto.Failed || end.Error != "it broke" || end.Rounds != 1 {
		t.Errorf("%+v", end)
	}
}

// A model decides how many calls a reply has.
func TestCallsOfOneReplyAreBounded(t *testing.T) {
	var mu sync.Mutex
	now, most := 0, 0
	o := owner{"look": func(context.Context, string) (tool.Prepared, error) {
		return does(true, func(context.Context) (tool.Result, error) {
			mu.Lock()
			now++
			most = max(most, now)
			mu.Unlock()
			runtime.Gosched()
			mu.Lock()
			now--
			mu.Unlock()
			return tool.Text("ok"), nil
		}), nil
	}}
	table, _ := agent.Bind(o)
	var calls []msg.Call
	for i := range 500 {
		calls = append(calls, call(fmt.Sprint(i), "look", "{}"))
	}
	results, err := agent.RunCalls(context.Background(), newDesk(), table, calls)
	if err != nil || len(results) != 500 || most > 64 {
		t.Errorf("%d results, %d at a time, %v", len(results), most, err)
	}
}

// Preparing may cost as much as running: it is only repeated when something ran in between.
func TestLoneCallIsPreparedOnce(t *testing.T) {
	prepared := 0
	o := owner{"poke": func(context.Context, string) (tool.Prepared, error) {
		prepared++
		return does(false, func(context.Context) (tool.Result, error) { return tool.Text("ok"), nil }), nil
	}}
	table, _ := agent.Bind(o)
	if _, err := agent.RunCalls(context.Background(), newDesk(), table, []msg.Call{call("1", "poke", "{}"), call("2", "poke", "{}")}); err != nil || prepared != 2 {
		t.Errorf("prepared %d times, %v", prepared, err)
	}
}
