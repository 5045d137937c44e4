package openresponses

import (
	"context"
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
			all += b.Text + string(b.Raw)
		case msg.Reasoning:
			all += b.Text + string(b.Raw)
		case msg.Call:
			all += b.Given + b.Name + b.Args + string(b.Raw)
		}
	}
	return all
}

func FuzzAnyAnswerIsReadOrRefused(f *testing.F) {
	body := func(events ...string) string { return "data:" + strings.Join(events, "\n\ndata:") + "\n\n" }
	f.Add(body(append(lines(weather), completed)...))
	f.Add(body(created, messageAdded, partAdded, textDelta, textDone, partDone, messageDone, completed, "[DONE]"))
	f.Add(body(summaryAdded, summaryDelta, thoughtDelta, done(`{"id":"rs_1","type":"reasoning","summary":[7],"encrypted_content":"x"}`), cutShort))
	f.Add("data:" + textDelta + "\r\rdata:" + failure)
	f.Add(body(mistake))
	f.Add(`{"object":"response","status":"completed","output":[{"type":"message","content":[{"type":"refusal","refusal":"no"}]},7],"usage":{"input_tokens":1}}`)
	f.Add(body(done("{\"type\":\"function_call\",\"id\":\"\xff\",\"call_id\":\"\xf0\x9f\",\"arguments\":{\"a\":\"\xff\"}}"), end))
	f.Add(body(`{"type":"response.output_text.delta","delta":"\ud83d"}`, `{"type":"response.output_text.delta","delta":"\ude00"}`, end))
	f.Add(body(done("{\"type\":\"reasoning\",\"encrypted_content\":\"\xf0\x9f\"}"), `{"type":"response.completed","response":{"output":[{}]}}`))
	f.Fuzz(func(t *testing.T, body string) {
		m := New(Options{Provider: "p", URL: "http://h", Transport: roundTrip(func(*http.Request) (*http.Response, error) {
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
		// Whatever was said can be sent back.
		sent, err := m.body(model.Request{Model: "m", Messages: []msg.Message{{Role: msg.Assistant, Provider: "p", Model: "m", Blocks: r.Blocks}}}, false)
		if err != nil || !valid(sent) {
			t.Errorf("%q: %v %s", body, err, sent)
		}
	})
}
