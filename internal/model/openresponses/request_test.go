package openresponses

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"jig/internal/model"
	"jig/internal/model/modeltest"
	"jig/internal/msg"
)

func valid(body []byte) bool { return json.Valid(body) && strings.HasSuffix(string(body), "]}") }

// asks sends a request to a server and returns the body that it accepted.
func asks(t *testing.T, s *modeltest.Server, r model.Request) (model.Reply, string) {
	t.Helper()
	m := New(Options{Provider: "p", URL: s.URL, Key: modeltest.Key})
	defer m.Close()
	reply, err := m.Stream(context.Background(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	all := s.Requests()
	return reply, string(all[len(all)-1].Body)
}

func hi() []msg.Message { return []msg.Message{msg.Say(msg.User, "hi")} }

func TestNothingIsStoredAtTheProvider(t *testing.T) {
	for name, want := range map[string]string{
		"gpt-5.2":     `"store":false,"include":["reasoning.encrypted_content"],`,
		"gpt-4o":      `"store":false,"input":`,
		"gpt-oss-20b": `"store":false,"include":["reasoning.encrypted_content"],`,
	} {
		_, body := asks(t, modeltest.New(t, modeltest.Reply{Text: "ok"}), model.Request{Model: name, Messages: hi()})
		if !strings.Contains(body, want) || strings.Contains(body, "previous_response_id") {
			t.Errorf("%s: %s", name, body)
		}
	}
}

func TestEveryModelTakesEveryEffortItIsAskedFor(t *testing.T) {
	for _, name := range []string{
		"o1", "o3", "o3-mini", "o3-pro", "o4-mini", "gpt-5", "gpt-5-mini", "gpt-5-nano", "gpt-5-codex", "gpt-5-pro", "gpt-5.1", "gpt-5.1-codex",
		"gpt-5.1-codex-mini", "gpt-5.1-codex-max", "gpt-5.2", "gpt-5.2-pro", "gpt-5.2-codex", "gpt-5.4", "gpt-5.6", "gpt-6-astra", "gpt-oss-120b", "qwen3",
	} {
		for _, effort := range []string{"", "none", "minimal", "low", "medium", "high", "xhigh", "max"} {
			for _, limit := range []int{0, 1, 4096} {
				asks(t, modeltest.New(t, modeltest.Reply{Text: "ok"}), model.Request{Model: name, Reasoning: effort, MaxOutput: limit, Messages: hi()})
			}
		}
	}
	for _, name := range []string{"gpt-4o", "gpt-4.1-mini", "gpt-3.5-turbo", "gpt-5-chat-latest", "chatgpt-4o-latest"} {
		asks(t, modeltest.New(t, modeltest.Reply{Text: "ok"}), model.Request{Model: name, MaxOutput: 100, Messages: hi()})
	}
}

func TestModelNamesAreReadInEveryForm(t *testing.T) {
	for name, want := range map[string]string{
		"gpt-5.2 minimal": "low", "openai/gpt-5.2-codex none": "low", "ft:o4-mini:me::1 max": "high", "gpt-5-mini-2025-08-07 none": "minimal",
		"gpt-5.1-codex-max max": "xhigh", "gpt-5.7 max": "max", "gpt-5.7 minimal": "low", "llama-4 minimal": "minimal", "gpt-5.2 huge": "huge",
	} {
		at := strings.LastIndexByte(name, ' ')
		if got := parseModel(name[:at]).effort(name[at+1:]); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	for name, plain := range map[string]bool{"gpt-4o-2024-08-06": true, "ft:gpt-4.1:me": true, "openai/gpt-5.1-chat-latest": true, "gpt-5.1": false, "o3": false, "": false, "glm-4.6": false} {
		if parseModel(name).plain != plain {
			t.Errorf("%q: plain %v", name, !plain)
		}
	}
}

func TestAFunctionIsNotStrictAndHasASchema(t *testing.T) {
	r := model.Request{Model: "m", Messages: hi(), Tools: []model.Tool{{Name: "f"}, {Name: "g", Doc: "G", Input: json.RawMessage(`{"type":"object","properties":{"a":{}},"required":[]}`)}}}
	_, body := asks(t, modeltest.New(t, modeltest.Reply{Text: "ok"}), r)
	want := `"tools":[{"type":"function","name":"f","parameters":{"type":"object","properties":{}},"strict":false},{"type":"function","name":"g","description":"G","parameters":{"type":"object","properties":{"a":{}},"required":[]},"strict":false}]`
	if !strings.Contains(body, want) {
		t.Errorf("%s", body)
	}
}

func TestAPictureIsShownWhereItBelongs(t *testing.T) {
	png := []byte("\x89PNG\r\n\x1a\n")
	r := model.Request{Model: "m", Messages: []msg.Message{
		{Role: msg.User, Blocks: msg.Blocks{msg.Text{Text: "look"}, msg.Image{MIME: "image/png", Data: png}}},
		{Role: msg.Assistant, Blocks: msg.Blocks{msg.Call{ID: "call00001", Name: "view", Args: "{}"}}},
		{Role: msg.User, Blocks: msg.Blocks{msg.Text{Text: "and?"}, msg.Result{Call: "call00001", Failed: true, Blocks: msg.Blocks{msg.Text{Text: "half"}, msg.Image{MIME: "image/png", Data: png}}}}},
	}}
	_, body := asks(t, modeltest.New(t, modeltest.Reply{Text: "ok"}), r)
	image := `{"type":"input_image","detail":"auto","image_url":"data:image/png;base64,iVBORw0KGgo="}`
	want := `"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"look"},` + image + `]},` +
		`{"type":"function_call","call_id":"call00001","name":"view","arguments":"{}"},` +
		`{"type":"function_call_output","call_id":"call00001","output":[{"type":"input_text","text":"half"},` + image + `]},` +
		`{"type":"message","role":"user","content":"and?"}]}`
	if !strings.HasSuffix(body, want) {
		t.Errorf("%s", body)
	}
}

// goOn makes the conversation in which a model has said blocks and the user goes on.
func goOn(blocks msg.Blocks) model.Request {
	r := model.Request{Model: "gpt-5.2", Messages: []msg.Message{msg.Say(msg.User, "hi"), {Role: msg.Assistant, Provider: "p", Model: "gpt-5.2"}}}
	heard := msg.Message{Role: msg.User, Blocks: msg.Blocks{msg.Text{Text: "go on"}}}
	for i, b := range blocks {
		if c, ok := b.(msg.Call); ok {
			c.ID = fmt.Sprintf("call%05d", i)
			b = c
			heard.Blocks = append(heard.Blocks, msg.Result{Call: c.ID})
		}
		r.Messages[1].Blocks = append(r.Messages[1].Blocks, b)
	}
	r.Messages = append(r.Messages, heard)
	return r
}

func TestItemsGoBackWithTheirIDsAndPhase(t *testing.T) {
	s := modeltest.New(t, modeltest.Reply{Reasoning: "hm", Text: "I look.", Phase: "commentary", Calls: []modeltest.Call{{ID: "call_1", Name: "f", Args: "{}"}}}, modeltest.Reply{Text: "I would,", Refusal: "but will not."}, modeltest.Reply{Text: "ok"})
	reply, _ := asks(t, s, model.Request{Model: "gpt-5.2", Messages: hi()})
	r := goOn(reply.Blocks)
	reply, body := asks(t, s, r)
	want := `"summary":[{"text":"hm","type":"summary_text"}],"type":"reasoning"},` +
		`{"type":"message","id":"msg_1","status":"completed","phase":"commentary","role":"assistant","content":[{"type":"output_text","text":"I look.","annotations":[]}]},` +
		`{"type":"function_call","id":"fc_1_0","status":"completed","call_id":"call_1","name":"f","arguments":"{}"},`
	if !strings.Contains(body, want) {
		t.Errorf("%s", body)
	}
	r = goOn(reply.Blocks)
	_, body = asks(t, s, r)
	if want := `"content":[{"type":"output_text","text":"I would,","annotations":[]},{"type":"refusal","refusal":"but will not."}]}`; !strings.Contains(body, want) {
		t.Errorf("%s", body)
	}
}

func TestReasoningThatLedToNothingIsNotSentBack(t *testing.T) {
	for name, blocks := range map[string]msg.Blocks{
		"alone":          {msg.Reasoning{Text: "x", Raw: []byte(`{"type":"reasoning","id":"rs_9","summary":[],"encrypted_content":"x"}`)}},
		"before nothing": {msg.Reasoning{Text: "x", Raw: []byte(`{"type":"reasoning","id":"rs_9","summary":[],"encrypted_content":"x"}`)}, msg.Text{Raw: []byte(`{"type":"message","id":"msg_9"}`)}},
		"cut":            {msg.Reasoning{Text: "x"}, msg.Text{Text: "half"}},
		"not encrypted":  {msg.Reasoning{Raw: []byte(`{"type":"reasoning","id":"rs_9","summary":[],"encrypted_content":null}`)}, msg.Text{Text: "half", Raw: []byte(`{"type":"message","id":"msg_9","status":"completed"}`)}},
		"answer cut":     {msg.Reasoning{Raw: []byte(`{"type":"reasoning","id":"rs_9","summary":[],"encrypted_content":"x"}`)}, msg.Text{Text: "half"}},
		"torn":           {msg.Reasoning{Raw: []byte(`{"type":"reasoning","id":"rs_9`)}, msg.Text{Text: "half", Raw: []byte(`{`)}},
		"other dialect":  {msg.Reasoning{Raw: []byte(`{"type":"thinking","thinking":"rs_9","signature":"y"}`)}, msg.Text{Text: "half"}},
	} {
		_, body := asks(t, modeltest.New(t, modeltest.Reply{Text: "ok"}), goOn(blocks))
		if strings.Contains(body, "rs_9") || strings.Contains(body, "msg_9") {
			t.Errorf("%s: %s", name, body)
		}
	}
}

func TestOpenReasoningGoesBackAsItCame(t *testing.T) {
	raw := `{"id":"rs_local", "type":"reasoning", "summary":[], "content":[{"type":"reasoning_text", "text":"hm <&>"}]}`
	blocks := msg.Blocks{msg.Reasoning{Text: "hm", Raw: []byte(raw)}, msg.Text{Text: "a", Raw: []byte(`{"type":"message","id":"item_7"}`)}}
	_, body := asks(t, modeltest.New(t, modeltest.Reply{Text: "ok"}), goOn(blocks))
	if want := raw + `,{"type":"message","role":"assistant","content":"a"},`; !strings.Contains(body, want) {
		t.Errorf("%s", body)
	}
}

func TestWhatAProviderWillNotDoIsLeftOut(t *testing.T) {
	s := modeltest.New(t, modeltest.Reply{Text: "a"}, modeltest.Reply{Text: "b"})
	s.Unverified = true
	m := New(Options{URL: s.URL, Key: modeltest.Key})
	defer m.Close()
	for range 2 {
		if _, err := m.Stream(context.Background(), model.Request{Model: "gpt-5.2", Reasoning: "high", Messages: hi()}, nil); err != nil {
			t.Fatal(err)
		}
	}
	var asked []bool
	for _, r := range s.Requests() {
		asked = append(asked, strings.Contains(string(r.Body), `"summary":"auto"`))
	}
	if fmt.Sprint(asked) != "[true false false]" {
		t.Errorf("summaries asked for: %v", asked)
	}
}

func TestReasoningThatBecameUnreadableIsLeftOutOnce(t *testing.T) {
	s := modeltest.New(t, modeltest.Reply{Reasoning: "hm", Text: "a"}, modeltest.Reply{Text: "b"})
	reply, _ := asks(t, s, model.Request{Model: "gpt-5.2", Messages: hi()})
	s.Forgetful = true
	_, body := asks(t, s, goOn(reply.Blocks))
	if n := len(s.Requests()); n != 3 || strings.Contains(body, "rs_1") || strings.Contains(body, "msg_1") || !strings.Contains(body, `"content":"a"`) {
		t.Errorf("%d requests, the last %s", n, body)
	}
}

func TestEachThingIsLeftOutInItsTurn(t *testing.T) {
	s := modeltest.New(t, modeltest.Reply{Reasoning: "hm", Text: "a"}, modeltest.Reply{Text: "b"})
	reply, _ := asks(t, s, model.Request{Model: "gpt-5.2", Messages: hi()})
	s.Forgetful, s.Unverified = true, true
	r := goOn(reply.Blocks)
	r.Reasoning = "low"
	_, body := asks(t, s, r)
	if n := len(s.Requests()); n != 4 || strings.Contains(body, "rs_1") || strings.Contains(body, "auto") {
		t.Errorf("%d requests, the last %s", n, body)
	}
}

func TestARefusedRequestIsNotSentAgain(t *testing.T) {
	s := modeltest.New(t, modeltest.Reply{Text: "a"})
	m := New(Options{URL: s.URL, Key: modeltest.Key})
	defer m.Close()
	f := 0.5
	_, err := m.Stream(context.Background(), model.Request{Model: "gpt-5.2", Temperature: &f, Messages: hi()}, nil)
	var e *model.Error
	if !errors.As(err, &e) || e.Kind != model.KindRequest || !strings.Contains(e.Text, "'temperature' is not supported") || len(s.Requests()) != 1 {
		t.Errorf("%v, %d requests", err, len(s.Requests()))
	}
}
