package endpoint

import (
	"net/http"
	"testing"
	"time"

	"jig/internal/model"
)

func TestHowLongToWaitIsReadInEveryForm(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		headers map[string]string
		want    time.Duration
	}{
		{map[string]string{"Retry-After": "3"}, 3 * time.Second},
		{map[string]string{"Retry-After": "0.5"}, 500 * time.Millisecond},
		{map[string]string{"Retry-After-Ms": "1500"}, 1500 * time.Millisecond},
		{map[string]string{"Retry-After-Ms": "1500", "Retry-After": "2"}, 1500 * time.Millisecond},
		{map[string]string{"Retry-After": "Mon, 30 Nov 2026 12:01:00 GMT"}, time.Minute},
		{map[string]string{"Retry-After": "Mon, 30 Nov 2026 11:00:00 GMT"}, 0},
		// The server's own clock is 10 minutes ahead of the machine's.
		{map[string]string{"Retry-After": "Mon, 30 Nov 2026 12:11:00 GMT", "Date": "Mon, 30 Nov 2026 12:10:00 GMT"}, time.Minute},
		{map[string]string{"Retry-After": "-5"}, 0},
		{map[string]string{"Retry-After": "soon"}, 0},
		{map[string]string{"Retry-After": "1e300"}, 1e6 * time.Second},
		{map[string]string{"Retry-After": "NaN"}, 0},
		{map[string]string{"X-Other": "3"}, 0},
		// Of several limits the ones that are used up count, and of those the last to pass.
		{map[string]string{"X-Ratelimit-Remaining-Requests": "0", "X-Ratelimit-Reset-Requests": "12ms", "X-Ratelimit-Remaining-Tokens": "0", "X-Ratelimit-Reset-Tokens": "6m0s"}, 6 * time.Minute},
		{map[string]string{"X-Ratelimit-Remaining-Requests": "59", "X-Ratelimit-Reset-Requests": "1h", "X-Ratelimit-Remaining-Tokens": "0", "X-Ratelimit-Reset-Tokens": "7.66s"}, 7660 * time.Millisecond},
		{map[string]string{"X-Ratelimit-Remaining-Requests": "59", "X-Ratelimit-Reset-Requests": "1h"}, 0},
		{map[string]string{"X-Ratelimit-Reset-Tokens": "9"}, 9 * time.Second},
		{map[string]string{"Anthropic-Ratelimit-Requests-Remaining": "0", "Anthropic-Ratelimit-Requests-Reset": "2026-11-30T12:00:20Z"}, 20 * time.Second},
		{map[string]string{"Anthropic-Ratelimit-Tokens-Remaining": "0", "Anthropic-Ratelimit-Tokens-Reset": "2026-11-30T13:01:00+01:00", "Anthropic-Ratelimit-Requests-Remaining": "3", "Anthropic-Ratelimit-Requests-Reset": "2026-11-30T14:00:00Z"}, time.Minute},
		{map[string]string{"X-Ratelimit-Remaining": "0", "X-Ratelimit-Reset": "1796040030"}, 30 * time.Second},
		{map[string]string{"X-Ratelimit-Remaining": "0", "X-Ratelimit-Reset": "1796040030500"}, 30500 * time.Millisecond},
		{map[string]string{"Retry-After": "5", "X-Ratelimit-Remaining": "0", "X-Ratelimit-Reset": "60"}, 5 * time.Second},
	} {
		h := http.Header{}
		for k, v := range c.headers {
			h.Set(k, v)
		}
		if got := retryAfter(h, now); got != c.want {
			t.Errorf("%v is %v, want %v", c.headers, got, c.want)
		}
	}
}

// Some services say it in the message alone; a header goes before it, and RetryInfo is never cut short.
func TestHowLongToWaitIsReadInTheBody(t *testing.T) {
	c := New(Vendor{Base: "https://h"}, Options{}, nil)
	for _, x := range []struct {
		header, body string
		want         time.Duration
	}{
		{"", `{"error":{"message":"Rate limit reached. Limit 10000, Used 9800, Requested 500. Please try again in 1.8s.","code":"rate_limit_exceeded"}}`, 1800 * time.Millisecond},
		{"", `{"error":{"message":"Please try again in 6m0s."}}`, 6 * time.Minute},
		{"", `{"error":{"message":"Try again in 35 seconds"}}`, 35 * time.Second},
		{"", `{"error":{"message":"Please try again in 20ms."}}`, 20 * time.Millisecond},
		{"", `{"error":{"message":"try again in a while"}}`, 0},
		{"3", `{"error":{"message":"Please try again in 6m0s."}}`, 3 * time.Second},
		{"3", `{"error":{"status":"RESOURCE_EXHAUSTED","message":"x","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"26s"}]}}`, 26 * time.Second},
		{"40", `{"error":{"status":"RESOURCE_EXHAUSTED","message":"x","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"26s"}]}}`, 40 * time.Second},
	} {
		h := http.Header{}
		if x.header != "" {
			h.Set("Retry-After", x.header)
		}
		e := c.refused(&http.Response{StatusCode: http.StatusTooManyRequests, Header: h}, []byte(x.body))
		if e.Kind != model.KindLimit || e.After != x.want {
			t.Errorf("%s: %s, %v, want %v", x.body, e.Kind, e.After, x.want)
		}
	}
}

func TestAProviderMayForbidToTryAgain(t *testing.T) {
	c := New(Vendor{Base: "https://h"}, Options{}, nil)
	for value, want := range map[string]bool{"false": true, "true": false, "": false} {
		e := c.refused(&http.Response{StatusCode: http.StatusTooManyRequests, Header: http.Header{"X-Should-Retry": {value}}}, nil)
		if e.Final != want {
			t.Errorf("%q: final is %v", value, e.Final)
		}
	}
}

func FuzzWaitsAreBounded(f *testing.F) {
	for _, s := range []string{"3", "6m0s", "2026-11-30T12:00:20Z", "Mon, 30 Nov 2026 12:01:00 GMT", "1796040030500", "-1", "1e999", "9223372036854775807", "2562047h"} {
		f.Add(s)
	}
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, s string) {
		for _, d := range []time.Duration{moment(s, now), told("try again in " + s), retryAfter(http.Header{"X-Ratelimit-Reset": {s}, "Date": {s}}, now)} {
			if d < 0 || d > 1e6*time.Second {
				t.Errorf("%q: %v", s, d)
			}
		}
	})
}
