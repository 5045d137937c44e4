package print_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"jig/internal/msg"
	"jig/internal/print"
	"jig/internal/proto"
	"jig/internal/tool"
)

func drawn(t *testing.T, color bool, list ...proto.Fact) string {
	t.Helper()
	var b bytes.Buffer
	v := print.NewView(&b, color)
	for _, e := range facts(list...) {
		if err := v.Show(e); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func opened(id, title string) proto.Opened {
	return proto.Opened{Call: id, Plan: tool.Plan{Title: title}}
}

func closed(id, text string) proto.Closed {
	return proto.Closed{Call: id, Result: tool.Text(text)}
}

func TestCallsThatRanTogetherAreDrawnInTheirOrder(t *testing.T) {
	got := drawn(t, false, opened("a", "[grep x]"), opened("b", "[read_file y]"), closed("b", "second"), closed("a", "first"))
	want := "\n[grep x]\n  ⎿ first\n\n[read_file y]\n  ⎿ second\n"
	if got != want {
		t.Errorf("%q", got)
	}
}

func TestLongResultsAreShortened(t *testing.T) {
	var rows []string
	for i := range 10 {
		rows = append(rows, fmt.Sprint("row ", i))
	}
	got := drawn(t, false, opened("a", "[x]"), closed("a", strings.Join(rows, "\n")+"\n"))
	if want := "\n[x]\n  ⎿ row 0\n    row 1\n    … +8 lines\n"; got != want {
		t.Errorf("%q", got)
	}
	got = drawn(t, false, opened("a", "[x]"), closed("a", "1\n2\n3"))
	if want := "\n[x]\n  ⎿ 1\n    2\n    3\n"; got != want {
		t.Errorf("%q", got)
	}
	got = drawn(t, false, opened("a", "[x]"), closed("a", strings.Repeat("é", 500)))
	if want := "\n[x]\n  ⎿ " + strings.Repeat("é", 119) + "…\n"; got != want {
		t.Errorf("%q", got)
	}
}

func TestNothingForeignSteersTheTerminal(t *testing.T) {
	r := tool.Text("done")
	r.Card = &tool.Card{Kind: tool.CardDiff, Text: "@@ -1 +1 @@\n-a\x1b[2J\n+b\x07\n", Added: 1, Removed: 1}
	got := drawn(t, true,
		said(1, msg.Usage{}, msg.Text{Text: "I\x1b]0;x\x07 look\u202e"}, msg.Call{ID: "a"}),
		opened("a", "[read_file \x1b[31mx\ny]"), closed("a", "text\x1b[2J\u009b1m"),
		opened("b", "[edit_file z]"), proto.Closed{Call: "b", Result: r})
	for i, part := range strings.Split(got, "\x1b[")[1:] { // what the view itself paints
		if code, _, ok := strings.Cut(part, "m"); !ok || strings.Trim(code, "0123456789;") != "" {
			t.Errorf("sequence %d: %q in %q", i, part, got)
		}
	}
	for _, bad := range []string{"\x07", "\x1b]", "\u009b", "\u202e", "\x1b[31mx"} {
		if strings.Contains(got, bad) {
			t.Errorf("%q holds %q", got, bad)
		}
	}
}

func TestADiffIsDrawnInsteadOfTheResult(t *testing.T) {
	r := tool.Text("1 replacement(s) in a")
	r.Card = &tool.Card{Kind: tool.CardDiff, Title: "a", Text: "@@ -1,2 +1,2 @@\n x\n-a\n+b\n", Added: 1, Removed: 1}
	got := drawn(t, false, opened("a", "[edit_file a]"), proto.Closed{Call: "a", Result: r})
	if want := "\n[edit_file a] · +1 -1\n    @@ -1,2 +1,2 @@\n     x\n    -a\n    +b\n"; got != want {
		t.Errorf("%q", got)
	}
	got = drawn(t, true, opened("a", "[edit_file a]"), proto.Closed{Call: "a", Result: r})
	if want := "\n\x1b[2m[\x1b[0m\x1b[1;36medit_file\x1b[0m\x1b[36m a\x1b[0m\x1b[2m]\x1b[0m\x1b[2m · +1 -1\x1b[0m\n    \x1b[2m@@ -1,2 +1,2 @@\x1b[0m\n     x\n    \x1b[31m-a\x1b[0m\n    \x1b[32m+b\x1b[0m\n"; got != want {
		t.Errorf("%q", got)
	}
}

func TestTheAnswerIsNotDrawnTwice(t *testing.T) {
	if got := drawn(t, false, said(1, msg.Usage{}, msg.Text{Text: "the answer"})); got != "" {
		t.Errorf("%q", got)
	}
	if got := drawn(t, false, said(1, msg.Usage{}, msg.Text{Text: " first this \n"}, msg.Call{ID: "a"})); got != "\n◆ first this\n" {
		t.Errorf("%q", got)
	}
}

// The answers of a goal's turns are not the run's, so nobody would see them: the last one is when the goal
// is complete.
func TestAnswersOfAGoalsTurnsAreDrawn(t *testing.T) {
	goal := func(s proto.GoalStatus, why string) proto.Goal {
		return proto.Goal{Objective: "x\x1b", Status: s, Why: why}
	}
	answer := func(s string) proto.Said { return said(1, msg.Usage{}, msg.Text{Text: s}) }
	end := proto.Ended{Why: proto.Done}
	got := drawn(t, false, goal(proto.GoalActive, ""), answer("one"), end, answer("two"), end, goal(proto.GoalDone, ""), answer("three"), end)
	if want := "\n◎ goal active: x\ufffd\n\n◆ one\n\n◆ two\n\n◎ goal complete: x\ufffd\n"; got != want {
		t.Errorf("%q", got)
	}
	got = drawn(t, false, goal(proto.GoalActive, ""), answer("one"), goal(proto.GoalBlocked, "no\nkey"), end)
	if want := "\n◎ goal active: x\ufffd\n\n◎ goal blocked: no key\n\n◆ one\n"; got != want {
		t.Errorf("%q", got)
	}
	// A goal that was blocked before has nothing to do with this run.
	got = drawn(t, false, goal(proto.GoalBlocked, "jig ended"), answer("hello"), end)
	if want := "\n◎ goal blocked: jig ended\n"; got != want {
		t.Errorf("%q", got)
	}
}

// A reply that jobs went on from is no answer, and nobody who watches reads it elsewhere.
func TestWordsBeforeAJobReportedAreDrawn(t *testing.T) {
	got := drawn(t, false, proto.Said{Message: msg.Say(msg.Assistant, "The tests run. I found one fault already.")},
		proto.Said{Message: msg.Say(msg.User, "[background job b1 finished]"), Notice: "job"},
		proto.Said{Message: msg.Say(msg.Assistant, "All is well.")}, proto.Ended{Why: proto.Done})
	if want := "\n◆ The tests run. I found one fault already.\n"; got != want {
		t.Errorf("%q", got)
	}
}
