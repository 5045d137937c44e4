package openai_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"jig/internal/model"
	"jig/internal/model/openai"
	"jig/internal/msg"
)

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
	f.Add("data: " + call(`"index":0,"id":"1","function":{"name":"f","arguments":"{"}`) + "\n\ndata: " + stop + "\n\ndata: [DONE]\n\n")
	f.Add("data: " + delta(`{"content":[{"text":"a"}],"reasoning":"b"}`) + "\r\rdata: " + calls)
	f.Add(`{"choices":[{"message":{"content":"a","tool_calls":[{"function":{"arguments":{"a":1}}}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}`)
	f.Add("data: " + call("\"id\":\"\xff\",\"function\":{\"name\":\"f\",\"arguments\":{\"a\":\"\xf0\x9f\"}}") + "\n\ndata: " + stop + "\n\n")
	f.Add("data: " + delta(`{"content":"\ud83d","reasoning":"\udfff"}`) + "\n\ndata: " + delta(`{"content":"\ude00"}`) + "\n\ndata: " + stop + "\n\n")
	f.Add("data: " + delta(`{"reasoning_details":[{"type":"reasoning.text","text":"a","index":0}]}`) + "\n\ndata: " + delta(`{"reasoning_details":[{"type":"reasoning.text","text":"\ud83d","index":0,"signature":"x"},{"data":"ÿ"},3]}`) + "\n\ndata: " + stop + "\n\n")
	f.Add("data: " + delta(`{"content":[{"type":"thinking","thinking":[{"text":"a"},{"thinking":"b"}]},{"type":"thinking","thinking":"c"}]}`) + "\n\ndata: " + call(`"id":"1","extra_content":{"google":{"thought_signature":"s"}},"function":{"name":"f","arguments":"{}"}`) + "\n\ndata: " + calls + "\n\n")
	f.Add("data: " + call(`"index":0,"id":"1","function":{"name":"f","arguments":"\"{}\""}`) + "\n\ndata: " + call(`"index":1,"id":"1","function":{"name":"f","arguments":[]}`) + "\n\ndata: " + `{"choices":[{"message":{"content":"a","tool_calls":[{"function":{"name":"f","arguments":"{}"}}]},"delta":{"content":"a"},"finish_reason":"stop"}]}` + "\n\n")
	f.Add(`{"error":{"code":429,"message":[1]}}`)
	f.Fuzz(func(t *testing.T, body string) {
		m := openai.New(openai.Options{URL: "http://h", Transport: roundTrip(func(*http.Request) (*http.Response, error) {
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
		for i, b := range r.Blocks {
			if c, ok := b.(msg.Call); ok {
				c.ID = "call00001"
				r.Blocks[i] = c
			}
		}
		sent := sentTo(t, "http://h", model.Request{Model: "m", Tools: tools(), Messages: []msg.Message{{Role: msg.Assistant, Provider: "p", Model: "m", Blocks: r.Blocks}}})
		if !json.Valid([]byte(sent)) || !utf8.ValidString(sent) {
			t.Errorf("%q comes back as %q", body, sent)
		}
	})
}
