package anthropic

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"jig/internal/model"
	"jig/internal/msg"
)

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// spoken are all the texts of a reply.
func spoken(r model.Reply) string {
	var all string
	for _, b := range r.Blocks {
		switch b := b.(type) {
		case msg.Text:
			all += b.Text
		case msg.Reasoning:
			all += b.Text + string(b.Raw)
		case msg.Call:
			all += b.Given + b.Name + b.Args
		}
	}
	return all
}

func FuzzAnyAnswerIsReadOrRefused(f *testing.F) {
	f.Add("data:" + start + "\n\ndata:" + begin("0", `{"type":"thinking","thinking":"a"}`) + "\n\ndata:" + piece("0", `{"type":"signature_delta","signature":"s"}`) + "\n\ndata:" + finish + "\n\ndata:" + end + "\n\n")
	f.Add("data:" + begin("1", `{"type":"tool_use","id":"1","input":[1]}`) + "\r\rdata:" + finish)
	f.Add(`{"type":"message","content":[{"type":"text","text":"a"},7],"stop_reason":"end_turn"}`)
	f.Add("data:" + begin("0", "{\"type\":\"redacted_thinking\",\"data\":\"\xf0\x9f\"}") + "\n\ndata:" + begin("1", "{\"type\":\"tool_use\",\"input\":{\"a\":\"\xff\"}}") + "\n\ndata:" + finish)
	f.Add("data:" + begin("0", `{"type":"text","text":"\ud83d"}`) + "\n\ndata:" + piece("0", `{"type":"text_delta","text":"\ude00"}`) + "\n\ndata:" + finish)
	f.Add(`{"type":"error","error":{"type":"overloaded_error"}}`)
	f.Add("data:" + begin("0", `{"type":"server_tool_use","id":"s","input":{}}`) + "\n\ndata:" + piece("0", `{"type":"input_json_delta","partial_json":"{\"q\":1"}`) + "\n\ndata:" + `{"type":"message_delta","delta":{"stop_reason":"pause_turn"}}` + "\n\ndata:" + end)
	f.Add(`{"type":"message","content":[],"stop_reason":"refusal","stop_details":{"type":"refusal","explanation":"x"}}`)
	f.Fuzz(func(t *testing.T, body string) {
		m := New(Options{Provider: "p", URL: "http://h", Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			sent, _ := io.ReadAll(r.Body)
			if !json.Valid(sent) || !utf8.Valid(sent) {
				t.Errorf("%q: sent %q", body, sent)
			}
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
		})})
		told := ""
		r, err := m.Stream(context.Background(), model.Request{Model: "m"}, func(d model.Delta) { told += d.Text + d.Reasoning + d.Call })
		if !utf8.ValidString(told) || !utf8.ValidString(spoken(r)) {
			t.Errorf("%q: %q %q", body, told, spoken(r))
		}
		if err != nil && (kindOf(err) == "" || strings.ContainsAny(err.Error(), "\r\n")) || err == nil && r.Stop == "" {
			t.Errorf("%q: %+v %v", body, r, err)
		}
		_, _ = m.Stream(context.Background(), model.Request{Model: "m", Messages: []msg.Message{{Role: msg.Assistant, Provider: "p", Model: "m", Blocks: r.Blocks}}}, nil)
	})
}
