package anthropic

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"jig/internal/model"
)

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func FuzzAnyAnswerIsReadOrRefused(f *testing.F) {
	f.Add("data:" + start + "\n\ndata:" + begin("0", `{"type":"thinking","thinking":"a"}`) + "\n\ndata:" + piece("0", `{"type":"signature_delta","signature":"s"}`) + "\n\ndata:" + finish + "\n\ndata:" + end + "\n\n")
	f.Add("data:" + begin("1", `{"type":"tool_use","id":"1","input":[1]}`) + "\r\rdata:" + finish)
	f.Add(`{"type":"message","content":[{"type":"text","text":"a"},7],"stop_reason":"end_turn"}`)
	f.Add(`{"type":"error","error":{"type":"overloaded_error"}}`)
	f.Fuzz(func(t *testing.T, body string) {
		m := New(Options{URL: "http://h", Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
		})})
		r, err := m.Stream(context.Background(), model.Request{Model: "m"}, nil)
		if err != nil && (kindOf(err) == "" || strings.ContainsAny(err.Error(), "\r\n")) || err == nil && r.Stop == "" {
			t.Errorf("%q: %+v %v", body, r, err)
		}
	})
}
