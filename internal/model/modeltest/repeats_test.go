package modeltest_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"jig/internal/model"
	"jig/internal/model/modeltest"
	"jig/internal/msg"
)

func TestNoDialectMakesTwoCallsOfOneThatIsSentTwice(t *testing.T) {
	// A model may ask twice for the same thing: what tells the two apart is their ids.
	calls := []modeltest.Call{{ID: "a1", Name: "read_file", Args: emoji}, {ID: "a2", Name: "read_file", Args: emoji}, {ID: "a3", Name: "grep", Args: `{}`}}
	want := model.Reply{Stop: model.StopCalls, Blocks: msg.Blocks{msg.Text{Text: "look"}, msg.Call{Name: "read_file", Args: emoji}, msg.Call{Name: "read_file", Args: emoji}, msg.Call{Name: "grep", Args: `{}`}}}
	for _, cl := range clients() {
		for _, style := range []modeltest.Style{modeltest.Doubled, modeltest.Summed, modeltest.Moved, modeltest.Closed} {
			if style != modeltest.Doubled && cl.wire != modeltest.Chat {
				continue
			}
			for _, noise := range []bool{false, true} {
				s := modeltest.New(t, modeltest.Reply{Text: "look", Calls: calls, Style: style, Noise: noise})
				got, err := cl.make(t, s).Stream(context.Background(), model.Request{Model: cl.model, Messages: []msg.Message{msg.Say(msg.User, "hi")}}, nil)
				if d := cmp.Diff(want, plain(got)); err != nil || d != "" {
					t.Errorf("%s, %s, %v: %v\n%s", cl.name, style, noise, err, d)
				}
			}
		}
	}
}
