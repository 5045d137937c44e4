package print_test

import (
	"bytes"
	"strings"
	"testing"

	"jig/internal/msg"
	"jig/internal/print"
	"jig/internal/proto"
)

func goal(s proto.GoalStatus, why string) proto.Goal {
	return proto.Goal{Objective: "x", Status: s, Why: why}
}

// A run with a goal is one run: it ends with the last of its turns, and its report counts all of them.
func TestRunWithAGoalEndsWhenTheGoalDoes(t *testing.T) {
	one := msg.Usage{Input: 1, Output: 1}
	r, out := run(t, print.Options{Format: print.Text, Begin: proto.SetGoal{Objective: "x"}}, facts(
		goal(proto.GoalActive, ""), said(1, one, msg.Call{ID: "a", Name: "grep"}), said(2, one, msg.Text{Text: "first"}), proto.Ended{Why: proto.Done, Rounds: 2},
		said(1, one, msg.Call{ID: "b", Name: "glob"}), goal(proto.GoalDone, ""), said(2, one, msg.Text{Text: "last"}), proto.Ended{Why: proto.Done, Rounds: 2},
		said(1, one, msg.Text{Text: "of another run"}), proto.Ended{Why: proto.Failed}))
	var rounds []int
	for _, x := range r.PerRound {
		rounds = append(rounds, x.Round)
	}
	if out != "last\n" || r.Rounds != 4 || r.Why != proto.Done || r.Usage.Total != 8 || len(rounds) != 4 || rounds[3] != 4 {
		t.Errorf("%q: %+v", out, r)
	}
}

func TestRunWhoseGoalIsBlockedHasFailed(t *testing.T) {
	r, out := run(t, print.Options{Format: print.Text}, facts(
		goal(proto.GoalActive, ""), said(1, msg.Usage{}, msg.Text{Text: "I need the key"}), goal(proto.GoalBlocked, "I need the key"), proto.Ended{Why: proto.Done, Rounds: 1}))
	if out != "" || r.Why != proto.Failed || r.Error != "the goal is blocked: I need the key" || r.Reply != "" {
		t.Errorf("%q: %+v", out, r)
	}
	r, _ = run(t, print.Options{Format: print.Text}, facts(goal(proto.GoalActive, ""), goal(proto.GoalBlocked, "interrupted"), proto.Ended{Why: proto.Interrupted, Error: "interrupted"}))
	if r.Why != proto.Interrupted || r.Error != "interrupted" {
		t.Errorf("%+v", r)
	}
}

// What an opening says of a goal, and of a turn that a dead process left, is not how this run went.
func TestGoalThatWasBlockedBeforeDoesNotFailTheRun(t *testing.T) {
	list := facts(goal(proto.GoalBlocked, "jig ended"), proto.Ended{Why: proto.Interrupted, Error: "jig ended before the turn did"},
		said(1, msg.Usage{}, msg.Text{Text: "hello"}), proto.Ended{Why: proto.Done, Rounds: 1})
	r, out := run(t, print.Options{Format: print.Text, Opened: 2}, list)
	if out != "hello\n" || r.Why != proto.Done || r.Rounds != 1 {
		t.Errorf("%q: %+v", out, r)
	}
	var errs bytes.Buffer
	if _, err := print.Run(t.Context(), &recorded{events: list}, "s1", "hi", print.Options{Format: print.JSONL, Opened: 2, Session: "abc", Out: &errs}); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(strings.TrimSpace(errs.String()), "\n"); len(lines) != 6 || lines[0] != `{"type":"session","id":"abc"}` || !strings.HasPrefix(lines[2], `{"type":"ended"`) {
		t.Errorf("%q", lines)
	}
}
