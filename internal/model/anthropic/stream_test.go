package anthropic

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"jig/internal/model"
	"jig/internal/model/modeltest"
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
	body := ""
	for _, e := range events {
		body += "data:" + e + "\n\n"
	}
	s := modeltest.New(t, modeltest.Reply{Fault: modeltest.Fault{Kind: modeltest.FaultStatus, Status: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body}})
	m := New(Options{URL: s.URL, Key: modeltest.Key})
	t.Cleanup(func() { _ = m.Close() })
	return m.Stream(context.Background(), model.Request{Model: "m", Messages: []msg.Message{msg.Say(msg.User, "hi")}}, nil)
}

const (
	start  = `{"type":"message_start","message":{"usage":{"input_tokens":10,"cache_read_input_tokens":5,"output_tokens":1}}}`
	finish = `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":7}}`
	end    = `{"type":"message_stop"}`
)

func begin(i, block string) string {
	return `{"type":"content_block_start","index":` + i + `,"content_block":` + block + `}`
}

func piece(i, delta string) string {
	return `{"type":"content_block_delta","index":` + i + `,"delta":` + delta + `}`
}

func TestWhatImitationsSendDifferentlyIsRead(t *testing.T) {
	usage := msg.Usage{Input: 15, Output: 7, CacheRead: 5}
	for name, c := range map[string]struct {
		events []string
		want   model.Reply
	}{
		"arguments whole at the start": {[]string{start, begin("0", `{"type":"tool_use","id":"1","name":"f","input":{"a": 1}}`), finish, end}, model.Reply{Usage: usage, Stop: model.StopCalls, Blocks: msg.Blocks{msg.Call{Given: "1", Name: "f", Args: `{"a":1}`}}}},
		"no arguments at all":          {[]string{start, begin("0", `{"type":"tool_use","id":"1","name":"f"}`), finish, end}, model.Reply{Usage: usage, Stop: model.StopCalls, Blocks: msg.Blocks{msg.Call{Given: "1", Name: "f", Args: `{}`}}}},
		"text at the start":            {[]string{start, begin("0", `{"type":"text","text":"a"}`), piece("0", `{"type":"text_delta","text":"b"}`), finish, end}, model.Reply{Usage: usage, Stop: model.StopEnd, Blocks: msg.Blocks{msg.Text{Text: "ab"}}}},
		"interleaved blocks":           {[]string{start, begin("0", `{"type":"text","text":""}`), begin("1", `{"type":"tool_use","id":"1","name":"f","input":{}}`), piece("0", `{"type":"text_delta","text":"a"}`), piece("1", `{"type":"input_json_delta","partial_json":"{}"}`), finish, end}, model.Reply{Usage: usage, Stop: model.StopCalls, Blocks: msg.Blocks{msg.Text{Text: "a"}, msg.Call{Given: "1", Name: "f", Args: `{}`}}}},
		"unknown things":               {[]string{`{"type":"ping"}`, start, begin("0", `{"type":"hologram","data":1}`), piece("0", `{"type":"hologram_delta"}`), piece("9", `{"type":"text_delta","text":"lost"}`), `{"type":"weather"}`, finish, end}, model.Reply{Usage: usage, Stop: model.StopEnd}},
		"no message_stop":              {[]string{start, finish}, model.Reply{Usage: usage, Stop: model.StopEnd}},
		"no usage":                     {[]string{`{"type":"message_start","message":{}}`, `{"type":"message_delta","delta":{"stop_reason":"max_tokens"}}`, end}, model.Reply{Stop: model.StopLength}},
		"usage at the end":             {[]string{`{"type":"message_start","message":{"usage":{"input_tokens":0,"output_tokens":0}}}`, `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":10,"cache_read_input_tokens":5,"output_tokens":7}}`, end}, model.Reply{Usage: usage, Stop: model.StopEnd}},
		"redacted, kept as it came":    {[]string{start, begin("0", `{"type":"redacted_thinking", "data":"x+/=", "later":[1, 2]}`), finish, end}, model.Reply{Usage: usage, Stop: model.StopEnd, Blocks: msg.Blocks{msg.Reasoning{Raw: []byte(`{"type":"redacted_thinking", "data":"x+/=", "later":[1, 2]}`)}}}},
	} {
		got, err := stream(t, c.events...)
		if d := cmp.Diff(c.want, got); err != nil || d != "" {
			t.Errorf("%s: %v\n%s", name, err, d)
		}
	}
}

func TestAStreamThatNeverSaysWhyItEndedIsAnError(t *testing.T) {
	text := begin("0", `{"type":"text","text":"a"}`)
	for name, c := range map[string]struct {
		events []string
		kind   model.Kind
	}{
		"stop":    {[]string{start, text, end}, model.KindNetwork},
		"end":     {[]string{start, text}, model.KindNetwork},
		"garbage": {[]string{start, text, `{"type":`}, model.KindProtocol},
		"error":   {[]string{start, text, `{"type":"error","error":{"type":"rate_limit_error","message":"slow"}}`}, model.KindLimit},
	} {
		got, err := stream(t, c.events...)
		if kindOf(err) != c.kind || got.Blocks.Text() != "a" || got.Stop != "" {
			t.Errorf("%s: %v %+v", name, err, got)
		}
	}
}

func TestAToolWithoutASchemaIsAccepted(t *testing.T) {
	s := modeltest.New(t, modeltest.Reply{Text: "ok"})
	m := New(Options{URL: s.URL, Key: modeltest.Key})
	defer m.Close()
	_, err := m.Stream(context.Background(), model.Request{Model: "m", Tools: []model.Tool{{Name: "f"}}, Messages: []msg.Message{msg.Say(msg.User, "hi")}}, nil)
	if err != nil || !strings.Contains(string(s.Requests()[0].Body), `"input_schema":{"type":"object"}`) {
		t.Error(err)
	}
}

func TestOddCountsAreReadAndCostNoReply(t *testing.T) {
	for given, want := range map[string]msg.Usage{
		`{"input_tokens":10.0,"cache_read_input_tokens":"5","output_tokens":"7"}`: {Input: 15, Output: 7, CacheRead: 5},
		`{"input_tokens":"many","output_tokens":-1}`:                              {Input: 15, Output: 1, CacheRead: 5},
		`[]`: {Input: 15, Output: 1, CacheRead: 5},
	} {
		got, err := stream(t, start, begin("0", `{"type":"text","text":"a"}`), `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":`+given+`}`, end)
		if err != nil || got.Usage != want {
			t.Errorf("%s: %+v %v", given, got.Usage, err)
		}
	}
}

func TestACallThatIsSentAgainIsOneCall(t *testing.T) {
	use := func(i, id string) string { return begin(i, `{"type":"tool_use","id":"`+id+`","name":"f","input":{}}`) }
	args := func(i string) string { return piece(i, `{"type":"input_json_delta","partial_json":"{\"a\":1}"}`) }
	stop := `{"type":"message_delta","delta":{"stop_reason":"tool_use"}}`
	got, err := stream(t, use("0", "1"), args("0"), use("1", "2"), args("1"), use("0", "1"), args("0"), use("2", "2"), args("2"), stop, end)
	want := msg.Blocks{msg.Call{Given: "1", Name: "f", Args: `{"a":1}`}, msg.Call{Given: "2", Name: "f", Args: `{"a":1}`}}
	if d := cmp.Diff(want, got.Blocks); err != nil || d != "" {
		t.Errorf("%v\n%s", err, d)
	}
}

func TestAGatewaysErrorAndEndAreThoseOfTheDialect(t *testing.T) {
	if _, err := stream(t, start, begin("0", `{"type":"tool_use","id":"1","name":"f","input":{}}`), `{"error":{"message":"busy","type":"overloaded_error"}}`); kindOf(err) != model.KindServer {
		t.Error(err)
	}
	if r, err := stream(t, start, begin("0", `{"type":"text","text":"a"}`), finish, ` [DONE]`); err != nil || r.Stop != model.StopEnd || r.Blocks.Text() != "a" {
		t.Error(r, err)
	}
	if _, err := stream(t, start, begin("0", `{"type":"text","text":"a"}`), `[DONE]`); kindOf(err) != model.KindNetwork {
		t.Error(err)
	}
}
