package sdk

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"jig/internal/model"
	"jig/internal/model/modeltest"
	"jig/internal/msg"
)

// conversation is what both clients go through: a first user message, a script of replies, and
// make-believe tools that answer their calls. Where a reply calls nothing, the user says go on.
type conversation struct {
	model    string
	request  model.Request // settings, system and tools
	first    msg.Blocks
	script   []modeltest.Reply
	pictures bool // every second result carries a picture
}

// outcome of a call, the same for both clients: every third fails.
func outcome(i int, name string) (text string, failed bool) {
	if i%3 == 2 {
		return "no such file: " + name, true
	}
	return "result of " + name + " <&> 😀", false
}

const goOn = "go on"

func picture(t *testing.T) msg.Image {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(png)
	if err != nil {
		t.Fatal(err)
	}
	return msg.Image{MIME: "image/png", Data: b}
}

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// heard is what a client understood of one reply.
type heard struct {
	Text, Reasoning string
	Calls           []modeltest.Call
	Usage           msg.Usage
}

func jigHeard(r model.Reply) heard {
	h := heard{Text: r.Blocks.Text(), Usage: r.Usage}
	for _, b := range r.Blocks {
		switch b := b.(type) {
		case msg.Reasoning:
			h.Reasoning += b.Text
		case msg.Call:
			h.Calls = append(h.Calls, modeltest.Call{ID: b.Given, Name: b.Name, Args: b.Args})
		}
	}
	return h
}

// jigTalks goes through a conversation with a dialect.
func jigTalks(t *testing.T, m model.Model, c conversation) []heard {
	t.Helper()
	r := c.request
	r.Model = c.model
	r.Messages = []msg.Message{{Role: msg.User, Blocks: c.first}}
	var out []heard
	calls := 0
	for round := range c.script {
		reply, err := m.Stream(context.Background(), r, nil)
		if err != nil {
			t.Fatalf("jig, round %d: %v", round+1, err)
		}
		out = append(out, jigHeard(reply))
		said := msg.Message{Role: msg.Assistant, Provider: "p", Model: c.model}
		answer := msg.Message{Role: msg.User}
		for n, b := range reply.Blocks {
			if x, ok := b.(msg.Call); ok {
				x.ID = fmt.Sprintf("call%02d%03d", round, n)
				b = x
				text, failed := outcome(calls, x.Name)
				result := msg.Result{Call: x.ID, Failed: failed, Blocks: msg.Blocks{msg.Text{Text: text}}}
				if c.pictures && calls%2 == 1 {
					result.Blocks = append(result.Blocks, picture(t))
				}
				answer.Blocks = append(answer.Blocks, result)
				calls++
			}
			said.Blocks = append(said.Blocks, b)
		}
		if answer.Blocks == nil {
			answer.Blocks = msg.Blocks{msg.Text{Text: goOn}}
		}
		r.Messages = append(r.Messages, said, answer)
	}
	return out
}

// difference is one that is allowed, with its reason.
type difference struct {
	reason string
	// same changes a value at a path so that both clients' become equal; it returns false to drop
	// the value.
	same func(path string, value any) (any, bool)
}

// normal decodes a body and applies the allowed differences everywhere in it.
func normal(t *testing.T, body []byte, allowed []difference) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return walk("", v, allowed)
}

func walk(path string, v any, allowed []difference) any {
	switch x := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, y := range x {
			at := path + "." + k
			y = walk(at, y, allowed)
			keep := true
			for _, d := range allowed {
				if y, keep = d.same(at, y); !keep {
					break
				}
			}
			if keep {
				out[k] = y
			}
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i, y := range x {
			out[i] = walk(path+"[]", y, allowed)
		}
		return out
	}
	return v
}

// compare puts the requests and the readings of both clients side by side. headers are compared by
// the names given.
func compare(t *testing.T, jig, sdk *modeltest.Server, jigHeard, sdkHeard []heard, allowed []difference, headers ...string) {
	t.Helper()
	if d := cmp.Diff(sdkHeard, jigHeard); d != "" {
		t.Errorf("the same streams were read differently (- SDK, + jig):\n%s", d)
	}
	a, b := sdk.Requests(), jig.Requests()
	if len(a) != len(b) {
		t.Fatalf("%d requests of the SDK, %d of jig", len(a), len(b))
	}
	for i := range a {
		if a[i].Refused != "" || b[i].Refused != "" {
			t.Errorf("request %d refused: SDK %q, jig %q", i+1, a[i].Refused, b[i].Refused)
		}
		if a[i].Path != b[i].Path || a[i].Method != b[i].Method {
			t.Errorf("request %d: SDK %s %s, jig %s %s", i+1, a[i].Method, a[i].Path, b[i].Method, b[i].Path)
		}
		for _, h := range append(headers, "Content-Type") {
			if x, y := a[i].Header.Get(h), b[i].Header.Get(h); x != y {
				t.Errorf("request %d: header %s: SDK %q, jig %q", i+1, h, x, y)
			}
		}
		if d := cmp.Diff(normal(t, a[i].Body, allowed), normal(t, b[i].Body, allowed)); d != "" {
			t.Errorf("request %d (- SDK, + jig):\n%s", i+1, d)
		}
	}
}

// needed fails when an allowed difference no longer occurs in any of the bodies: a list of excuses
// must not outlive its reasons.
func needed(t *testing.T, bodies [][]byte, allowed []difference) {
	t.Helper()
	for i, d := range allowed {
		used := false
		for _, b := range bodies {
			var before any
			_ = json.Unmarshal(b, &before)
			if !reflect.DeepEqual(before, walk("", before, allowed[i:i+1])) {
				used = true
			}
		}
		if !used {
			t.Errorf("allowed difference is not needed: %s", d.reason)
		}
	}
}

func bodies(servers ...*modeltest.Server) [][]byte {
	var out [][]byte
	for _, s := range servers {
		for _, r := range s.Requests() {
			out = append(out, r.Body)
		}
	}
	return out
}

func tools() []model.Tool {
	return []model.Tool{
		{Name: "read_file", Doc: "Reads <a> file & more", Input: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}`)},
		{Name: "grep", Doc: "Searches", Input: json.RawMessage(`{"type":"object","properties":{"pattern":{"type":"string"},"n":{"type":"integer"}}}`)},
	}
}

var usage = msg.Usage{Input: 1200, Output: 30, CacheRead: 1000, CacheWrite: 100}

const args = `{"path":"sum 😀.go","text":"Ж\"\\\n","n":1.5,"deep":{"a":[1,null,true]}}`

// conversations are the same for both vendors, but for the names of models and what only one
// vendor has.
func conversations(t *testing.T) map[string]conversation {
	f, p := 0.5, 0.9
	two := []modeltest.Call{{ID: "call_1", Name: "read_file", Args: args}, {ID: "call_2", Name: "grep", Args: `{}`}}
	three := []modeltest.Call{{ID: "call_3", Name: "grep", Args: `{"pattern":"a"}`}, {ID: "call_4", Name: "grep", Args: `{"pattern":"b"}`}, {ID: "call_5", Name: "read_file", Args: args}}
	return map[string]conversation{
		"text":     {first: msg.Blocks{msg.Text{Text: "hi <&> 😀"}}, script: []modeltest.Reply{{Text: "Hello 😀.", Usage: usage}, {Text: "Again."}}},
		"settings": {first: msg.Blocks{msg.Text{Text: "hi"}}, request: model.Request{System: "Be <brief>.\nAnd exact.", MaxOutput: 3000, Temperature: &f}, script: []modeltest.Reply{{Text: "ok"}}},
		"top_p":    {first: msg.Blocks{msg.Text{Text: "hi"}}, request: model.Request{MaxOutput: 3000, TopP: &p}, script: []modeltest.Reply{{Text: "ok"}}},
		"one call": {first: msg.Blocks{msg.Text{Text: "hi"}}, request: model.Request{Tools: tools()}, script: []modeltest.Reply{{Calls: two[:1], Usage: usage}, {Text: "Done."}}},
		"parallel": {first: msg.Blocks{msg.Text{Text: "hi"}}, request: model.Request{Tools: tools(), System: "s"}, script: []modeltest.Reply{{Text: "I look.", Calls: two}, {Calls: three}, {Text: "Done."}, {Text: "Bye.", Usage: usage}}},
		"pictures": {first: msg.Blocks{msg.Text{Text: "what is this?"}, picture(t)}, request: model.Request{Tools: tools()}, script: []modeltest.Reply{{Text: "A dot.", Calls: two}, {Calls: three[:1]}, {Text: "Done."}}, pictures: true},
	}
}

func suffix(path, end string) bool { return strings.HasSuffix(path, end) }
