package modeltest_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"jig/internal/model"
	"jig/internal/model/modeltest"
	"jig/internal/model/openai"
	"jig/internal/msg"
)

// stale is a reply as it is kept, with what vouches for its reasoning given to another account.
func stale(d modeltest.Dialect) map[string]msg.Blocks {
	call := func(raw string) msg.Call {
		return msg.Call{ID: "call00001", Name: "f", Args: "{}", Raw: []byte(raw)}
	}
	thought := func(raw string) msg.Reasoning { return msg.Reasoning{Text: "old", Raw: []byte(raw)} }
	switch d {
	case modeltest.Chat:
		return map[string]msg.Blocks{
			"Claude's": {thought(`{"reasoning_details":[{"type":"reasoning.text","text":"old","signature":"c3RhbGU="}]}`), call("")},
			"Google's": {call(`{"extra_content":{"google":{"thought_signature":"c3RhbGU="}}}`)},
		}
	case modeltest.Messages:
		return map[string]msg.Blocks{
			"thoughts": {thought(`{"type":"thinking","thinking":"old","signature":"c3RhbGU="}`), call("")},
			"redacted": {thought(`{"type":"redacted_thinking","data":"c3RhbGU="}`), call("")},
		}
	case modeltest.Gemini:
		return map[string]msg.Blocks{
			"a call":    {call(`{"thoughtSignature":"c3RhbGU="}`)},
			"all of it": {thought(`{"text":"old","thought":true,"thoughtSignature":"c3RhbGU="}`), msg.Text{Text: "I look.", Raw: []byte(`{"thoughtSignature":"c3RhbGU="}`)}, call(`{"thoughtSignature":"c3RhbGU="}`)},
		}
	}
	return map[string]msg.Blocks{"encrypted": {
		thought(`{"type":"reasoning","id":"rs_9","summary":[],"encrypted_content":"c3RhbGU="}`),
		call(`{"type":"function_call","id":"fc_9","call_id":"call00001","name":"f","arguments":"{}","status":"completed"}`),
	}}
}

// afterStale is a conversation that goes on after such a reply.
func afterStale(id string, blocks msg.Blocks) model.Request {
	return model.Request{Model: id, Reasoning: "low", Tools: []model.Tool{tool("f")}, Messages: []msg.Message{
		msg.Say(msg.User, "begin"), {Role: msg.Assistant, Provider: "p", Model: id, Blocks: blocks},
		{Role: msg.User, Blocks: msg.Blocks{msg.Result{Call: "call00001"}}},
	}}
}

func TestReasoningThatIsNotRecognizedAnyMoreIsLeftOutOnceAndWhatIsNewGoesBack(t *testing.T) {
	for _, cl := range clients() {
		for name, blocks := range stale(cl.wire) {
			reply := modeltest.Reply{Reasoning: "newer", Text: "I look.", Calls: []modeltest.Call{{ID: "n1", Name: "f", Args: "{}"}}, Signature: "bmV3ZXI="}
			if cl.wire == modeltest.Chat {
				reply.Reasoning, reply.Details = "", []string{`{"type":"reasoning.text","text":"newer","index":0,"signature":"bmV3ZXI="}`}
				reply.Calls[0].Extra = `{"google":{"thought_signature":"bmV3ZXI="}}`
			}
			s := modeltest.New(t, reply, modeltest.Reply{Text: "b"}, modeltest.Reply{Text: "c"})
			s.Chat.Signs = true
			m, r := cl.make(t, s), afterStale(cl.model, blocks)
			if cl.wire == modeltest.Chat {
				r.Reasoning = "" // which this model does not take
			}
			goesOn(t, m, r, 3)
			all := s.Requests()
			if len(all) != 4 || len(s.Refused()) != 1 || !strings.Contains(string(all[0].Body), "c3RhbGU=") {
				t.Errorf("%s, %s: %d requests, refused %q", cl.name, name, len(all), s.Refused())
				continue
			}
			for _, q := range all[1:] {
				if strings.Contains(string(q.Body), "c3RhbGU=") {
					t.Errorf("%s, %s: sent again: %s", cl.name, name, q.Body)
				}
			}
			last := string(all[3].Body)
			placed := strings.Contains(last, "skip_thought_signature_validator")
			if !strings.Contains(last, "bmV3ZXI=") || placed != (cl.wire == modeltest.Gemini || name == "Google's") {
				t.Errorf("%s, %s: %s", cl.name, name, last)
			}
		}
	}
}

// goesOn lets a model answer, with the results of its calls in between.
func goesOn(t *testing.T, m model.Model, r model.Request, rounds int) {
	t.Helper()
	for i := range rounds {
		got, err := m.Stream(context.Background(), r, nil)
		if err != nil {
			t.Fatalf("%s, round %d: %v", r.Model, i+1, err)
		}
		heard := msg.Say(msg.User, "go on")
		for n, b := range got.Blocks {
			if c, ok := b.(msg.Call); ok {
				c.ID = "call00002"
				got.Blocks[n] = c
				heard = msg.Message{Role: msg.User, Blocks: msg.Blocks{msg.Result{Call: c.ID}}}
			}
		}
		r.Messages = append(r.Messages, msg.Message{Role: msg.Assistant, Provider: "p", Model: r.Model, Blocks: got.Blocks}, heard)
	}
}

// The wordings were reported from services and gateways: https://github.com/linanwx/nagobot/issues/21
// https://github.com/google-gemini/gemini-cli/issues/13467 https://github.com/diegosouzapw/OmniRoute/issues/1410
// https://github.com/lbjlaq/Antigravity-Manager/pull/3342 https://github.com/lbjlaq/Antigravity-Manager/issues/498
// https://github.com/anomalyco/opencode/issues/48637 https://github.com/karthink/gptel/issues/1146
func TestARefusalOfSignaturesIsKnownByItsWords(t *testing.T) {
	for says, known := range map[string]bool{
		"Corrupted thought signature.": true,
		"Invalid thought signature.":   true,
		"Unable to submit request because Thought signature is not valid.. Learn more: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/gemini": true,
		"messages.7.content.2: Invalid signature in thinking block":                                                                        true,
		"messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block.": true,
		`{"type":"error","error":{"message":"messages.1.content.0: Invalid ` + "`signature` in `thinking`" + ` block"}}`:                   true,
		"Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly.":                false,
		"The signature of the tool f is not valid.":                                                                                        false,
	} {
		for _, cl := range clients() {
			for name, blocks := range stale(cl.wire) {
				message, err := json.Marshal(says)
				if err != nil {
					t.Fatal(err)
				}
				r := afterStale("imitation", blocks) // of which nothing is known
				r.Reasoning = ""
				asked := tries(t, cl, r, `{"type":"error","error":{"type":"invalid_request_error","code":400,"status":"INVALID_ARGUMENT","message":`+string(message)+`}}`)
				if want := map[bool]int{true: 2, false: 1}[known]; len(asked) != want || strings.Contains(asked[len(asked)-1], "c3RhbGU=") == known {
					t.Errorf("%s, %s, %s: asked %d times, the last %s", cl.name, name, says, len(asked), asked[len(asked)-1])
				}
			}
		}
	}
}

// tries answers everything with a fault and gives the bodies of the requests.
func tries(t *testing.T, cl client, r model.Request, fault string) []string {
	t.Helper()
	var out []string
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		b, _ := io.ReadAll(q.Body)
		out = append(out, string(b))
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, fault)
	}))
	defer h.Close()
	m := open(t, cl.open(openai.Options{Provider: "p", URL: h.URL, Key: modeltest.Key}))
	var e *model.Error
	if _, err := m.Stream(context.Background(), r, nil); !errors.As(err, &e) || e.Kind != model.KindRequest {
		t.Errorf("%s: %v", cl.name, err)
	}
	return out
}
