package msg_test

import (
	"testing"

	"jig/internal/msg"
)

// allKinds are messages of which no two are the same; each call makes them anew.
func allKinds() []msg.Message {
	all := []msg.Message{
		{}, {Role: msg.User}, {Role: msg.Assistant}, {Role: msg.Assistant, Provider: "p"}, {Role: msg.Assistant, Model: "p"},
	}
	for _, b := range []msg.Block{
		msg.Text{}, msg.Text{Text: "a"}, msg.Text{Raw: []byte("a")}, msg.Image{}, msg.Image{MIME: "a"}, msg.Image{Data: []byte("a")},
		msg.Reasoning{}, msg.Reasoning{Text: "a"}, msg.Reasoning{Raw: []byte("a")},
		msg.Call{}, msg.Call{ID: "a"}, msg.Call{Given: "a"}, msg.Call{Name: "a"}, msg.Call{Args: "a"}, msg.Call{Raw: []byte("a")},
		msg.Result{}, msg.Result{Call: "a"}, msg.Result{Failed: true}, msg.Result{Blocks: msg.Blocks{msg.Text{}}}, msg.Result{Blocks: msg.Blocks{msg.Text{Text: "a"}}},
	} {
		all = append(all, msg.Message{Role: msg.User, Blocks: msg.Blocks{b}})
	}
	return append(all, msg.Message{Role: msg.User, Blocks: msg.Blocks{msg.Text{}, msg.Text{}}})
}

func TestMessagesAreTheSameOnlyWhereAllOfThemIs(t *testing.T) {
	all := allKinds()
	for _, others := range [][]msg.Message{all, allKinds()} {
		for i, x := range all {
			for j, y := range others {
				if x.Same(y) != (i == j) {
					t.Errorf("%+v and %+v: %v", x, y, x.Same(y))
				}
			}
		}
	}
}
