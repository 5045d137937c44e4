package history_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"jig/internal/history"
	"jig/internal/msg"
	"jig/internal/proto"
	"jig/internal/tool"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// numbered makes facts as the log has them, from a number on.
func numbered(from uint64, facts ...proto.Fact) (out []history.Fact) {
	for i, f := range facts {
		out = append(out, history.Fact{Seq: from + uint64(i), Time: noon, Fact: f})
	}
	return out
}

func user(text string) proto.Said { return proto.Said{Message: msg.Say(msg.User, text)} }

func reply(blocks ...msg.Block) proto.Said {
	return proto.Said{Message: msg.Message{Role: msg.Assistant, Blocks: blocks}}
}

func closed(call, text string, failed bool) proto.Closed {
	r := tool.Text(text)
	r.Failed = failed
	return proto.Closed{Call: call, Result: r}
}

// said is what entries say, in short.
func said(entries []history.Entry) (out []string) {
	for _, e := range entries {
		s := fmt.Sprintf("%d %s", e.Fact, e.Kind)
		if e.Tool != "" {
			s += fmt.Sprintf(" %s %s {%s}", e.Tool, e.Outcome, e.Args)
		}
		out = append(out, s+": "+e.Text)
	}
	return out
}

func TestTranscriptIsWhatWasSaidAndDoneAndNotWhatWasThought(t *testing.T) {
	p := history.Projector{Session: "s", Attributes: func(root string) map[string]string { return map[string]string{"repository": root} }}
	c := p.Next(numbered(1,
		proto.Began{Agent: "coder", Root: "/r"},
		user("mend it"),
		reply(msg.Reasoning{Text: "secretly"}, msg.Text{Text: "I look."}, msg.Call{ID: "a", Name: "grep", Args: `{"pattern":"x\ny","n":3}`},
			msg.Call{ID: "b", Name: "shell", Args: `{"command":`}, msg.Call{ID: "c", Name: "shell", Args: `{}`}, msg.Call{ID: "d", Name: "shell", Args: `{}`}),
		proto.Opened{Call: "a", Tool: "grep"},
		proto.Answered{Call: "c", Choice: proto.Deny},
		closed("b", "[exit 1]", true),
		closed("a", "found", false),
		closed("c", "no", true),
		closed("d", "shell was cancelled", true),
		reply(msg.Call{ID: "e", Name: "shell", Args: `{}`}, msg.Call{ID: "f", Name: "write_file", Args: `{}`}),
		proto.Opened{Call: "f", Tool: "write_file", Plan: tool.Plan{Ask: &tool.Question{Refusal: "nobody may say yes"}}},
		closed("f", "nobody may say yes", true),
		closed("e", "half of it\n[command cancelled]", true),
		proto.Said{Message: msg.Say(msg.User, "job b3 ended"), Notice: "b"},
		proto.Said{Message: msg.Say(msg.User, "it is another day"), Notice: proto.NoticeDate},
		proto.Said{Message: msg.Message{Role: msg.User, Blocks: msg.Blocks{msg.Image{MIME: "image/png", Data: []byte("PNG")}}}},
		proto.Goal{Objective: "all green", Status: proto.GoalActive},
		proto.Compacted{Through: 3, Summary: msg.Say(msg.User, "a summary")},
		proto.Ended{Why: proto.Done},
	))
	want := []string{
		"2 user: mend it",
		"3 assistant: I look.",
		"6 tool shell failed {{\"command\":}: [exit 1]",
		"7 tool grep succeeded {pattern: x\ny\nn: 3}: found",
		"8 tool shell blocked {}: no",
		"9 tool shell cancelled {}: shell was cancelled",
		"12 tool write_file blocked {}: nobody may say yes",
		"13 tool shell cancelled {}: half of it\n[command cancelled]",
		"14 notice: job b3 ended",
		"17 notice: goal active: all green",
	}
	if d := cmp.Diff(want, said(c.Append)); d != "" {
		t.Error(d)
	}
	if c.After != 0 || c.Upto != 19 || c.Cut != 0 || c.Created.Attributes["repository"] != "/r" || !c.Created.Time.Equal(noon) {
		t.Errorf("%+v", c)
	}
}

func TestRewindCutsWhatWasTranscribedAndWhatWasNotYet(t *testing.T) {
	p := history.Projector{Session: "s"}
	p.Next(numbered(1, proto.Began{}, user("one"), reply(msg.Text{Text: "1"})))
	c := p.Next(numbered(4, user("two"), reply(msg.Text{Text: "2"}), proto.Rewound{Before: 4}, user("three")))
	if d := cmp.Diff([]string{"7 user: three"}, said(c.Append)); d != "" || c.Cut != 0 {
		t.Error(c.Cut, d)
	}
	c = p.Next(numbered(8, proto.Rewound{Before: 7}, proto.Rewound{Before: 2}, user("four"), proto.Rewound{Before: 10}, user("five")))
	if d := cmp.Diff([]string{"12 user: five"}, said(c.Append)); d != "" || c.Cut != 2 {
		t.Error(c.Cut, d)
	}
}

func TestResultThatComesLaterStillHasItsCall(t *testing.T) {
	facts := numbered(1, proto.Began{}, reply(msg.Call{ID: "a", Name: "grep", Args: `{"pattern":"x"}`}), proto.Opened{Call: "a"}, closed("a", "found", false), closed("z", "nobody's", false))
	p := history.Projector{Session: "s"}
	p.Skip(3, facts[1:3])
	c := p.Next(facts)
	if d := cmp.Diff([]string{"4 tool grep succeeded {pattern: x}: found"}, said(c.Append)); d != "" || c.After != 3 {
		t.Error(c.After, d)
	}
}

func TestLongTextLosesItsMiddleAtWholeCharacters(t *testing.T) {
	for _, most := range []int{200, 201, 202, 203} {
		s := "begin " + strings.Repeat("é€", 200) + " end"
		got := history.Bound(s, most)
		if len(got) > most || !utf8.ValidString(got) || !strings.HasPrefix(got, "begin") || !strings.HasSuffix(got, " end") || !strings.Contains(got, "bytes are left out here") {
			t.Errorf("%d: %q", most, got)
		}
	}
	if got := history.Bound("as it is", 8); got != "as it is" {
		t.Error(got)
	}
	p := history.Projector{}
	long := strings.Repeat("x", 1<<20)
	c := p.Next(numbered(1, user(long), reply(msg.Text{Text: long}, msg.Call{ID: "a", Name: "w", Args: `{"content":"` + long + `"}`}), closed("a", long, false)))
	for _, e := range c.Append {
		if len(e.Text) > history.MaxText || len(e.Args) > history.MaxArgs || e.Kind == history.Tool && len(e.Text) > history.MaxResult {
			t.Errorf("%s: %d and %d bytes", e.Kind, len(e.Args), len(e.Text))
		}
	}
}

func TestSnippetShowsTheMatchInOneLine(t *testing.T) {
	far := strings.Repeat("word ", 500)
	for _, c := range []struct{ query, text, want string }{
		{"needle", "a needle", "a needle"},
		{"cafe", "at the Café\nthere", "at the Café there"},
		{"CAFE\u0301", "at the café", "at the café"},
		{`"the needle"`, "a needle, then the\n  needle", "a needle, then the needle"},
		{"nee*", far + "the needle " + far, "the needle"},
		{"missing", far, "word word"},
		{"internal/store", "see " + far + "internal/store.go", "internal/store.go"},
	} {
		terms, err := history.Parse(c.query)
		if err != nil {
			t.Fatal(err)
		}
		got := history.Entry{Text: c.text}.Excerpt(terms)
		if !strings.Contains(got, c.want) || len(got) > 300 || strings.Contains(got, "\n") {
			t.Errorf("%s: %q", c.query, got)
		}
	}
	e := history.Entry{Tool: "shell", Args: "command: go test", Text: "ok"}
	terms, _ := history.Parse("test")
	if got := e.Excerpt(terms); got != "command: go test" {
		t.Errorf("%q", got)
	}
	if m := history.Matches("a b a b", []history.Term{{Words: []string{"a", "b"}}}, 9); !cmp.Equal(m, [][2]int{{0, 3}, {4, 7}}) {
		t.Errorf("%v", m)
	}
}
