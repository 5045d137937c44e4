package openai_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"jig/internal/model"
	"jig/internal/model/openai"
)

func FuzzAnyAnswerIsReadOrRefused(f *testing.F) {
	f.Add("data: " + call(`"index":0,"id":"1","function":{"name":"f","arguments":"{"}`) + "\n\ndata: " + stop + "\n\ndata: [DONE]\n\n")
	f.Add("data: " + delta(`{"content":[{"text":"a"}],"reasoning":"b"}`) + "\r\rdata: " + calls)
	f.Add(`{"choices":[{"message":{"content":"a","tool_calls":[{"function":{"arguments":{"a":1}}}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}`)
	f.Add(`{"error":{"code":429,"message":[1]}}`)
	f.Fuzz(func(t *testing.T, body string) {
		m := openai.New(openai.Options{URL: "http://h", Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
		})})
		r, err := m.Stream(context.Background(), model.Request{Model: "m"}, nil)
		if err != nil && (kindOf(err) == "" || strings.ContainsAny(err.Error(), "\r\n")) || err == nil && r.Stop == "" {
			t.Errorf("%q: %+v %v", body, r, err)
		}
	})
}
