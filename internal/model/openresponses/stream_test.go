package openresponses

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
		body += "data: " + e + "\n\n"
	}
	s := modeltest.New(t, modeltest.Reply{Fault: modeltest.Fault{Kind: modeltest.FaultStatus, Status: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body}})
	m := New(Options{URL: s.URL, Key: modeltest.Key})
	t.Cleanup(func() { _ = m.Close() })
	return m.Stream(context.Background(), model.Request{Model: "m", Messages: []msg.Message{msg.Say(msg.User, "hi")}}, nil)
}

func lines(s string) []string { return strings.Split(s, "\n") }

// bare takes out what goes back to the provider.
func bare(r model.Reply) model.Reply {
	for i, b := range r.Blocks {
		switch x := b.(type) {
		case msg.Text:
			x.Raw = nil
			r.Blocks[i] = x
		case msg.Reasoning:
			x.Raw = nil
			r.Blocks[i] = x
		case msg.Call:
			x.Raw = nil
			r.Blocks[i] = x
		}
	}
	return r
}

const end = `{"type":"response.completed","response":{"status":"completed"}}`

func added(item string) string { return `{"type":"response.output_item.added","item":` + item + `}` }

func done(item string) string { return `{"type":"response.output_item.done","item":` + item + `}` }

func TestWhatImitationsSendDifferentlyIsRead(t *testing.T) {
	said := func(s string) model.Reply {
		return model.Reply{Stop: model.StopEnd, Blocks: msg.Blocks{msg.Text{Text: s}}}
	}
	called := func(args ...string) model.Reply {
		r := model.Reply{Stop: model.StopCalls}
		for i, a := range args {
			r.Blocks = append(r.Blocks, msg.Call{Given: string(rune('1' + i)), Name: "f", Args: a})
		}
		return r
	}
	call := func(id, args string) string {
		return `{"type":"function_call","call_id":"` + id + `","name":"f","arguments":` + args + `}`
	}
	message := `{"type":"message","content":[{"type":"output_text","text":"ab"}]}`
	for name, c := range map[string]struct {
		events []string
		want   model.Reply
	}{
		"nothing but deltas":            {[]string{`{"type":"response.output_text.delta","delta":"a"}`, `{"type":"response.output_text.delta","delta":"b"}`, end}, said("ab")},
		"nothing but whole items":       {[]string{done(message), end}, said("ab")},
		"the whole brings more":         {[]string{added(`{"type":"message"}`), `{"type":"response.output_text.delta","delta":"a"}`, done(message), end}, said("ab")},
		"the whole is empty":            {[]string{added(`{"type":"message"}`), `{"type":"response.output_text.delta","delta":"ab"}`, done(`{"type":"message","content":[{"type":"output_text","text":""}]}`), end}, said("ab")},
		"a delta twice":                 {[]string{`{"type":"response.output_text.delta","delta":"a"}`, `{"type":"response.output_text.delta","delta":"a"}`, done(message), end}, said("ab")},
		"an item twice":                 {[]string{done(`{"id":"msg_1","type":"message","content":[{"type":"output_text","text":"ab"}]}`), done(`{"id":"msg_1","type":"message","content":[{"type":"output_text","text":"ab"}]}`), end}, said("ab")},
		"the last event repeats it all": {[]string{done(message), `{"type":"response.completed","response":{"status":"completed","output":[` + message + `]}}`}, said("ab")},
		"no item's end":                 {[]string{added(`{"type":"message"}`), `{"type":"response.completed","response":{"status":"completed","output":[` + message + `]}}`}, said("ab")},
		"no status":                     {[]string{done(message), `{"type":"response.completed","response":{}}`}, said("ab")},
		"unknown things":                {[]string{`{"type":"weather","delta":[1]}`, added(`{"type":"hologram","id":7}`), done(`7`), `{"type":"response.function_call_arguments.delta","delta":"lost"}`, `{"type":null}`, done(message), end}, said("ab")},
		"arguments as an object":        {[]string{done(call("1", `{"a":1}`)), end}, called(`{"a":1}`)},
		"arguments only in their end":   {[]string{added(call("1", `""`)), `{"type":"response.function_call_arguments.done","arguments":"{}"}`, end}, called(`{}`)},
		"arguments missing":             {[]string{done(`{"type":"function_call","call_id":"1","name":"f"}`), end}, called(``)},
		"two of the same":               {[]string{done(call("1", `"{}"`)), done(call("2", `"{}"`)), end}, called(`{}`, `{}`)},
		"the name comes later":          {[]string{added(`{"type":"function_call"}`), done(call("1", `"{}"`)), end}, called(`{}`)},
		"interleaved": {[]string{
			`{"type":"response.output_item.added","output_index":0,"item":` + call("1", `""`) + `}`, `{"type":"response.output_item.added","output_index":1,"item":` + call("2", `""`) + `}`,
			`{"type":"response.function_call_arguments.delta","output_index":0,"delta":"{\"a\":"}`, `{"type":"response.function_call_arguments.delta","output_index":1,"delta":"{}"}`,
			`{"type":"response.function_call_arguments.delta","output_index":0,"delta":"1}"}`, end}, called(`{"a":1}`, `{}`)},
	} {
		got, err := stream(t, c.events...)
		if d := cmp.Diff(c.want, bare(got)); err != nil || d != "" {
			t.Errorf("%s: %v\n%s", name, err, d)
		}
	}
}

func TestAnItemThatIsSentAgainIsOneItem(t *testing.T) {
	f := func(id, args string) msg.Call { return msg.Call{Given: id, Name: "f", Args: args} }
	item := func(ids, args string) string {
		return `{` + ids + `"type":"function_call","name":"f","arguments":"` + args + `"}`
	}
	at := func(i, event string) string {
		return strings.Replace(event, `","item"`, `","output_index":`+i+`,"item"`, 1)
	}
	piece := func(i, d string) string {
		return `{"type":"response.function_call_arguments.delta","output_index":` + i + `,"delta":"` + d + `"}`
	}
	one, two, nameless := item(`"call_id":"1",`, `{}`), item(`"call_id":"2",`, `{}`), item("", `{}`)
	named := item(`"id":"fc_1","call_id":"1",`, `{}`)
	pieces := []string{at("0", added(item(`"id":"fc_1","call_id":"1",`, ""))), piece("0", "{"), piece("0", "}"), at("0", done(named))}
	text := `{"type":"message","content":[{"type":"output_text","text":"a"}]}`
	for name, c := range map[string]struct {
		events []string
		want   msg.Blocks
	}{
		"no item ids":                {[]string{done(one), done(one)}, msg.Blocks{f("1", `{}`)}},
		"no item ids, later":         {[]string{done(one), done(two), done(one), done(two)}, msg.Blocks{f("1", `{}`), f("2", `{}`)}},
		"another index":              {[]string{at("0", done(one)), at("1", done(one))}, msg.Blocks{f("1", `{}`)}},
		"spaced otherwise":           {[]string{done(one), done(item(`"call_id":"1",`, ` { }`))}, msg.Blocks{f("1", `{}`)}},
		"another item id":            {[]string{done(named), done(item(`"id":"fc_2","call_id":"1",`, `{}`))}, msg.Blocks{f("1", `{}`)}},
		"all events":                 {append(pieces, pieces...), msg.Blocks{f("1", `{}`)}},
		"all events, no ids":         {[]string{at("0", added(item(`"call_id":"1",`, ""))), piece("0", "{}"), at("0", done(one)), at("0", added(item(`"call_id":"1",`, ""))), piece("0", "{}"), at("0", done(one))}, msg.Blocks{f("1", `{}`)}},
		"all events, each twice":     {[]string{pieces[0], pieces[0], pieces[1], pieces[2], pieces[3], pieces[3]}, msg.Blocks{f("1", `{}`)}},
		"announced at another index": {[]string{at("0", done(one)), at("1", added(item(`"call_id":"1",`, ""))), piece("1", "{}")}, msg.Blocks{f("1", `{}`)}},
		"announced and never filled": {[]string{at("0", added(item(`"call_id":"1",`, ""))), at("1", done(item(`"call_id":"1",`, `{\"a\":1}`)))}, msg.Blocks{f("1", `{"a":1}`)}},
		"a message":                  {[]string{at("0", done(text)), at("0", done(text))}, msg.Blocks{msg.Text{Text: "a"}}},
		"a message, no index":        {[]string{done(text), done(text)}, msg.Blocks{msg.Text{Text: "a"}}},
		"a place, and no ids":        {[]string{at("0", done(nameless)), at("0", done(nameless))}, msg.Blocks{f("", `{}`)}},
		"places, and no ids":         {[]string{at("0", done(nameless)), at("1", done(nameless))}, msg.Blocks{f("", `{}`), f("", `{}`)}},
		"neither places nor ids":     {[]string{done(nameless), done(nameless)}, msg.Blocks{f("", `{}`), f("", `{}`)}},
		"one item id for all":        {[]string{done(item(`"id":"fc","call_id":"1",`, `{}`)), done(item(`"id":"fc","call_id":"2",`, `{}`))}, msg.Blocks{f("1", `{}`), f("2", `{}`)}},
		"one id for all":             {[]string{done(item(`"id":"fc","call_id":"1",`, `{}`)), done(item(`"id":"fc","call_id":"1",`, `[]`))}, msg.Blocks{f("1", `{}`), f("1", `[]`)}},
	} {
		got, err := stream(t, append(c.events, end)...)
		if d := cmp.Diff(c.want, bare(got).Blocks); err != nil || d != "" {
			t.Errorf("%s: %v\n%s", name, err, d)
		}
	}
}

func TestEveryStyleOfStreamingGivesTheSameItems(t *testing.T) {
	reply := modeltest.Reply{Reasoning: "hm 😀", Text: "I look.", Phase: "commentary", Usage: msg.Usage{Input: 9, Output: 5, CacheRead: 3, CacheWrite: 2},
		Calls: []modeltest.Call{{ID: "a1", Name: "read_file", Args: `{"path":"sum 😀.go"}`}, {ID: "a2", Name: "read_file", Args: `{"path":"b"}`}}}
	want := model.Reply{Usage: reply.Usage, Stop: model.StopCalls, Blocks: msg.Blocks{msg.Reasoning{Text: "hm 😀"}, msg.Text{Text: "I look."},
		msg.Call{Given: "a1", Name: "read_file", Args: reply.Calls[0].Args}, msg.Call{Given: "a2", Name: "read_file", Args: reply.Calls[1].Args}}}
	for _, style := range []modeltest.Style{"", modeltest.Whole, modeltest.NoIndex, modeltest.ZeroOnly, modeltest.From7, modeltest.NoID, modeltest.Object, modeltest.Fleeting, modeltest.Sparse, modeltest.Marked, modeltest.Doubled} {
		reply.Style, reply.Bytes = style, 3
		s := modeltest.New(t, reply)
		m := New(Options{URL: s.URL, Key: modeltest.Key})
		t.Cleanup(func() { _ = m.Close() })
		told := model.Delta{}
		got, err := m.Stream(context.Background(), model.Request{Model: "m", Messages: []msg.Message{msg.Say(msg.User, "hi")}}, func(d model.Delta) {
			told.Text += d.Text
			told.Reasoning += d.Reasoning
			told.Call += d.Call
		})
		if d := cmp.Diff(want, bare(got)); err != nil || d != "" {
			t.Errorf("%q: %v\n%s", style, err, d)
		}
		if want := (model.Delta{Text: "I look.", Reasoning: "hm 😀", Call: "read_fileread_file"}); told != want {
			t.Errorf("%q: told %+v", style, told)
		}
	}
}

func TestSectionsOfReasoningAreParagraphs(t *testing.T) {
	piece := func(i, text string) string {
		return `{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":` + i + `,"delta":"` + text + `"}`
	}
	raw := `{"id":"rs_1", "type":"reasoning", "summary":[{"type":"summary_text","text":"ab"},{"type":"summary_text","text":"c"}], "encrypted_content":"x+/=", "later":[1, 2]}`
	want := model.Reply{Stop: model.StopEnd, Blocks: msg.Blocks{msg.Reasoning{Text: "ab\n\nc", Raw: []byte(raw)}}}
	for name, events := range map[string][]string{
		"in pieces": {added(`{"id":"rs_1","type":"reasoning","encrypted_content":"x"}`), piece("0", "a"), piece("0", "b"), piece("1", "c"), done(raw), end},
		"whole":     {done(raw), end},
	} {
		got, err := stream(t, events...)
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Errorf("%s: %v\n%s", name, err, d)
		}
	}
}

func TestAStreamThatNeverSaysWhyItEndedIsAnError(t *testing.T) {
	const text = `{"type":"response.output_text.delta","delta":"a"}`
	for name, c := range map[string]struct {
		events []string
		kind   model.Kind
	}{
		"mark":        {[]string{text, "[DONE]"}, model.KindNetwork},
		"end":         {[]string{text}, model.KindNetwork},
		"garbage":     {[]string{text, `{"type":`}, model.KindProtocol},
		"bad end":     {[]string{text, `{"type":"response.completed","response":7}`}, model.KindProtocol},
		"limit":       {[]string{text, `{"type":"error","code":"rate_limit_exceeded","message":"Rate limit reached"}`}, model.KindLimit},
		"nested":      {[]string{text, `{"type":"error","error":{"type":"invalid_request_error","code":"context_length_exceeded","message":"Your input exceeds the context window of this model."}}`}, model.KindOverflow},
		"by code":     {[]string{text, `{"type":"response.failed","response":{"error":{"code":"context_length_exceeded","message":"too long"}}}`}, model.KindOverflow},
		"quota":       {[]string{text, `{"type":"response.failed","response":{"status":"failed","error":{"code":"insufficient_quota","message":"You exceeded your current quota"}}}`}, model.KindQuota},
		"the request": {[]string{text, `{"type":"response.failed","response":{"error":{"code":"invalid_prompt","message":"no"}}}`}, model.KindRequest},
		"a picture":   {[]string{text, `{"type":"response.failed","response":{"error":{"code":"image_too_large","message":"no"}}}`}, model.KindRequest},
		"no reason":   {[]string{text, `{"type":"response.failed","response":{"error":null}}`}, model.KindServer},
		"nothing":     {[]string{text, `{"type":"response.failed"}`}, model.KindServer},
		"failed late": {[]string{text, `{"type":"response.completed","response":{"status":"failed","error":{"code":"server_error","message":"boom"}}}`}, model.KindServer},
		"cancelled":   {[]string{text, `{"type":"response.completed","response":{"status":"cancelled"}}`}, model.KindServer},
		"untyped":     {[]string{text, `{"error":{"code":429,"message":"slow down"}}`}, model.KindLimit},
		"plain":       {[]string{text, `{"type":"error","error":"boom"}`}, model.KindServer},
	} {
		got, err := stream(t, c.events...)
		if kindOf(err) != c.kind || got.Blocks.Text() != "a" || got.Stop != "" {
			t.Errorf("%s: %v %+v", name, err, got)
		}
	}
}

func TestAnIncompleteReplySaysWhy(t *testing.T) {
	for reason, want := range map[string]model.Stop{"max_output_tokens": model.StopLength, "content_filter": model.StopRefusal, "max_messages": model.StopLength} {
		got, err := stream(t, `{"type":"response.output_text.delta","delta":"a"}`, `{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"`+reason+`"}}}`)
		if err != nil || got.Stop != want {
			t.Errorf("%s: %v %v", reason, got.Stop, err)
		}
	}
}

func TestOddCountsAreReadAndCostNoReply(t *testing.T) {
	for given, want := range map[string]msg.Usage{
		`{"input_tokens":10.0,"output_tokens":"4","input_tokens_details":{"cached_tokens":"3","cache_write_tokens":2e0}}`: {Input: 10, Output: 4, CacheRead: 3, CacheWrite: 2},
		`{"input_tokens":"many","output_tokens":4,"input_tokens_details":[]}`:                                             {Output: 4},
		`[]`: {},
	} {
		got, err := stream(t, `{"type":"response.output_text.delta","delta":"a"}`, `{"type":"response.completed","response":{"status":"completed","usage":`+given+`}}`)
		if err != nil || got.Usage != want {
			t.Errorf("%s: %+v %v", given, got.Usage, err)
		}
	}
}
