package openai_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"jig/internal/model"
	"jig/internal/model/modeltest"
	"jig/internal/model/openai"
	"jig/internal/msg"
)

// kindOf is an error's kind, "" when it has none.
func kindOf(err error) model.Kind {
	var e *model.Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}

// stream gives a model the events of a body and returns what it made of them.
func stream(t *testing.T, events ...string) (model.Reply, error) {
	t.Helper()
	body := "data: " + strings.Join(events, "\n\ndata: ") + "\n\n"
	s := modeltest.New(t, modeltest.Reply{Fault: modeltest.Fault{Kind: modeltest.FaultStatus, Status: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body}})
	m := openai.New(openai.Options{URL: s.URL, Key: modeltest.Key})
	t.Cleanup(func() { _ = m.Close() })
	return m.Stream(context.Background(), model.Request{Model: "m", Messages: []msg.Message{msg.Say(msg.User, "hi")}}, nil)
}

func delta(d string) string { return `{"choices":[{"index":0,"delta":` + d + `}]}` }

func call(fields string) string { return delta(`{"tool_calls":[{` + fields + `}]}`) }

const (
	stop  = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	calls = `{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`
	done  = `[DONE]`
)

func TestWhatCompatibleServersSendDifferentlyIsRead(t *testing.T) {
	text := func(s string) model.Reply {
		return model.Reply{Stop: model.StopEnd, Blocks: msg.Blocks{msg.Text{Text: s}}}
	}
	used := text("a")
	used.Usage = msg.Usage{Input: 9, Output: 4, CacheRead: 3}
	thought := func(key string) model.Reply {
		return model.Reply{Stop: model.StopEnd, Blocks: msg.Blocks{msg.Reasoning{Text: "hm <", Raw: []byte(`{"` + key + `":"hm <"}`)}, msg.Text{Text: "a"}}}
	}
	for name, c := range map[string]struct {
		events []string
		want   model.Reply
	}{
		"null everywhere":         {[]string{`{"choices":[{"index":0,"delta":{"role":"assistant","content":null,"reasoning_content":null,"tool_calls":null,"refusal":null},"finish_reason":null}],"usage":null,"error":null}`, delta(`{"content":"a"}`), stop, done}, text("a")},
		"no choices":              {[]string{`{"choices":[]}`, delta(`{"content":"a"}`), `{"choices":null}`, stop, done}, text("a")},
		"no done":                 {[]string{delta(`{"content":"a"}`), stop}, text("a")},
		"finish with the last":    {[]string{`{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}`, done}, text("a")},
		"usage in every chunk":    {[]string{`{"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":9,"completion_tokens":1}}`, stop, `{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,"prompt_cache_hit_tokens":3}}`, done}, used},
		"content in parts":        {[]string{delta(`{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`), stop, done}, text("ab")},
		"another choice":          {[]string{`{"choices":[{"index":1,"delta":{"content":"x"}}]}`, delta(`{"content":"a"}`), stop, done}, text("a")},
		"blank events":            {[]string{"", delta(`{"content":"a"}`), " ", stop, "[DONE] ", "", done}, text("a")},
		"choice in quotes":        {[]string{`{"choices":[{"index":"0","delta":{"content":"a"},"finish_reason":"stop"}]}`, `{"choices":[{"index":1.0,"delta":{"content":"x"}}]}`, done}, text("a")},
		"unknown finish":          {[]string{delta(`{"content":"a"}`), `{"choices":[{"delta":{},"finish_reason":"eos"}]}`, done}, text("a")},
		"reasoning":               {[]string{delta(`{"reasoning":"hm <"}`), delta(`{"content":"a"}`), stop, done}, thought("reasoning")},
		"reasoning_content":       {[]string{delta(`{"reasoning_content":"hm "}`), delta(`{"reasoning_content":"<"}`), delta(`{"content":"a"}`), stop, done}, thought("reasoning_content")},
		"reasoning in both":       {[]string{delta(`{"reasoning_content":"hm <","reasoning":"hm <"}`), delta(`{"content":"a"}`), stop, done}, thought("reasoning_content")},
		"empty reasoning, a call": {[]string{delta(`{"reasoning_content":""}`), call(`"index":0,"id":"1","function":{"name":"f","arguments":"{}"}`), calls, done}, model.Reply{Stop: model.StopCalls, Blocks: msg.Blocks{msg.Reasoning{Raw: []byte(`{"reasoning_content":""}`)}, msg.Call{Given: "1", Name: "f", Args: "{}"}}}},
		"filtered":                {[]string{delta(`{"content":"a"}`), `{"choices":[{"delta":{},"finish_reason":"content_filter"}]}`, done}, model.Reply{Stop: model.StopRefusal, Blocks: msg.Blocks{msg.Text{Text: "a"}}}},
	} {
		got, err := stream(t, c.events...)
		if d := cmp.Diff(c.want, got); err != nil || d != "" {
			t.Errorf("%s: %v\n%s", name, err, d)
		}
	}
}

func TestToolCallsAreToldApartHoweverTheyAreStreamed(t *testing.T) {
	f := func(id, args string) msg.Call { return msg.Call{Given: id, Name: "f", Args: args} }
	for name, c := range map[string]struct {
		events []string
		want   msg.Blocks
	}{
		"interleaved by index":        {[]string{call(`"index":0,"id":"1","function":{"name":"f","arguments":"{\"a\""}`), call(`"index":1,"id":"2","function":{"name":"f","arguments":"{\"b\""}`), call(`"index":0,"function":{"arguments":":1}"}`), call(`"index":1,"function":{"arguments":":2}"}`)}, msg.Blocks{f("1", `{"a":1}`), f("2", `{"b":2}`)}},
		"interleaved by id":           {[]string{call(`"id":"1","function":{"name":"f","arguments":"{\"a\""}`), call(`"id":"2","function":{"name":"f","arguments":"{\"b\""}`), call(`"id":"1","function":{"arguments":":1}"}`), call(`"id":"2","function":{"arguments":":2}"}`)}, msg.Blocks{f("1", `{"a":1}`), f("2", `{"b":2}`)}},
		"two whole, same id":          {[]string{call(`"index":0,"id":"call_1","function":{"name":"f","arguments":"{}"}`), call(`"index":0,"id":"call_1","function":{"name":"f","arguments":"{\"a\":1}"}`)}, msg.Blocks{f("call_1", `{}`), f("call_1", `{"a":1}`)}},
		"two whole, nothing else":     {[]string{call(`"function":{"name":"f","arguments":"{}"}`), call(`"function":{"name":"f","arguments":"{}"}`)}, msg.Blocks{f("", `{}`), f("", `{}`)}},
		"a fresh id in every piece":   {[]string{call(`"index":0,"id":"1","function":{"name":"f","arguments":""}`), call(`"index":0,"id":"x","function":{"arguments":"{\"a\":"}`), call(`"index":0,"id":"y","function":{"arguments":"1}"}`)}, msg.Blocks{f("1", `{"a":1}`)}},
		"the id comes later":          {[]string{call(`"index":0,"function":{"name":"f","arguments":""}`), call(`"index":0,"id":"1","function":{"arguments":"{}"}`)}, msg.Blocks{f("1", `{}`)}},
		"the name comes later":        {[]string{call(`"index":0,"id":"1","function":{"arguments":""}`), call(`"index":0,"function":{"name":"f","arguments":"{}"}`)}, msg.Blocks{f("1", `{}`)}},
		"both in one chunk":           {[]string{delta(`{"tool_calls":[{"index":0,"id":"1","function":{"name":"f","arguments":"{}"}},{"index":1,"id":"2","function":{"name":"f","arguments":"{}"}}]}`)}, msg.Blocks{f("1", `{}`), f("2", `{}`)}},
		"both in one chunk, index 0":  {[]string{delta(`{"tool_calls":[{"index":0,"id":"1","function":{"name":"f","arguments":"{}"}},{"index":0,"id":"2","function":{"name":"f","arguments":"{}"}}]}`)}, msg.Blocks{f("1", `{}`), f("2", `{}`)}},
		"arguments as an object":      {[]string{call(`"index":0,"id":"1","function":{"name":"f","arguments":{"a":1}}`)}, msg.Blocks{f("1", `{"a":1}`)}},
		"arguments as a list":         {[]string{call(`"index":0,"id":"1","function":{"name":"f","arguments":[]}`)}, msg.Blocks{f("1", `[]`)}},
		"arguments as a number":       {[]string{call(`"index":0,"id":"1","function":{"name":"f","arguments":7}`)}, msg.Blocks{f("1", `7`)}},
		"arguments null":              {[]string{call(`"index":0,"id":"1","function":{"name":"f","arguments":null}`)}, msg.Blocks{f("1", ``)}},
		"arguments missing":           {[]string{call(`"index":0,"id":"1","function":{"name":"f"}`)}, msg.Blocks{f("1", ``)}},
		"stop although it calls":      {[]string{call(`"index":3,"id":"1","function":{"name":"f","arguments":"{}"}`)}, msg.Blocks{f("1", `{}`)}},
		"a call without a name":       {[]string{call(`"index":0,"id":"1","function":{"arguments":"{}"}`)}, msg.Blocks{msg.Call{Given: "1", Args: "{}"}}},
		"the same index, two by name": {[]string{call(`"index":0,"function":{"name":"f","arguments":"{}"}`), call(`"index":0,"function":{"name":"g","arguments":"{}"}`)}, msg.Blocks{f("", `{}`), msg.Call{Name: "g", Args: "{}"}}},
	} {
		for _, end := range []string{stop, calls} {
			got, err := stream(t, append(c.events, end, done)...)
			if d := cmp.Diff(model.Reply{Stop: model.StopCalls, Blocks: c.want}, got); err != nil || d != "" {
				t.Errorf("%s: %v\n%s", name, err, d)
			}
		}
	}
}

func TestEveryStyleOfStreamingGivesTheSameCalls(t *testing.T) {
	two := []modeltest.Call{{ID: "a1", Name: "read_file", Args: `{"path":"sum 😀.go"}`}, {ID: "a2", Name: "read_file", Args: `{"path":"b"}`}}
	for _, style := range []modeltest.Style{"", modeltest.Whole, modeltest.NoIndex, modeltest.ZeroOnly, modeltest.From7, modeltest.NoID, modeltest.Named, modeltest.Object} {
		s := modeltest.New(t, modeltest.Reply{Calls: two, Style: style, Bytes: 3})
		m := openai.New(openai.Options{URL: s.URL, Key: modeltest.Key})
		t.Cleanup(func() { _ = m.Close() })
		got, err := m.Stream(context.Background(), model.Request{Model: "m", Messages: []msg.Message{msg.Say(msg.User, "hi")}}, nil)
		want := msg.Blocks{msg.Call{Given: "a1", Name: "read_file", Args: two[0].Args}, msg.Call{Given: "a2", Name: "read_file", Args: two[1].Args}}
		if style == modeltest.NoID {
			want = msg.Blocks{msg.Call{Name: "read_file", Args: two[0].Args}, msg.Call{Name: "read_file", Args: two[1].Args}}
		}
		if d := cmp.Diff(want, got.Blocks); err != nil || d != "" {
			t.Errorf("%q: %v\n%s", style, err, d)
		}
	}
}

func TestAStreamThatNeverSaysWhyItEndedIsAnError(t *testing.T) {
	for name, c := range map[string]struct {
		events []string
		kind   model.Kind
	}{
		"done":      {[]string{delta(`{"content":"a"}`), done}, model.KindNetwork},
		"end":       {[]string{delta(`{"content":"a"}`)}, model.KindNetwork},
		"error end": {[]string{delta(`{"content":"a"}`), `{"choices":[{"delta":{},"finish_reason":"error"}]}`}, model.KindServer},
		"garbage":   {[]string{delta(`{"content":"a"}`), `{"choices":[{"delta":`}, model.KindProtocol},
		"error":     {[]string{delta(`{"content":"a"}`), `{"error":{"message":"Rate limit reached","code":"rate_limit_exceeded"}}`}, model.KindLimit},
	} {
		got, err := stream(t, c.events...)
		if kindOf(err) != c.kind || got.Blocks.Text() != "a" || got.Stop == model.StopEnd && name != "error end" {
			t.Errorf("%s: %v %+v", name, err, got)
		}
	}
}

func TestTheOutputLimitGoesUnderTheKeyTheServerKnows(t *testing.T) {
	for host, key := range map[string]string{"api.openai.com": "max_completion_tokens", "me.openai.azure.com": "max_completion_tokens", "127.0.0.1": "max_tokens", "myapi.openai.com.example": "max_tokens"} {
		var sent string
		m := openai.New(openai.Options{URL: "https://" + host, Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			b := make([]byte, 4096)
			n, _ := r.Body.Read(b)
			sent = string(b[:n])
			return nil, context.DeadlineExceeded
		})})
		_, _ = m.Stream(context.Background(), model.Request{Model: "m", MaxOutput: 77}, nil)
		if !strings.Contains(sent, `"`+key+`":77`) {
			t.Errorf("%s: %s", host, sent)
		}
	}
}

// answers is a server that answers everything with the same body.
func answers(body string) roundTrip {
	return func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestAMegabyteOfArgumentsThatRepeatTheirNameIsOneCall(t *testing.T) {
	piece := call(`"index":0,"id":"1","function":{"name":"f","arguments":"0,1,2,3,4,5,6,7,8,9,0,1,2,3,4,5,"}`)
	events := []string{call(`"index":0,"id":"1","function":{"name":"f","arguments":"{\"a\":["}`)}
	for range 32 << 10 {
		events = append(events, piece)
	}
	got, err := stream(t, append(events, call(`"index":0,"id":"1","function":{"name":"f","arguments":"0]}"}`), calls, done)...)
	if err != nil || len(got.Blocks.Calls()) != 1 || len(got.Blocks.Calls()[0].Args) != len(`{"a":[0]}`)+32<<15 {
		t.Errorf("%v, %d calls", err, len(got.Blocks.Calls()))
	}
}

// An index or an id of another type than it should have is read all the same, and parallel calls are
// told apart by it.
func TestIndexAndIDOfAnotherTypeAreRead(t *testing.T) {
	for name, index := range map[string][2]string{
		"quoted": {`"0"`, `"1"`}, "with a point": {"0.0", "1.0"}, "no number": {`"a"`, `"b"`}, "a list": {"[]", "[]"}, "null": {"null", "null"}, "huge": {"1e300", "-1e300"},
	} {
		one := func(n int, id, args string) string {
			return call(`"index":` + index[n] + `,"id":` + id + `,"function":{"name":"f","arguments":` + args + `}`)
		}
		got, err := stream(t, one(0, "17", `"{\"a\":"`), one(0, "17", `"1}"`), one(1, `"c2"`, `"{}"`), calls, done)
		want := msg.Blocks{msg.Call{Given: "17", Name: "f", Args: `{"a":1}`}, msg.Call{Given: "c2", Name: "f", Args: "{}"}}
		if d := cmp.Diff(want, got.Blocks); err != nil || d != "" {
			t.Errorf("%s: %v\n%s", name, err, d)
		}
	}
}

// What a server says went wrong is told, also where it has no error key, and decides whether to try again.
func TestAnErrorWithoutItsKeyIsNotABrokenConnection(t *testing.T) {
	for event, want := range map[string]model.Kind{
		`{"object":"error","message":"prompt is too long","type":"invalid_request_error","code":400}`: model.KindOverflow,
		`{"message":"overloaded","type":"server_error"}`:                                              model.KindServer,
	} {
		_, err := stream(t, delta(`{"content":"a"}`), event)
		if kindOf(err) != want {
			t.Errorf("%s: %v", event, err)
		}
	}
	if r, err := stream(t, `{"message":{"role":"x"},"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}`, `{"message":"","usage":null}`, done); err != nil || r.Blocks.Text() != "a" {
		t.Error(r, err)
	}
}
