package session_test

import (
	"strings"
	"testing"

	"jig/internal/msg"
	"jig/internal/proto"
	"jig/internal/session"
	"jig/internal/tool"
)

// Of each call that jig's end cut short the model is told what is known of it, and no second time.
func TestWhatWasCutShortIsToldAsFarAsItIsKnown(t *testing.T) {
	reply := msg.Message{Role: msg.Assistant, Blocks: msg.Blocks{msg.Call{ID: "runs", Name: "x"}, msg.Call{ID: "asks", Name: "x"}, msg.Call{ID: "waits", Name: "x"}}}
	facts := []proto.Fact{
		proto.Said{Message: msg.Say(msg.User, "go")},
		proto.Said{Message: reply},
		proto.Opened{Call: "runs"},
		proto.Opened{Call: "asks"}, proto.Asked{Call: "asks", Question: tool.Question{Text: "may it?"}},
	}
	want := map[string]string{
		"runs":  "interrupted: it is not known whether this ran",
		"asks":  "not run: jig ended before the user had answered",
		"waits": "not run: jig ended before this call's turn came",
	}
	ended := session.Resume(session.Fold(facts))
	for _, f := range ended {
		if c, ok := f.(proto.Closed); ok {
			if got := c.Result.Blocks.Text(); want[c.Call] == "" || !strings.HasPrefix(got, want[c.Call]) {
				t.Errorf("%s: %q", c.Call, got)
			}
			delete(want, c.Call)
		}
	}
	if len(want) > 0 {
		t.Errorf("nothing is said of %v", want)
	}
	if again := session.Resume(session.Fold(append(facts, ended...))); len(again) > 0 {
		t.Errorf("the second time: %+v", again)
	}
}
