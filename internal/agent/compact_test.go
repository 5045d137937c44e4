package agent_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"jig/internal/agent"
	"jig/internal/model"
	"jig/internal/msg"
	"jig/internal/proto"
	"jig/internal/session"
	"jig/internal/tool"
)

// windowed is a model with a window that it keeps to: it counts four bytes as a token.
type windowed struct {
	window  int
	blind   bool // it does not count what it was sent
	rounds  int  // how many replies call, before one ends
	summary func(n int, r model.Request) (model.Reply, error)

	sent      []model.Request // all
	summaries []model.Request // those that asked for a summary
	before    []model.Request // what was sent before each of those
	answered  []model.Request // those of rounds that were answered
	refused   int
}

func asksForSummary(r model.Request) bool {
	return strings.Contains(r.Messages[len(r.Messages)-1].Blocks.Text(), "Write a summary of it now")
}

func (w *windowed) Stream(ctx context.Context, r model.Request, _ func(model.Delta)) (model.Reply, error) {
	if err := ctx.Err(); err != nil {
		return model.Reply{}, err
	}
	w.sent = append(w.sent, r)
	if asksForSummary(r) {
		w.summaries = append(w.summaries, r)
		w.before = append(w.before, w.sent[len(w.sent)-2])
	}
	n := r.Size() / 4
	if w.window > 0 && n > w.window {
		w.refused++
		return model.Reply{}, &model.Error{Kind: model.KindOverflow, Status: 400, What: "it is too long", Text: "it is too long; shorten it"}
	}
	var reply model.Reply
	var err error
	switch {
	case asksForSummary(r):
		reply, err = brief()
		if w.summary != nil {
			reply, err = w.summary(len(w.summaries), r)
		}
	case len(w.answered) < w.rounds:
		w.answered = append(w.answered, r)
		reply = model.Reply{Stop: model.StopCalls, Blocks: msg.Blocks{msg.Text{Text: "I look."}, msg.Call{Name: "big", Args: "{}"}}}
	default:
		w.answered = append(w.answered, r)
		reply = model.Reply{Stop: model.StopEnd, Blocks: msg.Blocks{msg.Text{Text: "done"}}}
	}
	if !w.blind && err == nil {
		reply.Usage = msg.Usage{Input: n, Output: 1 + model.Size(reply.Blocks)/4}
	}
	return reply, err
}

func brief() (model.Reply, error) {
	return model.Reply{Stop: model.StopEnd, Blocks: msg.Blocks{msg.Text{Text: "SUMMARY of what was done."}}}, nil
}

// long is about so many tokens of text.
func long(tokens int) string { return strings.Repeat("word ", tokens*4/5) }

// bench is a turn with a tool that brings so many tokens.
func benchTurn(m model.Model, window, result int) agent.Turn {
	o := owner{"big": func(context.Context, string) (tool.Prepared, error) {
		return does(false, func(context.Context) (tool.Result, error) { return tool.Text(long(result)), nil }), nil
	}}
	table, _ := agent.Bind(uncapped{o})
	return agent.Turn{Model: m, Tools: table, Send: agent.Send{Provider: "p", Model: "m", System: "Be good."}, Room: agent.Room{Window: window}}
}

// uncapped is an owner whose results are not cut.
type uncapped struct{ owner }

func (o uncapped) Specs() []tool.Spec {
	all := o.owner.Specs()
	for i := range all {
		all[i].Cap = 10 << 20
	}
	return all
}

// runs says something and runs the turn.
func runs(t *testing.T, d *desk, turn agent.Turn, text string) proto.Ended {
	t.Helper()
	if err := d.Say(proto.Said{Message: msg.Say(msg.User, text)}); err != nil {
		t.Fatal(err)
	}
	end := agent.RunTurn(context.Background(), d, nothing{}, d.State, turn)
	if err := d.Say(end); err != nil {
		t.Fatal(err)
	}
	return end
}

func compactions(l *session.Line) (out []proto.Compacted) {
	for _, f := range l.Facts() {
		if c, ok := f.(proto.Compacted); ok {
			out = append(out, c)
		}
	}
	return out
}

// sendable checks what every provider wants: each call is answered in the message after it, and nothing
// is answered that was not called.
func sendable(t *testing.T, messages []msg.Message) {
	t.Helper()
	open := map[string]bool{}
	for i, m := range messages {
		for _, b := range m.Blocks {
			if r, ok := b.(msg.Result); ok {
				if !open[r.Call] {
					t.Errorf("message %d answers %s, which was not called", i, r.Call)
				}
				delete(open, r.Call)
			}
		}
		if len(open) > 0 {
			t.Errorf("message %d leaves %v without an answer", i, open)
		}
		for _, c := range m.Blocks.Calls() {
			open[c.ID] = true
		}
	}
	if messages[0].Role != msg.User {
		t.Errorf("it begins with %s", messages[0].Role)
	}
}

func TestConversationIsSummedUpBeforeItFillsTheWindow(t *testing.T) {
	for _, blind := range []bool{false, true} {
		w := &windowed{window: 12_000, rounds: 20, blind: blind}
		d := newDesk()
		turn := benchTurn(w, 12_000, 1_000)
		turn.Limits.Rounds = 21 // none of them is a summary's
		var archived []string
		turn.Room.Archive = func(text string) string {
			archived = append(archived, text)
			return fmt.Sprintf("/tmp/a/%d.txt", len(archived))
		}
		if end := runs(t, d, turn, "read it all, and mind the COMMAS"); end.Why != proto.Done || end.Rounds != 21 {
			t.Fatalf("%+v", end)
		}
		all := compactions(d.Line)
		if len(all) < 2 || len(all) > 5 || w.refused > 0 || len(w.sent) != 21+len(all) {
			t.Fatalf("%d summaries, %d requests, %d refused", len(all), len(w.sent), w.refused)
		}
		for i, r := range w.summaries {
			if r.System != "Be good." || len(r.Tools) != 1 {
				t.Errorf("summary %d is asked for with other words: %q, %d tools", i, r.System, len(r.Tools))
			}
			// The provider has read all of it but the last message.
			before := w.before[i].Messages
			older := r.Messages[:len(r.Messages)-1]
			if len(older) > len(before) || !reflect.DeepEqual(older, before[:len(older)]) {
				t.Errorf("summary %d does not begin as the request before it", i)
			}
		}
		for _, r := range w.answered {
			sendable(t, r.Messages)
		}
		last := w.answered[20].Messages
		first := last[0].Blocks.Text()
		if !strings.Contains(first, "SUMMARY of what was done.") || !strings.Contains(first, "/tmp/a/"+fmt.Sprint(len(all))+".txt") || len(last) < 3 {
			t.Errorf("%d messages, the first one: %s", len(last), first)
		}
		if !strings.Contains(archived[0], "mind the COMMAS") || !strings.Contains(archived[0], "result of call00001") || !strings.Contains(archived[1], "SUMMARY of what was done.") {
			t.Errorf("archived: %.300q", archived)
		}
		for _, c := range all {
			if c.After >= c.Before*3/4 || c.Archive == "" || (c.Usage == nil) != blind {
				t.Errorf("%+v", c)
			}
		}
		said := 0
		for _, f := range d.Facts() {
			if _, ok := f.(proto.Said); ok {
				said++
			}
		}
		if said != 22 {
			t.Errorf("%d messages are in the log, want all 22", said)
		}
	}
}

func TestOverflowIsSummedUpAndTheRequestMadeOnceMore(t *testing.T) {
	for name, known := range map[string]int{"unknown": 0, "wrong": 1_000_000} {
		w := &windowed{window: 8_000, rounds: 12}
		d := newDesk()
		end := runs(t, d, benchTurn(w, known, 1_000), "go")
		n := len(compactions(d.Line))
		if end.Why != proto.Done || end.Rounds != 13 || n == 0 || w.refused != n || len(w.sent) != 13+2*n {
			t.Errorf("%s: %+v, %d summaries, %d refused, %d requests", name, end, n, w.refused, len(w.sent))
		}
	}
}

func TestSummaryThatIsOfNoUseChangesNothing(t *testing.T) {
	text := func(s string, stop model.Stop) func(int, model.Request) (model.Reply, error) {
		return func(int, model.Request) (model.Reply, error) {
			return model.Reply{Stop: stop, Blocks: msg.Blocks{msg.Text{Text: s}}}, nil
		}
	}
	fails := func(e model.Error) func(int, model.Request) (model.Reply, error) {
		return func(int, model.Request) (model.Reply, error) { return model.Reply{}, &e }
	}
	for name, c := range map[string]struct {
		summary func(int, model.Request) (model.Reply, error)
		tries   int
		says    string
	}{
		"a call": {func(int, model.Request) (model.Reply, error) {
			return model.Reply{Stop: model.StopCalls, Blocks: msg.Blocks{msg.Text{Text: "a summary"}, msg.Call{Name: "big", Args: "{}"}}}, nil
		}, 2, "called a tool"},
		"empty":           {text(" \n", model.StopEnd), 2, "was empty"},
		"cut":             {text("half of", model.StopLength), 2, "was cut"},
		"declined":        {text("no", model.StopRefusal), 2, "declined to write a summary: no"},
		"longer":          {text(long(9_000), model.StopEnd), 2, "was too long"},
		"too long itself": {fails(model.Error{Kind: model.KindOverflow, What: "it is too long", Text: "it is too long; x"}), 2, "it is too long; start a new session"},
		"out of money":    {fails(model.Error{Kind: model.KindQuota, Text: "nothing left; pay"}), 1, "nothing left; pay"},
		"broken":          {fails(model.Error{Kind: model.KindServer, Text: "it is broken; try again later", Final: true}), 1, "try again later"},
	} {
		w := &windowed{window: 12_000, rounds: 50, summary: c.summary}
		d := newDesk()
		end := runs(t, d, benchTurn(w, 12_000, 1_000), "go")
		rounds := len(w.answered)
		if end.Why != proto.Failed || end.Rounds != rounds || !strings.Contains(end.Error, c.says) || strings.Contains(end.Error, "\n") {
			t.Errorf("%s: %+v", name, end)
		}
		if own := name == "out of money" || name == "broken"; own == strings.Contains(end.Error, "jig resume ID") {
			t.Errorf("%s: %s", name, end.Error)
		}
		if len(w.summaries) != c.tries || len(w.sent) != rounds+c.tries {
			t.Errorf("%s: %d requests for a summary, want %d; %d in all", name, len(w.summaries), c.tries, len(w.sent))
		}
		want := slices.Concat(w.answered[rounds-1].Messages, d.State().Messages[2*rounds-1:])
		if len(compactions(d.Line)) != 0 || len(d.State().Messages) != 1+2*rounds || !reflect.DeepEqual(d.State().Messages, want) {
			t.Errorf("%s: the conversation is another one", name)
		}
		if d.State().Calls != rounds {
			t.Errorf("%s: %d calls", name, d.State().Calls)
		}
	}
}

// The first answer may well be bad and the second one good.
func TestSecondTryForASummaryCounts(t *testing.T) {
	w := &windowed{window: 12_000, rounds: 12, summary: func(n int, r model.Request) (model.Reply, error) {
		if n%2 == 1 {
			return model.Reply{Stop: model.StopEnd, Usage: msg.Usage{Input: 1}, Blocks: msg.Blocks{msg.Text{Text: " "}}}, nil
		}
		return brief()
	}}
	d := newDesk()
	end := runs(t, d, benchTurn(w, 12_000, 1_000), "go")
	all := compactions(d.Line)
	if end.Why != proto.Done || len(all) == 0 || len(w.summaries) != 2*len(all) {
		t.Fatalf("%+v: %d summaries of %d requests", end, len(all), len(w.summaries))
	}
	if u := all[0].Usage; u == nil || u.Input <= w.summaries[1].Size()/4 || all[0].Asked != 2 {
		t.Errorf("both are paid for, and %+v of %d is counted", u, all[0].Asked)
	}
}

func TestPromptThatFillsTheWindowIsNotSummedUp(t *testing.T) {
	w := &windowed{window: 12_000, rounds: 50}
	d := newDesk()
	turn := benchTurn(w, 12_000, 300)
	turn.Send.System = long(11_000)
	end := runs(t, d, turn, "go")
	if end.Why != proto.Failed || len(w.summaries) != 0 || w.refused != 1 || len(w.sent) != len(w.answered)+1 {
		t.Fatalf("%+v: %d requests, %d for a summary", end, len(w.sent), len(w.summaries))
	}
	if end.Error != "it is too long; a summary would not help, since the system prompt, the tools and the last message are too long by themselves: shorten them or use a model with a larger context window" {
		t.Error(end.Error)
	}
	// The next message costs one request.
	before := len(w.sent)
	if end := runs(t, d, turn, "again"); end.Why != proto.Failed || len(w.sent) != before+1 {
		t.Errorf("%+v: %d requests more", end, len(w.sent)-before)
	}
}

func TestOneResultThatIsMoreThanTheWindowIsSummedUpCut(t *testing.T) {
	w := &windowed{window: 32_000, rounds: 1}
	d := newDesk()
	end := runs(t, d, benchTurn(w, 32_000, 200_000), "go")
	if end.Why != proto.Done || len(w.sent) != 3 || w.refused != 0 || len(w.summaries) != 1 {
		t.Fatalf("%+v: %d requests, %d refused", end, len(w.sent), w.refused)
	}
	r := w.summaries[0].Messages[2].Blocks[0].(msg.Result)
	if n := len(r.Blocks.Text()); n < 1_000 || n > 100_000 || !strings.Contains(r.Blocks.Text(), "bytes left out here") {
		t.Errorf("%d bytes of it are read", n)
	}
	// With a window that is not known it takes one refusal more, and one try.
	w = &windowed{window: 32_000, rounds: 1}
	end = runs(t, newDesk(), benchTurn(w, 0, 200_000), "go")
	if end.Why != proto.Done || len(w.sent) > 5 || len(w.summaries) > 2 {
		t.Errorf("%+v: %d requests, %d refused", end, len(w.sent), w.refused)
	}
}

func TestRoundsThatFillTheWindowEachTimeCometoAnEnd(t *testing.T) {
	w := &windowed{window: 32_000, rounds: 1_000_000}
	d := newDesk()
	end := runs(t, d, benchTurn(w, 32_000, 200_000), "go")
	if end.Why != proto.Failed || len(w.summaries) != 3 || len(w.sent) != 7 || !strings.Contains(end.Error, "each of the last 3 rounds has filled it again") {
		t.Fatalf("%+v: %d requests, %d for a summary", end, len(w.sent), len(w.summaries))
	}
}

func TestMessageThatIsMoreThanTheWindowEndsAtOnce(t *testing.T) {
	w := &windowed{window: 12_000}
	d := newDesk()
	if end := runs(t, d, benchTurn(w, 12_000, 1), long(40_000)); end.Why != proto.Failed || len(w.sent) != 1 {
		t.Errorf("%+v: %d requests", end, len(w.sent))
	}
}

func TestInterruptedSummaryChangesNothing(t *testing.T) {
	d := newDesk()
	ctx, cancel := context.WithCancel(context.Background())
	w := &windowed{window: 12_000, rounds: 50, summary: func(int, model.Request) (model.Reply, error) {
		cancel()
		return model.Reply{Blocks: msg.Blocks{msg.Text{Text: "half a summ"}}}, ctx.Err()
	}}
	if err := d.Say(proto.Said{Message: msg.Say(msg.User, "go")}); err != nil {
		t.Fatal(err)
	}
	end := agent.RunTurn(ctx, d, nothing{}, d.State, benchTurn(w, 12_000, 1_000))
	st := d.State()
	if end.Why != proto.Interrupted || len(compactions(d.Line)) != 0 || len(st.Messages) != 1+2*len(w.answered) {
		t.Errorf("%+v, %d messages", end, len(st.Messages))
	}
	for _, m := range st.Messages {
		if strings.Contains(m.Blocks.Text(), "half a summ") {
			t.Error("what was stopped is in the conversation")
		}
	}
}

func TestPersonIsAskedBeforeASummaryAndMayDeclineUntilTheProviderRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		answers []proto.Choice
		asked   int
		why     proto.Why
	}{
		"yes":        {[]proto.Choice{proto.Once, proto.Once, proto.Once, proto.Once}, 2, proto.Done},
		"no, yes":    {[]proto.Choice{proto.Deny, proto.Once, proto.Once, proto.Once}, 2, proto.Done},
		"no, no":     {[]proto.Choice{proto.Deny, proto.Deny}, 2, proto.Failed},
		"only in it": {nil, 0, proto.Done},
	} {
		w := &windowed{window: 12_000, rounds: 16}
		d := newDesk()
		turn := benchTurn(w, 12_000, 1_000)
		turn.Room.Ask = c.answers != nil
		asked := 0
		d.answer = func(q tool.Question) (bool, string) {
			a := c.answers[min(asked, len(c.answers)-1)]
			asked++
			if q.Scope != proto.CallCompaction || !strings.Contains(q.Text, "12000") {
				t.Errorf("%s: %+v", name, q)
			}
			if err := d.Say(proto.Asked{Call: proto.CallCompaction, Question: q}, proto.Answered{Call: proto.CallCompaction, By: "terminal", Choice: a}); err != nil {
				t.Fatal(err)
			}
			return a == proto.Once, ""
		}
		end := runs(t, d, turn, "go")
		if end.Why != c.why || asked != c.asked {
			t.Errorf("%s: asked %d times: %+v", name, asked, end)
		}
		if no := strings.HasPrefix(name, "no"); no != (w.refused > 0) {
			t.Errorf("%s: refused %d times", name, w.refused)
		}
	}
}

func TestSummaryByHandKeepsWhatItIsToldToAndAShortTail(t *testing.T) {
	w := &windowed{window: 100_000, rounds: 5}
	d := newDesk()
	turn := benchTurn(w, 100_000, 1_000)
	runs(t, d, turn, "go")
	if err := agent.Compact(context.Background(), d, d.State(), turn, "the names of all files"); err != nil {
		t.Fatal(err)
	}
	last := w.summaries[0].Messages[len(w.summaries[0].Messages)-1].Blocks.Text()
	if !strings.Contains(last, "The user asks of this summary:\nthe names of all files") {
		t.Error(last)
	}
	st := d.State()
	sendable(t, st.Messages)
	if len(st.Messages) != 4 || st.Context != 0 || st.Counted != 0 { // the summary, a call, its result, the answer
		t.Errorf("%d messages, %d tokens counted of %d", len(st.Messages), st.Context, st.Counted)
	}
	// Nothing is left that would become shorter.
	if err := agent.Compact(context.Background(), d, d.State(), turn, ""); err != nil {
		t.Fatal(err)
	}
	before := d.State().Messages
	err := agent.Compact(context.Background(), d, d.State(), turn, "")
	if err == nil || !reflect.DeepEqual(d.State().Messages, before) {
		t.Errorf("%v: %d messages", err, len(d.State().Messages))
	}
}

func TestSummaryThatCannotBeLoggedEndsTheTurn(t *testing.T) {
	w := &windowed{window: 12_000, rounds: 50}
	d := &brittle{desk: newDesk()}
	if err := d.Say(proto.Said{Message: msg.Say(msg.User, "go")}); err != nil {
		t.Fatal(err)
	}
	end := agent.RunTurn(context.Background(), d, nothing{}, d.State, benchTurn(w, 12_000, 1_000))
	if end.Why != proto.Failed || end.Error != "the session's log could not be written: disk full" || len(w.summaries) != 1 {
		t.Errorf("%+v", end)
	}
}

// brittle is a desk whose log takes no summary.
type brittle struct{ *desk }

func (b *brittle) Say(facts ...proto.Fact) error {
	for _, f := range facts {
		if _, ok := f.(proto.Compacted); ok {
			return errors.New("disk full")
		}
	}
	return b.desk.Say(facts...)
}
