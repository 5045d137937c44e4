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

func TestAStreamOfNothingButRepeatsIsGivenUp(t *testing.T) {
	one := `{"id":"1","function":{"name":"f","arguments":"{}"}}`
	item := `{"type":"function_call","id":"fc","call_id":"1","name":"f","arguments":"{}"}`
	for name, c := range map[string]struct {
		dialect string
		events  []string
	}{
		"events":    {"openai", []string{chat(`{"tool_calls":[` + one + `]}`)}},
		"calls":     {"openai", []string{chat(`{"content":null,"number":%d,"tool_calls":[` + one + `]}`)}},
		"messages":  {"openai", []string{chat(`{"content":"a"}`), data(`{"choices":[{"message":{"content":"a"}}]}`)}},
		"parts":     {"gemini", []string{data(`{"n":%d,"candidates":[{"content":{"parts":[{"functionCall":{"id":"1","name":"f"}}]}}]}`)}},
		"no ids":    {"gemini", []string{data(`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f"}}]}}]}`)}},
		"beginning": {"openresponses", []string{begun(item)}},
		"ends":      {"openresponses", []string{data(`{"type":"response.output_item.done","n":%d,"item":` + item + `}`)}},
		"pieces":    {"openresponses", []string{data(`{"type":"response.output_item.done","item":` + item + `}`), data(`{"type":"response.function_call_arguments.delta","delta":"a"}`)}},
	} {
		got, err := give(c.dialect, &endless{events: c.events})
		sentence(t, name, err, model.KindProtocol, "more than 10000 blocks and calls")
		if n := len(got.Blocks.Calls()); n > 1 {
			t.Errorf("%s: %d calls", name, n)
		}
	}
}
