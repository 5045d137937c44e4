package endpoint

import (
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"jig/internal/model"
)

// served is an answer with a status, a type and a body.
type served struct {
	status int
	kind   string
	body   string
}

func (s served) RoundTrip(*http.Request) (*http.Response, error) {
	h := http.Header{}
	if s.kind != "" {
		h.Set("Content-Type", s.kind)
	}
	return &http.Response{StatusCode: s.status, Header: h, Body: io.NopCloser(strings.NewReader(s.body))}, nil
}

// gotten is the error that an answer comes to, nil for a reply.
func gotten(t *testing.T, s served) *model.Error {
	t.Helper()
	c := New(Vendor{Base: "https://h", Path: "/x"}, Options{Transport: s, Key: "sk-secret-1"}, nil)
	err := c.Ask(t.Context(), nil, &strict{}, nil)
	var e *model.Error
	if err != nil && !errors.As(err, &e) {
		t.Fatalf("%T: %v", err, err)
	}
	return e
}

// strict is an answer whose whole form only a list of words is.
type strict struct{ note }

func (s *strict) Whole(body []byte) error {
	if string(body) != `["words"]` {
		return ErrNoReply
	}
	return s.note.Whole(body)
}

// One that is cut in two by the bound of a text must not be seen in half.
func TestNoPartOfASecretIsLeftWhereATextIsCut(t *testing.T) {
	key := "sk-proj-" + strings.Repeat("Ab3dE", 20)
	c := New(Vendor{Base: "https://h", Path: "/x"}, Options{Key: key, Headers: map[string]string{"X-Auth": "Custom " + key[8:]}}, nil)
	half := func(s string) bool { return strings.Contains(s, key[:8]+key[8:12]) || strings.Contains(s, key[8:16]) }
	for n := range 700 {
		text := strings.Repeat("x", n) + " " + key
		for name, e := range map[string]*model.Error{
			"refused": c.refused(&http.Response{StatusCode: http.StatusBadRequest}, []byte(`{"error":{"message":"`+text+` and more"}}`)),
			"text":    c.refused(&http.Response{StatusCode: http.StatusInternalServerError}, []byte(text+" and more")),
			"told":    c.Told([]byte(`{"error":{"message":"` + text + `"}}`)),
			"own":     c.Errorf(model.KindAuth, "%s", text),
		} {
			if half(e.Error()) {
				t.Fatalf("%s, after %d: %v", name, n, e)
			}
		}
	}
	for _, tail := range []string{key[:14], key[:40] + "…", key[:14] + "...", key[:90] + `"}`} { // the provider cut it
		e := c.refused(&http.Response{StatusCode: http.StatusUnauthorized}, []byte(`{"error":{"message":"bad key `+strings.ReplaceAll(tail, `"`, `\"`)+`"}}`))
		if half(e.Error()) || !strings.Contains(e.Error(), "bad key [secret]") {
			t.Errorf("%q: %v", tail, e)
		}
	}
	for n := maxShown - 40; n < maxShown; n++ { // the body is cut before it is read
		body := strings.Repeat(" ", n) + "was " + key
		if e := c.refused(&http.Response{StatusCode: http.StatusInternalServerError}, []byte(body)); half(e.Error()) {
			t.Fatalf("%d: %v", n, e)
		}
	}
	if s := c.Errorf(model.KindAuth, "it wants Custom").Error(); s != "it wants Custom" {
		t.Errorf("a word was taken for a secret: %q", s)
	}
}

// A server that sends 64 MB of something else must not cost many times that.
func TestABodyThatIsNoReplyCostsLittleMoreThanItself(t *testing.T) {
	c := New(Vendor{Base: "https://h", Path: "/x"}, Options{Key: "sk-secret-1"}, nil)
	for name, body := range map[string][]byte{
		"text":    []byte(strings.Repeat("http://a b\xff ", 1<<20)),
		"page":    []byte("<html>" + strings.Repeat("<p>", 4<<20)),
		"message": []byte(`{"error":"` + strings.Repeat("x ", 6<<20) + `"}`),
	} {
		res := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_ = c.notReply(res, body)
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 2*uint64(len(body)) {
			t.Errorf("%s: %d bytes for a body of %d", name, n, len(body))
		}
	}
	e := c.Told([]byte(`{"error":"` + strings.Repeat("http://a b ", 1<<20) + `"}`))
	if len([]rune(e.Error())) > 600 {
		t.Errorf("%d characters", len(e.Error()))
	}
}

func TestAnAnswerThatIsNoStreamIsSaidToBeNone(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		kind model.Kind
		says string
	}{
		"text":                             {"error code: 1015", model.KindProtocol, "not with a model's reply: error code: 1015; check"},
		"text with an end":                 {"error code: 1015\n", model.KindProtocol, "error code: 1015"},
		"compressed":                       {"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\xaaV*I-.\x01\x04\x00\x00\xff\xff", model.KindProtocol, "bytes that are no text"},
		"cut in the middle of a character": {strings.Repeat("x", 1023) + "日本語", model.KindProtocol, "xxx"},
		"mark and error":                   {"\ufeff" + `{"error":{"message":"bad","type":"invalid_request_error"}}`, model.KindRequest, "bad"},
		"mark and page":                    {"\ufeff<html><title>Log in</title>", model.KindProtocol, `a web page titled "Log in"`},
		"a long text":                      {strings.Repeat("word ", 5000), model.KindProtocol, "word word"},
		"nothing":                          {"", model.KindNetwork, "an empty body"},
		"spaces":                           {" \n\n", model.KindNetwork, "an empty body"},
		"only comments":                    {": alive\n\n: alive\n\n", model.KindNetwork, "broke off"},
		"half an event":                    {"data: a", model.KindNetwork, "broke off"},
		"half a field":                     {"dat", model.KindNetwork, "broke off"},
		"an event's name":                  {"event: message_start\n", model.KindNetwork, "broke off"},
	} {
		e := gotten(t, served{200, "text/event-stream", c.body})
		if e == nil || e.Kind != c.kind || !strings.Contains(e.Error(), c.says) || strings.ContainsRune(e.Error(), '\ufffd') {
			t.Errorf("%s: %+v", name, e)
		}
	}
	if e := gotten(t, served{200, "", "\ufeff[\"words\"]"}); e != nil {
		t.Error(e)
	}
	if e := gotten(t, served{200, "", "\ufeffdata: a\n\ndata: end\n\ndata: last\n\n"}); e != nil {
		t.Error(e)
	}
}

// What the connection's end cuts off is no reply of another kind.
func TestATextThatBreaksOffIsBrokenOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(Vendor{Base: "https://h"}, Options{Transport: line{pieces: []piece{{0, "some words"}}}}, nil)
		var e *model.Error
		if err := c.Ask(t.Context(), nil, &note{}, nil); !errors.As(err, &e) || e.Kind != model.KindNetwork || !strings.Contains(err.Error(), "sent nothing more") {
			t.Error(err)
		}
	})
}

// The wordings are those of services.
func TestRefusalsAreSortedByWhatCanBeDone(t *testing.T) {
	for body, c := range map[string]struct {
		status int
		kind   model.Kind
	}{
		`{"error":{"message":"Your account org-1 <ak-1> is suspended due to insufficient balance, please recharge your account or check your plan and billing details","type":"exceeded_current_quota_error"}}`:                     {429, model.KindQuota},
		`{"error":{"code":"1113","message":"Insufficient balance or no resource package. Please recharge."}}`:                                                                                                                       {429, model.KindQuota},
		`{"error":{"message":"x","type":"exceeded_current_quota_error"}}`:                                                                                                                                                           {403, model.KindQuota},
		`{"type":"error","error":{"type":"invalid_request_error","message":"You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC."}}`:                                                {400, model.KindQuota},
		`{"code":"The caller does not have permission","error":"Your team 1 has either used all available credits or reached its monthly spending limit. To continue making API requests, please purchase more credits"}`:           {403, model.KindQuota},
		`{"error":{"message":"Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 50000. The input or output tokens must be reduced","type":"tokens","code":"rate_limit_exceeded"}}`: {429, model.KindOverflow},
		`{"error":{"message":"Rate limit reached for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Used 29000, Requested 5000. Please try again in 8s.","type":"tokens","code":"rate_limit_exceeded"}}`:        {429, model.KindLimit},
		"{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"input length and `max_tokens` exceed context limit: 199759 + 8192 > 200000, decrease input length or `max_tokens` and try again\"}}":       {400, model.KindOverflow},
		`{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 131072 but the request contains 140000 tokens."}`:                                                                            {400, model.KindOverflow},
		`{"error":{"message":"Your account org-1 request reached organization max RPM: 3, please try again after 1 seconds","type":"rate_limit_reached_error"}}`:                                                                    {429, model.KindLimit},
		`{"error":{"message":"The balance of the weights is insufficient","type":"invalid_request_error"}}`:                                                                                                                         {400, model.KindRequest},
	} {
		if e := gotten(t, served{c.status, "application/json", body}); e == nil || e.Kind != c.kind {
			t.Errorf("%s is %+v, want %s", body, e, c.kind)
		}
	}
}

func TestWhatARefusalDoesNotSayIsLeftOut(t *testing.T) {
	for _, body := range []string{"", "{}", "[]", "null", `""`, " {} \n", `{"error":{}}`, `[{}]`} {
		if e := gotten(t, served{429, "", body}); e.Error() != "https://h/x limits the rate of requests (429): Too Many Requests; wait, then try again" || e.Kind != model.KindLimit {
			t.Errorf("%q: %v", body, e)
		}
	}
}

func TestASuccessWithoutAReplyIsNoRefusal(t *testing.T) {
	for want, s := range map[string]served{
		"https://h/x answered with an empty body (204), not with a model's reply; check the provider's url":                {204, "", ""},
		"https://h/x answered with an empty body (201), not with a model's reply; check the provider's url":                {201, "text/plain", "\n"},
		"https://h/x answered with application/json (202), not with a model's reply: {\"id\":1}; check the provider's url": {202, "application/json", `{"id":1}`},
	} {
		if e := gotten(t, s); e == nil || e.Error() != want || e.Kind != model.KindProtocol || e.Status != s.status {
			t.Errorf("%d: %v", s.status, e)
		}
	}
}

// Where jig follows an advice by itself nobody needs to be told it.
func TestWhatHappenedCanBeSaidWithoutTheAdvice(t *testing.T) {
	for name, c := range map[string]struct {
		s    served
		what string
	}{
		"limit":   {served{429, "", `{"error":"slow down"}`}, "https://h/x limits the rate of requests (429): slow down"},
		"server":  {served{500, "", `{"error":"oops; sorry"}`}, "https://h/x is overloaded or broken (500): oops; sorry"},
		"network": {served{200, "", "data: a"}, "h broke off its answer"},
	} {
		e := gotten(t, c.s)
		if e.What != c.what || !strings.HasPrefix(e.Text, e.What+"; ") || !strings.Contains(e.Text, "try again") {
			t.Errorf("%s: %q in %q", name, e.What, e.Text)
		}
	}
}

func TestWhatAGatewayHandsOnIsSaidWithItsOwnWords(t *testing.T) {
	for raw, says := range map[string]string{
		`"{\"message\":\"messages.7: Invalid signature\"}"`:                 ": messages.7: Invalid signature;",
		`"{\"type\":\"error\",\"error\":{\"message\":\"prompt refused\"}}"`: ": prompt refused;",
		`{"error":{"message":"an object"}}`:                                 ": an object;",
		`"m is limited upstream"`:                                           ": m is limited upstream;",
		`7`:                                                                 ": 7;",
		`null`:                                                              "Provider returned error;",
	} {
		e := gotten(t, served{400, "application/json", `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":` + raw + `,"provider_name":"P"}}}`})
		if e == nil || e.Kind != model.KindRequest || !strings.Contains(e.Error(), "Provider returned error") || !strings.Contains(e.Error(), says) {
			t.Errorf("%s: %v", raw, e)
		}
	}
	if e := gotten(t, served{400, "application/json", `{"error":{"message":"bad","metadata":"none"}}`}); e == nil || !strings.Contains(e.Error(), ": bad;") {
		t.Error(e)
	}
}
