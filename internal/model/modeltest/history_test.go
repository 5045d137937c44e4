package modeltest_test

import (
	"context"
	"encoding/base64"
	"strings"
	"testing"

	"jig/internal/model"
	"jig/internal/model/modeltest"
	"jig/internal/msg"
)

// raws are what the dialects keep of a thought.
func raws() map[modeltest.Dialect][]string {
	return map[modeltest.Dialect][]string{
		modeltest.Chat: {
			`{"reasoning_content":"foreign"}`, `{"reasoning":"foreign"}`, `{"thinking":"foreign"}`,
			`{"reasoning_details":[{"type":"reasoning.text","text":"foreign"}]}`,
		},
		modeltest.Messages: {
			`{"type":"thinking","thinking":"foreign","signature":"foreign"}`, `{"type":"redacted_thinking","data":"foreign"}`,
		},
		modeltest.Gemini:    {`{"text":"foreign","thought":true,"thoughtSignature":"foreign"}`},
		modeltest.Responses: {`{"type":"reasoning","id":"rs_foreign","summary":[],"encrypted_content":"foreign"}`},
	}
}

// A provider's entry may be given another type while its name and its model's stay.
func TestReasoningInTheFormOfAnotherDialectIsLeftOut(t *testing.T) {
	for _, cl := range clients() {
		for from, forms := range raws() {
			if from == cl.wire {
				continue
			}
			for _, raw := range append(forms, `{`, `[]`, `null`, ``) {
				s := modeltest.New(t, modeltest.Reply{Text: "ok"})
				r := model.Request{Model: cl.model, Tools: []model.Tool{tool("f")}, Messages: []msg.Message{
					msg.Say(msg.User, "hi"),
					{Role: msg.Assistant, Provider: "p", Model: cl.model, Blocks: msg.Blocks{msg.Reasoning{Text: "foreign", Raw: []byte(raw)}, msg.Text{Text: "yes"}}},
					msg.Say(msg.User, "on"),
				}}
				if _, err := cl.make(t, s).Stream(context.Background(), r, nil); err != nil || len(s.Refused()) > 0 {
					t.Errorf("%s, %s: %v %q", cl.name, raw, err, s.Refused())
				}
				if body := string(s.Requests()[0].Body); strings.Contains(body, "foreign") {
					t.Errorf("%s, %s: %s", cl.name, raw, body)
				}
			}
		}
	}
}

func TestATurnOfNothingButThoughtsIsLeftOut(t *testing.T) {
	for _, cl := range clients() {
		for name, text := range map[string]string{"thoughts": "", "thoughts and blanks": " \n"} {
			s := modeltest.New(t, modeltest.Reply{Reasoning: "lost", Text: text, Stop: cl.cut}, modeltest.Reply{Text: "b"})
			talk(t, cl.make(t, s), model.Request{Model: cl.model}, 2)
			body := string(s.Requests()[1].Body)
			if name != "thoughts" && cl.wire == modeltest.Responses {
				continue // its own items, which it takes back as they came
			}
			if len(s.Refused()) > 0 || strings.Contains(body, "lost") || strings.Contains(body, base64.StdEncoding.EncodeToString([]byte("lost"))) || !strings.Contains(body, "go on") {
				t.Errorf("%s, %s: refused %q: %s", cl.name, name, s.Refused(), body)
			}
		}
	}
}

func TestAWordOfBlanksLeavesAValidConversation(t *testing.T) {
	called := msg.Message{Role: msg.Assistant, Blocks: msg.Blocks{msg.Call{ID: "call00001", Name: "f", Args: "{}"}}}
	answered := msg.Message{Role: msg.User, Blocks: msg.Blocks{msg.Result{Call: "call00001"}}}
	yes := msg.Say(msg.Assistant, "yes")
	for _, cl := range clients() {
		for _, blank := range []msg.Message{{Role: msg.User}, msg.Say(msg.User, ""), msg.Say(msg.User, " \n\t")} {
			for name, messages := range map[string][]msg.Message{
				"alone":             {blank},
				"twice":             {blank, blank},
				"before an answer":  {blank, yes, msg.Say(msg.User, "on")},
				"before a call":     {blank, called, answered},
				"last":              {msg.Say(msg.User, "hi"), yes, blank},
				"after results":     {msg.Say(msg.User, "hi"), called, answered, blank},
				"an answer first":   {yes, msg.Say(msg.User, "on")},
				"a call first":      {called, answered},
				"nothing but blank": {blank, msg.Say(msg.Assistant, " "), blank},
			} {
				for _, id := range []string{cl.model, "claude-opus-5"} {
					if id != cl.model && cl.wire != modeltest.Messages {
						continue
					}
					s := modeltest.New(t, modeltest.Reply{Text: "ok"})
					r := model.Request{Model: id, Tools: []model.Tool{tool("f")}, Messages: messages}
					if _, err := cl.make(t, s).Stream(context.Background(), r, nil); err != nil || len(s.Refused()) > 0 {
						t.Errorf("%s, %q %s: %v, refused %q", id, blank.Blocks.Text(), name, err, s.Refused())
					}
				}
			}
		}
	}
}
