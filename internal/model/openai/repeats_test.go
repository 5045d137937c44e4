package openai_test

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"jig/internal/model"
	"jig/internal/model/modeltest"
	"jig/internal/model/openai"
	"jig/internal/msg"
)

// What is repeated here was reported: https://github.com/BerriAI/litellm/issues/20480,
// https://github.com/QuantumNous/new-api/issues/6223, https://github.com/mudler/LocalAI/issues/9722,
// https://github.com/lidge-jun/opencodex/issues/361.
func TestACallThatIsSentAgainIsOneCall(t *testing.T) {
	f := func(id, args string) msg.Call { return msg.Call{Given: id, Name: "f", Args: args} }
	one := msg.Blocks{f("c1", `{"a":"b"}`)}
	whole := `"index":0,"id":"c1","function":{"name":"f","arguments":"{\"a\":\"b\"}"}`
	at1 := strings.Replace(whole, `"index":0`, `"index":1`, 1)
	begun, piece, rest := call(`"index":0,"id":"c1","function":{"name":"f","arguments":""}`), call(`"index":0,"function":{"arguments":"{\"a\":"}`), call(`"index":0,"function":{"arguments":"\"b\"}"}`)
	other := `"index":1,"id":"c2","function":{"name":"f","arguments":"{}"}`
	both := delta(`{"content":"a","tool_calls":[{` + whole + `},{` + other + `}]}`)
	for name, c := range map[string]struct {
		events []string
		want   msg.Blocks
	}{
		"the event":                  {[]string{call(whole), call(whole)}, one},
		"the event, later":           {[]string{call(whole), call(other), call(whole)}, msg.Blocks{one[0], f("c2", `{}`)}},
		"an event with two":          {[]string{both, both}, msg.Blocks{msg.Text{Text: "a"}, one[0], f("c2", `{}`)}},
		"two, told of again one":     {[]string{both, call(whole), call(other), call(whole)}, msg.Blocks{msg.Text{Text: "a"}, one[0], f("c2", `{}`)}},
		"whole after pieces":         {[]string{begun, piece, rest, call(whole)}, one},
		"arguments after pieces":     {[]string{begun, piece, rest, call(`"index":0,"function":{"arguments":"{\"a\":\"b\"}"}`)}, one},
		"arguments after arguments":  {[]string{begun, call(`"index":0,"function":{"arguments":"{\"a\":\"b\"}"}`), call(`"index":0,"function":{"arguments":"{\"a\":\"b\"}"}`)}, one},
		"spaced otherwise":           {[]string{begun, piece, rest, call(`"index":0,"id":"c1","function":{"name":"f","arguments":" {\"a\": \"b\"}\n"}`)}, one},
		"encoded twice":              {[]string{begun, piece, rest, call(`"index":0,"id":"c1","function":{"name":"f","arguments":"\"{\\\"a\\\": \\\"b\\\"}\""}`)}, one},
		"as an object":               {[]string{begun, piece, rest, call(`"index":0,"id":"c1","function":{"name":"f","arguments":{"a": "b"}}`)}, one},
		"another index":              {[]string{begun, piece, rest, call(at1)}, one},
		"another index, pieces":      {[]string{begun, piece, rest, call(`"index":1,"id":"c1","function":{"name":"f","arguments":""}`), call(`"index":1,"function":{"arguments":"{\"a\":"}`), call(`"index":1,"function":{"arguments":"\"b\"}"}`)}, one},
		"another index, name alone":  {[]string{begun, call(at1)}, one},
		"name alone, another index":  {[]string{begun, piece, rest, call(`"index":1,"id":"c1","function":{"name":"f","arguments":""}`)}, one},
		"no index":                   {[]string{call(whole), call(`"id":"c1","function":{"name":"f","arguments":"{\"a\":\"b\"}"}`)}, one},
		"a blank with the name":      {[]string{call(whole), call(`"index":0,"id":"c1","function":{"name":"f","arguments":" "}`)}, one},
		"blanks without it":          {[]string{call(whole), call(`"index":0,"function":{"arguments":"\n"}`), call(`"index":0,"function":{"arguments":""}`)}, one},
		"a blank, then again":        {[]string{call(whole), call(`"index":0,"function":{"arguments":" "}`), call(whole)}, one},
		"delta and message":          {[]string{`{"choices":[{"index":0,"delta":{"tool_calls":[{` + whole + `}]},"message":{"tool_calls":[{` + whole + `}]}}]}`}, one},
		"a message, no id":           {[]string{begun, piece, rest, `{"choices":[{"message":{"tool_calls":[{"function":{"name":"f","arguments":"{\"a\":\"b\"}"}}]}}]}`}, one},
		"a message alone has the id": {[]string{call(`"index":0,"function":{"name":"f","arguments":"{\"a\":\"b\"}"}`), `{"choices":[{"message":{"tool_calls":[{"id":"c1","function":{"name":"f","arguments":"{\"a\":\"b\"}"}}]}}]}`}, one},
		"without arguments":          {[]string{call(`"index":0,"id":"c1","function":{"name":"f","arguments":"{}"}`), call(`"index":1,"id":"c1","function":{"name":"f"}`)}, msg.Blocks{f("c1", `{}`)}},
		"the signature comes again":  {[]string{call(whole), call(whole + `,"extra_content":{"x":1}`)}, msg.Blocks{msg.Call{Given: "c1", Name: "f", Args: `{"a":"b"}`, Raw: []byte(`{"extra_content":{"x":1}}`)}}},
	} {
		for _, end := range []string{stop, calls} {
			got, err := stream(t, append(c.events, end, done)...)
			if d := cmp.Diff(model.Reply{Stop: model.StopCalls, Blocks: c.want}, got); err != nil || d != "" {
				t.Errorf("%s: %v\n%s", name, err, d)
			}
		}
	}
}

func TestCallsThatOnlyLookAlikeAreSeveral(t *testing.T) {
	f := func(id, args string) msg.Call { return msg.Call{Given: id, Name: "f", Args: args} }
	for name, c := range map[string]struct {
		events []string
		want   msg.Blocks
	}{
		"other ids":             {[]string{call(`"index":0,"id":"1","function":{"name":"f","arguments":"{}"}`), call(`"index":1,"id":"2","function":{"name":"f","arguments":"{}"}`)}, msg.Blocks{f("1", `{}`), f("2", `{}`)}},
		"other ids, one index":  {[]string{call(`"index":0,"id":"1","function":{"name":"f","arguments":"{}"}`), call(`"index":0,"id":"2","function":{"name":"f","arguments":"{}"}`)}, msg.Blocks{f("1", `{}`), f("2", `{}`)}},
		"one id, other words":   {[]string{call(`"index":0,"id":"1","function":{"name":"f","arguments":"{\"a\":1}"}`), call(`"index":0,"id":"1","function":{"name":"f","arguments":"{\"a\":2}"}`)}, msg.Blocks{f("1", `{"a":1}`), f("1", `{"a":2}`)}},
		"one id, other names":   {[]string{call(`"index":0,"id":"1","function":{"name":"f","arguments":"{}"}`), call(`"index":0,"id":"1","function":{"name":"g","arguments":"{}"}`)}, msg.Blocks{f("1", `{}`), msg.Call{Given: "1", Name: "g", Args: `{}`}}},
		"no ids":                {[]string{call(`"function":{"name":"f","arguments":"{}"}`), call(`"function":{"name":"f","arguments":"{}"}`)}, msg.Blocks{f("", `{}`), f("", `{}`)}},
		"braces in words":       {[]string{call(`"index":0,"id":"1","function":{"name":"f","arguments":"{\"a\":\"{}"}`), call(`"index":0,"id":"1","function":{"name":"f","arguments":"{}"}`), call(`"index":0,"id":"1","function":{"name":"f","arguments":"\\\"}{\"}"}`)}, msg.Blocks{f("1", `{"a":"{}{}\"}{"}`)}},
		"the same piece twice":  {[]string{call(`"index":0,"id":"1","function":{"name":"f","arguments":"{\"a\":["}`), call(`"index":0,"id":"1","function":{"name":"f","arguments":"[{}],"}`), call(`"index":0,"id":"1","function":{"name":"f","arguments":"[{}],"}`), call(`"index":0,"id":"1","function":{"name":"f","arguments":"0]}"}`)}, msg.Blocks{f("1", `{"a":[[{}],[{}],0]}`)}},
		"one index, and pieces": {[]string{call(`"index":0,"id":"1","function":{"name":"f","arguments":"{\"a\":1}"}`), call(`"index":0,"id":"2","function":{"name":"f","arguments":""}`), call(`"index":0,"id":"2","function":{"name":"f","arguments":"{\"a\":"}`), call(`"index":0,"function":{"arguments":"1}"}`)}, msg.Blocks{f("1", `{"a":1}`), f("2", `{"a":1}`)}},
	} {
		got, err := stream(t, append(c.events, calls, done)...)
		if d := cmp.Diff(model.Reply{Stop: model.StopCalls, Blocks: c.want}, got); err != nil || d != "" {
			t.Errorf("%s: %v\n%s", name, err, d)
		}
	}
}

func TestAMessageThatClosesAStreamAddsOnlyWhatIsNew(t *testing.T) {
	closing := func(m string) string {
		return `{"choices":[{"index":0,"delta":{},"message":` + m + `,"finish_reason":"stop"}]}`
	}
	for name, c := range map[string]struct {
		events []string
		want   string
	}{
		"all again":         {[]string{delta(`{"content":"ab"}`), delta(`{"content":"c"}`), closing(`{"content":"abc"}`)}, "abc"},
		"and more":          {[]string{delta(`{"content":"ab"}`), closing(`{"content":"abc"}`)}, "abc"},
		"nothing came":      {[]string{delta(`{"content":""}`), closing(`{"content":"abc"}`)}, "abc"},
		"in each event":     {[]string{`{"choices":[{"delta":{"content":"abc"},"message":{"content":"abc"}}]}`, stop}, "abc"},
		"pieces as message": {[]string{`{"choices":[{"message":{"content":"a"}}]}`, `{"choices":[{"message":{"content":"a"}}]}`, stop}, "aa"},
		"the same pieces":   {[]string{delta(`{"content":"a"}`), delta(`{"content":"a"}`), stop}, "aa"},
		"a refusal":         {[]string{delta(`{"refusal":"no"}`), closing(`{"refusal":"no"}`)}, "no"},
	} {
		got, err := stream(t, append(c.events, done)...)
		if err != nil || got.Blocks.Text() != c.want {
			t.Errorf("%s: %v %q", name, err, got.Blocks.Text())
		}
	}
	for name, m := range map[string]string{
		"the key":     `{"reasoning_content":"hm","content":"a"}`,
		"another key": `{"reasoning":"hm","content":"a"}`,
	} {
		got, err := stream(t, delta(`{"reasoning_content":"h"}`), delta(`{"reasoning_content":"m"}`), delta(`{"content":"a"}`), closing(m), done)
		want := msg.Blocks{msg.Reasoning{Text: "hm", Raw: []byte(`{"reasoning_content":"hm"}`)}, msg.Text{Text: "a"}}
		if d := cmp.Diff(want, got.Blocks); err != nil || d != "" {
			t.Errorf("%s: %v\n%s", name, err, d)
		}
	}
	details := `"reasoning_details":[{"type":"reasoning.text","text":"hm"}]`
	got, err := stream(t, delta(`{`+details+`}`), delta(`{"content":"a"}`), closing(`{"reasoning":"hm","content":"a",`+details+`}`), done)
	want := msg.Blocks{msg.Reasoning{Text: "hm", Raw: []byte(`{` + details + `}`)}, msg.Text{Text: "a"}}
	if d := cmp.Diff(want, got.Blocks); err != nil || d != "" {
		t.Errorf("%v\n%s", err, d)
	}
}

func TestEveryStyleOfRepeatingGivesTheSameCalls(t *testing.T) {
	two := []modeltest.Call{{ID: "a1", Name: "read_file", Args: `{"path":"sum 😀.go"}`}, {ID: "a2", Name: "read_file", Args: `{"path":"sum 😀.go"}`}}
	want := msg.Blocks{msg.Text{Text: "I look."}, msg.Call{Given: "a1", Name: "read_file", Args: two[0].Args}, msg.Call{Given: "a2", Name: "read_file", Args: two[1].Args}}
	for _, style := range []modeltest.Style{modeltest.Doubled, modeltest.Summed, modeltest.Moved, modeltest.Closed} {
		s := modeltest.New(t, modeltest.Reply{Text: "I look.", Calls: two, Style: style, Bytes: 3})
		m := openai.New(openai.Options{URL: s.URL, Key: modeltest.Key})
		t.Cleanup(func() { _ = m.Close() })
		names := ""
		got, err := m.Stream(context.Background(), model.Request{Model: "m", Messages: []msg.Message{msg.Say(msg.User, "hi")}}, func(d model.Delta) { names += d.Call })
		if d := cmp.Diff(want, got.Blocks); err != nil || d != "" || names != "read_fileread_file" {
			t.Errorf("%q: %v, told %q\n%s", style, err, names, d)
		}
	}
}

// made is how many bytes reading one event makes; adding up texts piece by piece makes the square of
// what it should.
func made(t *testing.T, event string) uint64 {
	t.Helper()
	m := openai.New(openai.Options{URL: "http://h", Transport: answers("data: " + event + "\n\ndata: " + stop + "\n\n")})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := m.Stream(context.Background(), model.Request{Model: "m"}, nil); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestAnEventOfManyPartsTakesWorkInProportion(t *testing.T) {
	word := strings.Repeat("a", 100)
	many := func(n int, part string) string {
		return strings.TrimSuffix(strings.Repeat(part+",", n), ",")
	}
	for name, event := range map[string]func(n int) string{
		"text":     func(n int) string { return delta(`{"content":[` + many(n, `{"text":"`+word+`"}`) + `]}`) },
		"thinking": func(n int) string { return delta(`{"content":[` + many(n, `{"thinking":"`+word+`"}`) + `]}`) },
		"its parts": func(n int) string {
			return delta(`{"content":[{"thinking":[` + many(n, `{"text":"`+word+`"}`) + `]}]}`)
		},
		"details": func(n int) string {
			return delta(`{"reasoning_details":[` + many(n, `{"type":"reasoning.text","text":"`+word+`"}`) + `]}`)
		},
		"a long id": func(n int) string {
			return delta(`{"reasoning_details":[{"type":"reasoning.text","id":"` + strings.Repeat(word, n) + `"},` + many(n, `{"type":"reasoning.text"}`) + `]}`)
		},
		"an id's pieces": func(n int) string {
			return delta(`{"tool_calls":[{"index":0,"id":"` + strings.Repeat(word, n) + `","function":{"name":"f"}},` + many(n, `{"index":0,"function":{"arguments":"1"}}`) + `]}`)
		},
		"repeats": func(n int) string {
			return delta(`{"tool_calls":[` + many(n, `{"index":0,"id":"1","function":{"name":"f","arguments":"{\"a\":\"`+word+`\"}"}}`) + `]}`)
		},
		"named pieces": func(n int) string {
			return delta(`{"tool_calls":[` + many(n, `{"index":0,"id":"1","function":{"name":"f","arguments":"[{}"}}`) + `]}`)
		},
	} {
		few, all := made(t, event(500)), made(t, event(8000))
		if all > 40*few {
			t.Errorf("%s: %d bytes for 500 parts, %d for 8000", name, few, all)
		}
	}
}

func TestHalfAMegabyteOfShortNamedPiecesIsOneCall(t *testing.T) {
	const each = 20_000
	piece := `{"index":0,"id":"1","function":{"name":"f","arguments":",{}"}},`
	events := []string{call(`"index":0,"id":"1","function":{"name":"f","arguments":"{\"a\":[0"}`)}
	for range 9 {
		events = append(events, delta(`{"tool_calls":[`+strings.TrimSuffix(strings.Repeat(piece, each), ",")+`]}`))
	}
	got, err := stream(t, append(events, call(`"index":0,"id":"1","function":{"name":"f","arguments":"]}"}`), calls, done)...)
	if err != nil || len(got.Blocks.Calls()) != 1 || len(got.Blocks.Calls()[0].Args) != len(`{"a":[0]}`)+9*each*len(`,{}`) {
		t.Errorf("%v, %d calls", err, len(got.Blocks.Calls()))
	}
}
