package proto_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"jig/internal/money"
	"jig/internal/msg"
	"jig/internal/proto"
	"jig/internal/tool"
)

var limit = 2 * money.Dollar

var every = []proto.Fact{
	proto.Began{Agent: "coder", Provider: "p", Model: "m", Root: "/r", Tools: []string{"grep"}},
	proto.Said{Message: msg.Say(msg.User, "a < b")},
	proto.Said{Message: msg.Message{Role: msg.Assistant, Blocks: msg.Blocks{msg.Call{ID: "call00001", Name: "grep", Args: "{"}}}, Round: 1, Usage: &msg.Usage{Input: 3}, Stop: "calls"},
	proto.Opened{Call: "call00001", Tool: "grep", Show: tool.Group, Plan: tool.Plan{Title: "[grep x]", Ask: &tool.Question{Scope: "grep"}}},
	proto.Asked{Call: "call00001", Question: tool.Question{Text: "may it?", Card: &tool.Card{Kind: tool.CardDiff, Text: "+x", Added: 1}}},
	proto.Answered{Call: "call00001", By: "terminal", Choice: proto.Once},
	proto.Closed{Call: "call00001", Result: tool.Result{Blocks: msg.Blocks{msg.Text{Text: "ok"}}, Failed: true}, Cause: "panic"},
	proto.Cost{Turn: 1, Session: 1_500_000_000, Children: 2, Limit: &limit, Estimated: true},
	proto.Ended{Why: proto.Done, Rounds: 2},
	proto.Rewound{Before: 2},
	proto.Compacted{Through: 3, Summary: msg.Say(msg.User, "so far"), Usage: &msg.Usage{Output: 2}, Archive: "/tmp/a.txt", Before: 9, After: 1},
	proto.Goal{Objective: "all <green>", Status: proto.GoalBlocked, Why: "jig ended", By: "jig"},
	proto.Titled{Title: "tests"},
	proto.Forked{From: "abc"},
}

func TestEveryFactSurvivesWritingAndReading(t *testing.T) {
	for i, f := range every {
		b, err := proto.Encode(uint64(i+1), f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(string(b), "\n") || !strings.HasPrefix(string(b), `{"type":"`) {
			t.Errorf("not one line with its type first: %s", b)
		}
		seq, got, err := proto.Decode(b)
		if err != nil || seq != uint64(i+1) {
			t.Fatalf("%s: seq %d, %v", b, seq, err)
		}
		if d := cmp.Diff(f, got); d != "" {
			t.Error(d)
		}
	}
}

func TestUnknownFactIsAnError(t *testing.T) {
	if _, _, err := proto.Decode([]byte(`{"type":"wished","seq":1}`)); err == nil {
		t.Error("a fact nobody knows was read")
	}
}

func TestHowLongALimitLastsIsWrittenInSeconds(t *testing.T) {
	in := proto.Ended{Why: proto.Failed, Error: "a <b>", Rounds: 1, Limited: true, After: 1500 * time.Millisecond}
	line, err := proto.Encode(3, in)
	if want := `{"type":"ended","seq":3,"why":"failed","error":"a <b>","rounds":1,"limited":true,"after":1.5}`; err != nil || string(line) != want {
		t.Errorf("%s %v", line, err)
	}
	if _, out, err := proto.Decode(line); err != nil || out != proto.Fact(in) {
		t.Errorf("%+v %v", out, err)
	}
	for given, want := range map[string]time.Duration{"0": 0, "-1": 0, "1e300": 1e9 * time.Second} {
		_, f, err := proto.Decode([]byte(`{"type":"ended","seq":3,"after":` + given + `}`))
		if err != nil || f.(proto.Ended).After != want {
			t.Errorf("%s: %+v %v", given, f, err)
		}
	}
}
