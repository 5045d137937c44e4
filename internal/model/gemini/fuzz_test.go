package gemini

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
	f.Add("data: " + parts(`{"text":"a","thought":true,"thoughtSignature":"S"},{"text":"b"}`) + "\r\n\r\ndata: " + finish("STOP") + "\r\n\r\n")
	f.Add("data: " + parts(`{"functionCall":{"id":"1","name":"f","args":{"a":[1]}},"thoughtSignature":"S"},{"functionCall":{"args":"x"}}`) + "\r\rdata: " + finish("MAX_TOKENS"))
	f.Add("data: " + parts("{\"functionCall\":{\"id\":\"\xff\",\"name\":\"f\",\"args\":{\"a\":\"\xf0\x9f\"}}}") + "\n\ndata: " + finish("STOP") + "\n\n")
	f.Add("data: " + parts(`{"text":"\ud83d","thoughtSignature":"\udfff"}`) + "\n\ndata: " + parts(`{"text":"\ude00"}`) + "\n\ndata: " + finish("SAFETY"))
	f.Add("[" + parts(`{"text":"a"}`) + "," + finish("STOP") + "]")
	f.Add(`{"promptFeedback":{"blockReason":"SAFETY"}}`)
	f.Add(`[{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":[1],"details":[{"@type":"google.rpc.RetryInfo","retryDelay":"9e9s"}]}}]`)
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
		// What was read can be sent back.
		back, err := m.body(model.Request{Model: "m", Messages: []msg.Message{{Role: msg.Assistant, Provider: "p", Model: "m", Blocks: r.Blocks}}})
		if err != nil || !json.Valid(back) {
			t.Errorf("%q: %v %s", body, err, back)
		}
	})
}
