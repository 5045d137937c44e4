package openai_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"jig/internal/model"
	"jig/internal/model/modeltest"
	"jig/internal/model/openai"
	"jig/internal/msg"
)

// talk lets a model and a make-believe tool work, and returns the conversation.
func talk(t *testing.T, m model.Model, r model.Request, rounds int) []msg.Message {
	t.Helper()
	if r.Messages == nil {
		r.Messages = []msg.Message{msg.Say(msg.User, "begin")}
	}
	for i := range rounds {
		got, err := m.Stream(context.Background(), r, nil)
		if err != nil {
			t.Fatalf("round %d: %v", i+1, err)
		}
		said, heard := msg.Message{Role: msg.Assistant, Provider: "p", Model: r.Model}, msg.Message{Role: msg.User}
		for n, b := range got.Blocks {
			if c, ok := b.(msg.Call); ok {
				c.ID = fmt.Sprintf("call%03d%02d", i, n)
				b = c
				heard.Blocks = append(heard.Blocks, msg.Result{Call: c.ID, Blocks: msg.Blocks{msg.Text{Text: "done"}}})
			}
			said.Blocks = append(said.Blocks, b)
		}
		if heard.Blocks == nil {
			heard = msg.Say(msg.User, "go on")
		}
		// As a session keeps it: written and read again.
		b, err := json.Marshal([]msg.Message{said, heard})
		var kept []msg.Message
		if err != nil || json.Unmarshal(b, &kept) != nil {
			t.Fatal(err)
		}
		r.Messages = append(r.Messages, kept...)
	}
	return r.Messages
}

func at(t *testing.T, s *modeltest.Server) model.Model {
	m := openai.New(openai.Options{Provider: "p", URL: s.URL, Key: modeltest.Key})
	t.Cleanup(func() { _ = m.Close() })
	return m
}

func tools() []model.Tool { return []model.Tool{{Name: "f"}} }

func TestBlocksOfReasoningComeBackInTheirSequence(t *testing.T) {
	details := []string{
		`{"type":"reasoning.summary","summary":"first","id":"rs_1","format":"openai-responses-v1","index":0}`,
		`{"type":"reasoning.encrypted","data":"gAAAA+/=","id":"rs_1","format":"openai-responses-v1","index":0}`,
		`{"type":"reasoning.text","text":"a long thought < & > 😀","signature":"Sig+/==","format":"anthropic-claude-v1","index":1}`,
		`{"type":"reasoning.text","text":"another","signature":"Two","format":"anthropic-claude-v1","index":2,"later":900719925474099312345}`,
		`{"type":"reasoning.encrypted","data":"BBBB","index":2}`, `{"type":"reasoning.encrypted","data":"CCCC","index":2}`,
		`{"type":"reasoning.hologram","x":[1, 2]}`,
	}
	reply := modeltest.Reply{Details: details, Text: "I look.", Calls: []modeltest.Call{{ID: "1", Name: "f", Args: `{}`}}}
	for _, whole := range []bool{false, true} {
		s := modeltest.New(t, reply, modeltest.Reply{Text: "Done."}, modeltest.Reply{Text: "ok"})
		s.IgnoreStream = whole
		all := talk(t, at(t, s), model.Request{Model: "m", Tools: tools()}, 3)
		if r := s.Refused(); len(r) > 0 {
			t.Errorf("refused: %q", r)
		}
		thought, _ := all[1].Blocks[0].(msg.Reasoning)
		if want := "a long thought < & > 😀another"; !whole && thought.Text != want {
			t.Errorf("shown as %q, want %q", thought.Text, want)
		}
		// To another model nothing of it goes.
		other := modeltest.New(t, modeltest.Reply{Text: "ok"})
		if _, err := at(t, other).Stream(context.Background(), model.Request{Model: "n", Tools: tools(), Messages: all}, nil); err != nil {
			t.Error(err)
		}
		if b := string(other.Requests()[0].Body); strings.Contains(b, "reasoning") || strings.Contains(b, "gAAAA") {
			t.Error(b)
		}
	}
}

func TestReasoningThatComesInBlocksAloneIsShown(t *testing.T) {
	got, err := stream(t, delta(`{"reasoning_details":[{"type":"reasoning.text","text":"hm "}]}`), delta(`{"reasoning_details":[{"type":"reasoning.text","text":"so"},{"type":"reasoning.summary","summary":"!"},null,7]}`), delta(`{"content":"a"}`), stop, done)
	want := model.Reply{Stop: model.StopEnd, Blocks: msg.Blocks{
		msg.Reasoning{Text: "hm so!", Raw: []byte(`{"reasoning_details":[{"text":"hm so","type":"reasoning.text"},{"type":"reasoning.summary","summary":"!"}]}`)}, msg.Text{Text: "a"},
	}}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("%v\n%s", err, d)
	}
}

func TestSignaturesOfCallsComeBackWithThem(t *testing.T) {
	two := []modeltest.Call{{ID: "1", Name: "f", Args: `{}`, Extra: `{"google":{"thought_signature":"<Sig+/="}}`}, {ID: "2", Name: "f", Args: `{}`}}
	for _, style := range []modeltest.Style{"", modeltest.Whole, modeltest.NoIndex} {
		s := modeltest.New(t, modeltest.Reply{Calls: two, Style: style}, modeltest.Reply{Text: "ok"})
		all := talk(t, at(t, s), model.Request{Model: "gemini-3", Tools: tools()}, 2)
		if r := s.Refused(); len(r) > 0 {
			t.Errorf("%q: refused: %q", style, r)
		}
		other := modeltest.New(t, modeltest.Reply{Text: "ok"})
		if _, err := at(t, other).Stream(context.Background(), model.Request{Model: "n", Tools: tools(), Messages: all}, nil); err != nil || strings.Contains(string(other.Requests()[0].Body), "Sig") {
			t.Errorf("%v %s", err, other.Requests()[0].Body)
		}
	}
}

func TestThinkingAmongThePartsOfAnAnswerGoesBackAmongThem(t *testing.T) {
	events := []string{delta(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm "}]}]}`), delta(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"<"}],"closed":true}]}`), delta(`{"content":"a"}`), stop, done}
	got, err := stream(t, events...)
	want := model.Reply{Stop: model.StopEnd, Blocks: msg.Blocks{msg.Reasoning{Text: "hm <", Raw: []byte(`{"thinking":"hm <"}`)}, msg.Text{Text: "a"}}}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("%v\n%s", err, d)
	}
	sent := sentTo(t, "https://api.mistral.ai", model.Request{Model: "m", Tools: tools(), Messages: []msg.Message{msg.Say(msg.User, "hi"), {Role: msg.Assistant, Provider: "p", Model: "m", Blocks: got.Blocks}, msg.Say(msg.User, "on")}})
	if want := `{"role":"assistant","content":[{"type":"thinking","thinking":[{"type":"text","text":"hm <"}]},{"type":"text","text":"a"}]}`; !strings.Contains(sent, want) {
		t.Error(sent)
	}
}

// sentTo is the body of a request to an address.
func sentTo(t *testing.T, url string, r model.Request) string {
	t.Helper()
	var sent []byte
	m := openai.New(openai.Options{Provider: "p", URL: url, Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		sent, _ = io.ReadAll(r.Body)
		return nil, context.DeadlineExceeded
	})})
	if _, err := m.Stream(context.Background(), r, nil); err == nil {
		t.Error("no error")
	}
	return string(sent)
}

func TestEachServiceIsAskedToThinkInItsOwnWords(t *testing.T) {
	for _, c := range []struct{ url, effort, want string }{
		{"https://api.openai.com", "high", `"reasoning_effort":"high"`},
		{"http://127.0.0.1:8080", "none", `"reasoning_effort":"none"`},
		{"https://openrouter.ai/api/v1", "xhigh", `"reasoning":{"effort":"xhigh"}`},
		{"https://api.deepseek.com", "max", `"reasoning_effort":"max"`},
		{"https://api.deepseek.com", "none", `"thinking":{"type":"disabled"}`},
		{"https://api.moonshot.ai/v1", "none", `"thinking":{"type":"disabled"}`},
		{"https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "low", `"enable_thinking":true`},
		{"https://dashscope.aliyuncs.com/compatible-mode/v1", "none", `"enable_thinking":false`},
	} {
		sent := sentTo(t, c.url, model.Request{Model: "m", Reasoning: c.effort})
		if n := strings.Count(sent, "think") + strings.Count(sent, "reasoning"); !strings.Contains(sent, c.want) || n != 1 {
			t.Errorf("%s, %s: %s", c.url, c.effort, sent)
		}
		if sent := sentTo(t, c.url, model.Request{Model: "m"}); strings.Contains(sent, "think") || strings.Contains(sent, "reasoning") {
			t.Errorf("%s, nothing asked: %s", c.url, sent)
		}
	}
}

func TestCacheHintsGoOnlyWhereTheyAreDocumented(t *testing.T) {
	for _, c := range []struct {
		url, model string
		key, marks bool
	}{
		{"https://api.openai.com", "gpt-5", true, false}, {"https://eu.api.openai.com/v1", "gpt-5", true, false}, {"https://me.openai.azure.com/openai/v1", "gpt-5", true, false},
		{"https://openrouter.ai/api/v1", "openai/gpt-5", true, false}, {"https://openrouter.ai/api/v1", "anthropic/claude-opus-5", true, true},
		{"https://api.deepseek.com", "deepseek-chat", false, false}, {"http://127.0.0.1:1234", "anthropic/claude-opus-5", false, false}, {"https://api.openai.com.example", "gpt-5", false, false},
	} {
		r := model.Request{Model: c.model, System: "Be brief.", Tools: tools(), Messages: []msg.Message{msg.Say(msg.User, "hi")}}
		first := sentTo(t, c.url, r)
		if strings.Contains(first, `"prompt_cache_key":"`) != c.key || strings.Contains(first, `"cache_control":`) != c.marks {
			t.Errorf("%s: %s", c.url, first)
		}
		if !c.key {
			continue
		}
		key := func(sent string) string {
			var q struct {
				Key string `json:"prompt_cache_key"`
			}
			_ = json.Unmarshal([]byte(sent), &q)
			return q.Key
		}
		r.Messages = append(r.Messages, msg.Say(msg.Assistant, "yes"), msg.Say(msg.User, "on"))
		second := sentTo(t, c.url, r)
		r.Messages[0] = msg.Say(msg.User, "another")
		if k := key(first); k != key(second) || k == key(sentTo(t, c.url, r)) || len(k) > 64 {
			t.Errorf("%s: %s, then %s", c.url, k, key(second))
		}
	}
}

func TestUsageIsReadUnderEveryName(t *testing.T) {
	for usage, want := range map[string]msg.Usage{
		`{"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":3,"cache_write_tokens":2}}`:          {Input: 9, Output: 4, CacheRead: 3, CacheWrite: 2},
		`{"prompt_tokens":9,"completion_tokens":4,"prompt_cache_hit_tokens":3,"prompt_cache_miss_tokens":6}`:                    {Input: 9, Output: 4, CacheRead: 3},
		`{"prompt_tokens":9,"completion_tokens":4,"cached_tokens":3}`:                                                           {Input: 9, Output: 4, CacheRead: 3},
		`{"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":3,"cache_creation_input_tokens":2}}`: {Input: 9, Output: 4, CacheRead: 3, CacheWrite: 2},
		`{"prompt_tokens":9.0,"completion_tokens":null,"prompt_tokens_details":{"cached_tokens":30}}`:                           {Input: 9, CacheRead: 9},
		`{"prompt_tokens":"9","completion_tokens":"4.0","prompt_tokens_details":[],"prompt_cache_hit_tokens":"3"}`:              {Input: 9, Output: 4, CacheRead: 3},
		`[]`: {},
		`{"prompt_tokens":"many","completion_tokens":-4,"prompt_tokens_details":null,"cached_tokens":[1]}`:                                  {},
		`{"prompt_tokens":1e99,"completion_tokens":{"text":1},"prompt_tokens_details":{"cached_tokens":true},"prompt_cache_hit_tokens":-1}`: {},
	} {
		for name, events := range map[string][]string{
			"at the end":    {delta(`{"content":"a"}`), stop, `{"choices":[],"usage":` + usage + `}`, done},
			"in the choice": {delta(`{"content":"a"}`), `{"choices":[{"delta":{},"finish_reason":"stop","usage":` + usage + `}]}`, done},
		} {
			got, err := stream(t, events...)
			if err != nil || got.Usage != want {
				t.Errorf("%s, %s: %+v %v", usage, name, got.Usage, err)
			}
		}
	}
}

func TestEveryReasonToStopIsTold(t *testing.T) {
	for why, want := range map[string]model.Stop{
		"stop": model.StopEnd, "length": model.StopLength, "model_length": model.StopLength, "model_context_window_exceeded": model.StopLength,
		"content_filter": model.StopRefusal, "sensitive": model.StopRefusal, "something new": model.StopEnd,
	} {
		got, err := stream(t, delta(`{"content":"a"}`), `{"choices":[{"delta":{},"finish_reason":"`+why+`"}]}`, done)
		if err != nil || got.Stop != want {
			t.Errorf("%s: %q %v", why, got.Stop, err)
		}
	}
	for _, why := range []string{"error", "insufficient_system_resource", "network_error", "aborted"} {
		if _, err := stream(t, delta(`{"content":"a"}`), `{"choices":[{"delta":{},"finish_reason":"`+why+`"}]}`, done); kindOf(err) != model.KindServer {
			t.Errorf("%s: %v", why, err)
		}
	}
	got, err := stream(t, delta(`{"refusal":"I will "}`), delta(`{"refusal":"not."}`), stop, done)
	if err != nil || got.Stop != model.StopRefusal || got.Blocks.Text() != "I will not." {
		t.Errorf("refusal: %+v %v", got, err)
	}
}
