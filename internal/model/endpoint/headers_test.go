package endpoint

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"jig/internal/model"
)

// answers is a transport that answers as it is told, and keeps the last request.
type answers struct {
	answer func() *http.Response
	asked  *http.Request
}

func (a *answers) RoundTrip(r *http.Request) (*http.Response, error) {
	a.asked = r
	return a.answer(), nil
}

// A key from a file or a variable that ends with its line is the key.
func TestALineEndAfterAKeyIsNotSent(t *testing.T) {
	a := &answers{answer: func() *http.Response {
		return &http.Response{StatusCode: http.StatusUnauthorized, Body: io.NopCloser(strings.NewReader(`{"error":"bad sk-secret-1!"}`))}
	}}
	const key = "sk-secret-1\r\n"
	c := New(Vendor{}, Options{URL: "http://h", Key: key, Headers: map[string]string{"X-Team": " t\n"}, Transport: a}, map[string]string{"Authorization": "Bearer " + key})
	err := c.Ask(context.Background(), nil, nil, nil)
	if a.asked == nil || a.asked.Header.Get("Authorization") != "Bearer sk-secret-1" || a.asked.Header.Get("X-Team") != "t" {
		t.Errorf("%v %v", a.asked, err)
	}
	if err == nil || !strings.Contains(err.Error(), "bad [secret]") {
		t.Error(err)
	}
}

// What can be sent in no try is refused before the first, and says what to mend.
func TestHeadersThatCannotBeSentAreNotTried(t *testing.T) {
	for name, o := range map[string]Options{
		"Authorization": {Key: "sk-secret\n-12345"},
		"X-Odd":         {Headers: map[string]string{"x-odd": "a\x00b"}},
		`"X Team"`:      {Headers: map[string]string{"X Team": "a"}},
		`""`:            {Headers: map[string]string{"": "a"}},
	} {
		a := &answers{}
		o.URL, o.Transport = "http://h", a
		err := New(Vendor{}, o, map[string]string{"Authorization": "Bearer " + o.Key}).Ask(context.Background(), nil, nil, nil)
		var e *model.Error
		if !errors.As(err, &e) || e.Kind != model.KindRequest || !strings.Contains(e.Text, name) || strings.Contains(e.Text, "12345") || a.asked != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An answer that somebody on the way has compressed is read as it was, as it comes; one that is only said
// to be compressed is read as it is.
func TestCompressedAnswersAreRead(t *testing.T) {
	const refusal = `{"error":{"message":"no such model"}}`
	zip := func(s string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, _ = io.WriteString(w, s)
		_ = w.Close()
		return b.String()
	}
	for name, c := range map[string]struct {
		status int
		body   string
		want   string
	}{
		"refusal":         {http.StatusBadRequest, zip(refusal), "no such model"},
		"not compressed":  {http.StatusBadRequest, refusal, "no such model"},
		"one byte":        {http.StatusBadRequest, "x", "x"},
		"nothing":         {http.StatusBadRequest, "", "Bad Request"},
		"cut":             {http.StatusOK, zip(strings.Repeat("data: {}\n\n", 9))[:30], "broke off"},
		"broken":          {http.StatusOK, zipped + "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "gzip"},
		"an endless page": {http.StatusOK, zip("<" + strings.Repeat(" ", maxReply+1)), "more than 64 MiB"},
	} {
		a := &answers{answer: func() *http.Response {
			return &http.Response{StatusCode: c.status, Header: http.Header{"Content-Encoding": {"GZIP"}}, Body: io.NopCloser(strings.NewReader(c.body))}
		}}
		err := New(Vendor{}, Options{URL: "http://h", Transport: a}, nil).Ask(context.Background(), nil, &ignores{}, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// ignores is an answer that never ends.
type ignores struct{ Size }

func (*ignores) Event([]byte) (bool, error) { return false, nil }
func (*ignores) Whole([]byte) error         { return nil }
func (*ignores) Ended() bool                { return false }
