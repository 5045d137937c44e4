package print_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"testing"
	"time"

	"jig/internal/msg"
	"jig/internal/print"
	"jig/internal/proto"
	"jig/internal/tool"
)

// recorded is a host whose one session goes as it was written down.
type recorded struct {
	events []proto.Event
	refuse error
	done   []proto.Command
}

func (r *recorded) Do(_ context.Context, _ string, c proto.Command) error {
	r.done = append(r.done, c)
	return r.refuse
}

func (r *recorded) Watch(context.Context, string, uint64) iter.Seq[proto.Event] {
	return func(yield func(proto.Event) bool) {
		for _, e := range r.events {
			if !yield(e) {
				return
			}
		}
	}
}

// facts numbers facts as a session does.
func facts(list ...proto.Fact) []proto.Event {
	var out []proto.Event
	for i, f := range list {
		out = append(out, proto.Event{Seq: uint64(i + 1), Fact: f})
	}
	return out
}

func said(round int, usage msg.Usage, blocks ...msg.Block) proto.Said {
	return proto.Said{Message: msg.Message{Role: msg.Assistant, Blocks: blocks}, Round: round, Usage: &usage}
}

func run(t *testing.T, o print.Options, events []proto.Event) (print.Report, string) {
	t.Helper()
	var out bytes.Buffer
	o.Out = &out
	r, err := print.Run(context.Background(), &recorded{events: events}, "s1", "hello", o)
	if err != nil {
		t.Fatal(err)
	}
	return r, out.String()
}

func TestControlCharactersBecomeVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain é 日本 👍\tx\n":        "plain é 日本 👍\tx\n",
		"\x1b[31mred\x1b[0m":       "\uFFFD[31mred\uFFFD[0m",
		"\x1b]0;title\x07":         "\uFFFD]0;title\uFFFD",
		"\u009b31m\u0085":          "\uFFFD31m\uFFFD",
		"a\r\nb\rc":                "a\nbc",
		"a\x00b\x7fc\bd":           "a\uFFFDb\uFFFDc\uFFFDd",
		"x\u202eyx\u2066z\u2069":   "x\uFFFDyx\uFFFDz\uFFFD",
		"\xff\xfe":                 "\uFFFD\uFFFD",
		"no\u00a0break \u200d zwj": "no\u00a0break \u200d zwj",
	} {
		if got := print.Clean(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestTextIsTheAnswerAloneAndNothingWhenTheRunFailed(t *testing.T) {
	ok := facts(said(1, msg.Usage{}, msg.Text{Text: "Looking."}, msg.Call{ID: "c", Name: "grep"}),
		said(2, msg.Usage{}, msg.Text{Text: "An\x1b[31m "}, msg.Text{Text: "answer"}), proto.Ended{Why: proto.Done, Rounds: 2})
	if _, out := run(t, print.Options{Format: print.Text}, ok); out != "An\x1b[31m answer\n" {
		t.Errorf("%q", out)
	}
	if _, out := run(t, print.Options{Format: print.Text, Clean: true}, ok); out != "An\uFFFD[31m answer\n" {
		t.Errorf("%q", out)
	}
	for _, why := range []proto.Why{proto.Failed, proto.Interrupted} {
		r, out := run(t, print.Options{Format: print.Text}, facts(said(1, msg.Usage{}, msg.Text{Text: "half"}), proto.Ended{Why: why, Error: "so", Rounds: 1}))
		if out != "" || r.Reply != "" || r.Error != "so" || r.Why != why {
			t.Errorf("%q %+v", out, r)
		}
	}
}

func TestTheReportCountsEveryRound(t *testing.T) {
	r, out := run(t, print.Options{Format: print.JSON}, facts(
		proto.Began{Provider: "p", Model: "m"},
		proto.Said{Message: msg.Say(msg.User, "hello")},
		said(1, msg.Usage{Input: 10, Output: 1, CacheRead: 4, CacheWrite: 2}, msg.Call{Name: "b"}, msg.Call{Name: "a"}, msg.Call{Name: "b"}),
		proto.Said{Message: msg.Message{Role: msg.Assistant, Blocks: msg.Blocks{msg.Text{Text: "<ok> & done"}}}, Round: 2},
		proto.Ended{Why: proto.Done, Rounds: 2}))
	r.Duration = 0
	want := `{
  "type": "result",
  "provider": "p",
  "model": "m",
  "reply": "<ok> & done",
  "rounds": 2,
  "duration_ms": 0,
  "usage": {
    "input_tokens": 10,
    "output_tokens": 1,
    "cache_read_tokens": 4,
    "cache_write_tokens": 2,
    "total_tokens": 11
  },
  "round_usage": [
    {
      "round": 1,
      "tools": [
        "b",
        "a",
        "b"
      ],
      "usage": {
        "input_tokens": 10,
        "output_tokens": 1,
        "cache_read_tokens": 4,
        "cache_write_tokens": 2,
        "total_tokens": 11
      }
    },
    {
      "round": 2,
      "usage": {
        "input_tokens": 0,
        "output_tokens": 0,
        "cache_read_tokens": 0,
        "cache_write_tokens": 0,
        "total_tokens": 0
      }
    }
  ]
}
`
	var b bytes.Buffer
	if err := r.Write(print.Options{Format: print.JSON, Out: &b}); err != nil || b.String() != want {
		t.Errorf("%v\n%s", err, b.String())
	}
	if !json.Valid([]byte(out)) {
		t.Errorf("%s", out)
	}
}

func TestEventsTellOnlyWhatWasAdded(t *testing.T) {
	now := func(v any) proto.Event { return proto.Event{Key: proto.KeyReply, Now: v} }
	events := []proto.Event{
		now(proto.Writing{Reasoning: "hm"}),
		now(proto.Writing{Reasoning: "hm", Text: "Hel"}),
		now(proto.Writing{Reasoning: "hm", Text: "Hel"}),
		now(proto.Writing{Reasoning: "hm", Text: "Hello <you>", Call: "grep"}),
		now(proto.Writing{Text: "Again"}), // a retry began anew
		now(nil),
		now(proto.Writing{Text: "Next"}),
		{Key: proto.KeyCall + "call00001", Now: tool.Card{Kind: tool.CardText, Text: "half"}},
		{Key: proto.KeyCall + "call00001", Now: nil},
		{Seq: 1, Fact: proto.Ended{Why: proto.Done, Rounds: 1}},
	}
	_, out := run(t, print.Options{Format: print.JSONL}, events)
	lines := strings.Split(out, "\n")
	want := []string{
		`{"type":"delta","reasoning":"hm"}`,
		`{"type":"delta","text":"Hel"}`,
		`{"type":"delta","text":"lo <you>","call":"grep"}`,
		`{"type":"delta","text":"Again","reset":true}`,
		`{"type":"delta","text":"Next"}`,
		`{"type":"progress","call":"call00001","card":{"kind":"text","text":"half"}}`,
		`{"type":"ended","seq":1,"why":"done","rounds":1}`,
	}
	for i, w := range want {
		if i >= len(lines) || lines[i] != w {
			t.Fatalf("line %d is %q, want %s\n%s", i+1, lines[i], w, out)
		}
	}
	if len(lines) != len(want)+2 || !strings.HasPrefix(lines[len(want)], `{"type":"result",`) {
		t.Errorf("%q", lines[len(want):])
	}
}

// full is a standard output that takes no more.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestAnOutputThatTakesNothingIsAnError(t *testing.T) {
	for _, f := range []print.Format{print.Text, print.JSON, print.JSONL} {
		_, err := print.Run(context.Background(), &recorded{events: facts(proto.Ended{Why: proto.Done})}, "s1", "x", print.Options{Format: f, Out: full{}})
		if err == nil || err.Error() != "cannot write the output: no space left on device" {
			t.Errorf("%s: %v", f, err)
		}
	}
}

func TestAMessageThatIsRefusedIsAFailedRun(t *testing.T) {
	r, err := print.Run(context.Background(), &recorded{refuse: errors.New("session s1 is not open here")}, "s1", "x", print.Options{Format: print.Text})
	if err != nil || r.Error != "session s1 is not open here" || r.Why != proto.Failed {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestAnInterruptStopsTheTurnAndStillWaitsForItsEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	h := &stoppable{stopped: make(chan struct{})}
	r, err := print.Run(ctx, h, "s1", "x", print.Options{Format: print.Text, Out: &bytes.Buffer{}})
	if err != nil || r.Why != proto.Interrupted || r.Error != "interrupted" {
		t.Errorf("%+v, %v", r, err)
	}
}

// stoppable is a host whose turn ends when it is stopped, and not before.
type stoppable struct{ stopped chan struct{} }

func (s *stoppable) Do(_ context.Context, _ string, c proto.Command) error {
	if _, ok := c.(proto.Stop); ok {
		close(s.stopped)
	}
	return nil
}

func (s *stoppable) Watch(context.Context, string, uint64) iter.Seq[proto.Event] {
	return func(yield func(proto.Event) bool) {
		<-s.stopped
		yield(proto.Event{Seq: 1, Fact: proto.Ended{Why: proto.Interrupted, Error: "interrupted"}})
	}
}

func TestJSONHoldsNothingThatSteersATerminal(t *testing.T) {
	reply := "a\x1b[2J\u009b1mb\x7f\u202ec"
	for _, f := range []print.Format{print.JSON, print.JSONL} {
		_, out := run(t, print.Options{Format: f}, append([]proto.Event{{Key: proto.KeyReply, Now: proto.Writing{Text: reply}}},
			facts(said(1, msg.Usage{}, msg.Text{Text: reply}), proto.Ended{Why: proto.Done, Rounds: 1})...))
		if got := print.Clean(out); got != out {
			t.Errorf("%s: %q", f, out)
		}
		for line := range strings.Lines(strings.ReplaceAll(out, "\n  ", "")) {
			var r struct {
				Type, Reply, Text string
				Message           msg.Message
			}
			if err := json.Unmarshal([]byte(strings.TrimSuffix(line, "\n")), &r); err != nil && f == print.JSONL {
				t.Errorf("%v: %s", err, line)
			}
			if got := r.Reply + r.Text + r.Message.Blocks.Text(); f == print.JSONL && r.Type != "ended" && got != reply {
				t.Errorf("%q in %s", got, line)
			}
		}
	}
}

// A run that waits for its provider is not taken for dead: one line, one event, and nothing of a
// server's words that steers a terminal.
func TestAProvidersSilenceIsShownOnStandardErrorAndInTheEvents(t *testing.T) {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	var out, errs bytes.Buffer
	h := &recorded{events: []proto.Event{
		{Key: proto.KeyWaiting, Now: proto.Waiting{Since: at, Silence: &proto.Silence{Provider: "p", Kind: proto.KindSilence, Why: "h\x1b has sent\nnothing for 30s", Silent: 30, Try: 1}}},
		{Key: proto.KeyWaiting}, {Seq: 1, Fact: proto.Ended{Why: proto.Done}}}}
	if _, err := print.Run(t.Context(), h, "s1", "go", print.Options{Format: print.JSONL, Out: &out, Err: &errs}); err != nil {
		t.Fatal(err)
	}
	if errs.String() != "jig: h\ufffd has sent nothing for 30s\n" {
		t.Errorf("%q", errs.String())
	}
	first, _, _ := strings.Cut(out.String(), "\n")
	if first != `{"type":"waiting","provider":"p","kind":"silence","why":"h\u001b has sent\nnothing for 30s","silent":30,"try":1,"since":"2026-11-30T12:00:00Z"}` {
		t.Error(first)
	}
}

func TestAWaitForAProviderIsShownOnStandardErrorAndInTheEvents(t *testing.T) {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	wait := func(seconds float64, try, tries int) proto.Event {
		return proto.Event{Key: proto.KeyWaiting, Now: proto.Waiting{Since: at, Retry: &proto.Retry{
			Provider: "p", Kind: "limit", Why: "slow\x1b[31m\ndown", Until: at.Add(time.Minute), Seconds: seconds, Try: try, Tries: tries}}}
	}
	var out, errs bytes.Buffer
	h := &recorded{events: []proto.Event{wait(90.4, 2, 13), wait(0.5, 3, 0), wait(3600, 0, 0), {Key: proto.KeyWaiting}, {Seq: 1, Fact: proto.Ended{Why: proto.Done}}}}
	if _, err := print.Run(t.Context(), h, "s1", "go", print.Options{Format: print.JSONL, Out: &out, Err: &errs}); err != nil {
		t.Fatal(err)
	}
	want := "jig: waiting 1m30s, then try 2 of 13: slow\ufffd[31m down\njig: waiting 500ms, then try 3: slow\ufffd[31m down\njig: waiting 1h0m0s, then asking again: slow\ufffd[31m down\n"
	if errs.String() != want {
		t.Errorf("%q, want %q", errs.String(), want)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	first := `{"type":"waiting","provider":"p","kind":"limit","why":"slow\u001b[31m\ndown","until":"2026-11-30T12:01:00Z","seconds":90.4,"try":2,"tries":13,"since":"2026-11-30T12:00:00Z"}`
	if len(lines) != 5 || lines[0] != first {
		t.Errorf("%d lines: %s", len(lines), lines[0])
	}
}

func TestASummaryIsToldOfAndCountedButIsNoRound(t *testing.T) {
	var out, errs bytes.Buffer
	h := &recorded{events: append([]proto.Event{{Key: proto.KeyCompacting, Now: proto.Compacting{Tokens: 9000}}}, facts(
		proto.Compacted{Through: 3, Summary: msg.Say(msg.User, "so far"), Usage: &msg.Usage{Input: 100, Output: 10}, Archive: "/tmp/a\x1b.txt", Before: 9000, After: 800},
		said(1, msg.Usage{Input: 7, Output: 1}, msg.Text{Text: "answer"}), proto.Ended{Why: proto.Done, Rounds: 1})...)}
	r, err := print.Run(t.Context(), h, "s1", "go", print.Options{Format: print.JSONL, Out: &out, Err: &errs})
	if err != nil || r.Usage.Total != 118 || len(r.PerRound) != 1 || r.PerRound[0].Usage.Total != 8 || r.Rounds != 1 {
		t.Errorf("%+v %v", r, err)
	}
	if errs.String() != "jig: summed up the older part of the conversation: about 9000 tokens became 800; its full text is in /tmp/a\ufffd.txt\n" {
		t.Errorf("%q", errs.String())
	}
	if !strings.HasPrefix(out.String(), `{"type":"compacting","since":"0001-01-01T00:00:00Z","tokens":9000}`+"\n"+`{"type":"compacted","seq":1,"through":3,`) {
		t.Error(out.String())
	}
}
