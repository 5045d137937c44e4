package modeltest_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"jig/internal/model"
	"jig/internal/model/anthropic"
	"jig/internal/model/gemini"
	"jig/internal/model/modeltest"
	"jig/internal/model/openai"
	"jig/internal/model/openresponses"
	"jig/internal/model/record"
	"jig/internal/model/replay"
	"jig/internal/model/tape"
	"jig/internal/msg"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client is a dialect under test.
type client struct {
	name  string
	wire  modeltest.Dialect
	model string
	cut   string // its word for a reply that was cut
	open  func(o openai.Options) closer
}

// make opens the dialect at a server.
func (c client) make(t *testing.T, s *modeltest.Server) model.Model {
	return open(t, c.open(openai.Options{Provider: "p", URL: s.URL, Key: modeltest.Key}))
}

type closer interface {
	model.Model
	Close() error
}

func open(t *testing.T, c closer) model.Model {
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func clients() []client {
	return []client{
		{"openai", modeltest.Chat, "gpt-4o", "length", func(o openai.Options) closer { return openai.New(o) }},
		{"anthropic", modeltest.Messages, "claude-haiku-4-5", "max_tokens", func(o openai.Options) closer { return anthropic.New(o) }},
		{"gemini", modeltest.Gemini, "gemini-3-flash-preview", "MAX_TOKENS", func(o openai.Options) closer { return gemini.New(o) }},
		{"openresponses", modeltest.Responses, "gpt-5.2", "max_output_tokens", func(o openai.Options) closer { return openresponses.New(o) }},
	}
}

func tool(name string) model.Tool {
	return model.Tool{Name: name, Doc: "Does " + name + " & more <at once>", Input: json.RawMessage(`{"type": "object", "properties": {"path": {"type": "string"}}}`)}
}

func picture(t testing.TB) msg.Image {
	b, err := base64.StdEncoding.DecodeString(png)
	if err != nil {
		t.Fatal(err)
	}
	return msg.Image{MIME: "image/png", Data: b}
}

// plain takes out what is the dialect's own: ids, raw blocks, and blocks of nothing else.
func plain(r model.Reply) model.Reply {
	blocks := msg.Blocks{}
	for _, b := range r.Blocks {
		switch x := b.(type) {
		case msg.Call:
			x.Given, x.Raw = "", nil
			b = x
		case msg.Text:
			if x.Text == "" {
				continue
			}
			x.Raw = nil
			b = x
		case msg.Reasoning:
			x.Raw = nil
			b = x
		}
		blocks = append(blocks, b)
	}
	r.Blocks = blocks
	return r
}

const emoji = `{"path":"sum 😀.go","text":"Ж\"\\\n👩‍👩‍👧","n":1.5}`

func TestDialectsReadTheSameScriptAlike(t *testing.T) {
	usage := msg.Usage{Input: 120, Output: 30, CacheRead: 100, CacheWrite: 15}
	two := []modeltest.Call{{ID: "a1", Name: "read_file", Args: emoji}, {ID: "a2", Name: "grep", Args: `{}`}}
	calls := msg.Blocks{msg.Call{Name: "read_file", Args: emoji}, msg.Call{Name: "grep", Args: `{}`}}
	for name, c := range map[string]struct {
		reply modeltest.Reply
		want  model.Reply
	}{
		"text":        {modeltest.Reply{Text: "Hi 😀, <b>&\n", Usage: usage}, model.Reply{Blocks: msg.Blocks{msg.Text{Text: "Hi 😀, <b>&\n"}}, Usage: usage, Stop: model.StopEnd}},
		"nothing":     {modeltest.Reply{}, model.Reply{Blocks: msg.Blocks{}, Stop: model.StopEnd}},
		"reasoning":   {modeltest.Reply{Reasoning: "hm 😀", Text: "yes"}, model.Reply{Blocks: msg.Blocks{msg.Reasoning{Text: "hm 😀"}, msg.Text{Text: "yes"}}, Stop: model.StopEnd}},
		"calls":       {modeltest.Reply{Text: "look", Calls: two, Usage: usage}, model.Reply{Blocks: append(msg.Blocks{msg.Text{Text: "look"}}, calls...), Usage: usage, Stop: model.StopCalls}},
		"calls only":  {modeltest.Reply{Calls: two}, model.Reply{Blocks: calls, Stop: model.StopCalls}},
		"same id":     {modeltest.Reply{Calls: []modeltest.Call{{ID: "x", Name: "read_file", Args: emoji}, {ID: "x", Name: "grep", Args: `{}`}}}, model.Reply{Blocks: calls, Stop: model.StopCalls}},
		"malformed":   {modeltest.Reply{Calls: []modeltest.Call{{Name: "read_file", Args: `{"path": "a`}}}, model.Reply{Blocks: msg.Blocks{msg.Call{Name: "read_file", Args: `{"path": "a`}}, Stop: model.StopCalls}},
		"refusal":     {modeltest.Reply{Refusal: "I will not"}, model.Reply{Blocks: msg.Blocks{msg.Text{Text: "I will not"}}, Stop: model.StopRefusal}},
		"end missing": {modeltest.Reply{Text: "done", Fault: modeltest.Fault{Kind: modeltest.FaultOpen}}, model.Reply{Blocks: msg.Blocks{msg.Text{Text: "done"}}, Stop: model.StopEnd}},
	} {
		for _, cl := range clients() {
			want := c.want
			if cl.wire == modeltest.Gemini {
				if name == "malformed" { // its arguments are an object and not the model's words
					continue
				}
				want.Usage.CacheWrite = 0 // it does not say
			}
			for _, bytes := range []int{0, 1, 7} {
				for _, noise := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s/%s/%d/%v", name, cl.name, bytes, noise), func(t *testing.T) {
						r := c.reply
						r.Bytes, r.Noise = bytes, noise
						s := modeltest.New(t, r)
						var told model.Delta
						got, err := cl.make(t, s).Stream(context.Background(), model.Request{Model: cl.model, Messages: []msg.Message{msg.Say(msg.User, "hi")}}, func(d model.Delta) {
							told.Text += d.Text
							told.Reasoning += d.Reasoning
							told.Call += d.Call
						})
						if err != nil {
							t.Fatal(err)
						}
						if d := cmp.Diff(want, plain(got)); d != "" {
							t.Error(d)
						}
						// The recorded dialect is held to what the live ones are: byte for byte what it was told.
						if d := cmp.Diff(got, played(t, got)); d != "" {
							t.Errorf("played: %s", d)
						}
						names := ""
						for _, x := range got.Blocks.Calls() {
							names += x.Name
						}
						if want := (model.Delta{Text: got.Blocks.Text(), Reasoning: r.Reasoning, Call: names}); told != want {
							t.Errorf("told %+v, want %+v", told, want)
						}
					})
				}
			}
		}
	}
}

// said is a model that says one thing.
type said model.Reply

func (s said) Stream(context.Context, model.Request, func(model.Delta)) (model.Reply, error) {
	return model.Reply(s), nil
}

// played records a reply and plays the recording, strictly.
func played(t *testing.T, reply model.Reply) model.Reply {
	t.Helper()
	path := filepath.Join(t.TempDir(), "recording")
	f, err := record.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	ask := model.Request{Model: "m", Messages: []msg.Message{msg.Say(msg.User, "hi")}}
	if _, err := record.New(f, tape.NewValues(nil, nil)).Wrap(said(reply)).Stream(t.Context(), ask, func(model.Delta) {}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := replay.New(data)
	if err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	told := ""
	got, err := m.Stream(t.Context(), ask, func(d model.Delta) { told += d.Text })
	if err != nil || told != got.Blocks.Text() {
		t.Errorf("%v; told %q", err, told)
	}
	return got
}

func TestAStreamThatWasAnsweredWholeIsRead(t *testing.T) {
	for _, cl := range clients() {
		s := modeltest.New(t, modeltest.Reply{Reasoning: "hm", Text: "hi", Calls: []modeltest.Call{{ID: "1", Name: "f", Args: emoji}}, Usage: msg.Usage{Input: 5, Output: 2}})
		s.IgnoreStream = true
		got, err := cl.make(t, s).Stream(context.Background(), model.Request{Model: cl.model, Messages: []msg.Message{msg.Say(msg.User, "hi")}}, nil)
		want := model.Reply{Usage: msg.Usage{Input: 5, Output: 2}, Stop: model.StopCalls, Blocks: msg.Blocks{msg.Reasoning{Text: "hm"}, msg.Text{Text: "hi"}, msg.Call{Name: "f", Args: emoji}}}
		if d := cmp.Diff(want, plain(got)); err != nil || d != "" {
			t.Errorf("%s: %v %s", cl.name, err, d)
		}
	}
}

func TestLengthStopsInTheMiddleOfArgumentsAreSeen(t *testing.T) {
	for _, cl := range clients() {
		s := modeltest.New(t, modeltest.Reply{Calls: []modeltest.Call{{Name: "f", Args: `{"text":"abc`}}, Stop: cl.cut})
		got, err := cl.make(t, s).Stream(context.Background(), model.Request{Model: cl.model, Messages: []msg.Message{msg.Say(msg.User, "hi")}}, nil)
		if err != nil || got.Stop != model.StopLength {
			t.Errorf("%s: %v %v", cl.name, got, err)
		}
	}
}

// hard is a conversation with everything in it that has made a provider refuse the next request.
func hard(t *testing.T) []msg.Message {
	call := func(id, given, name, args string) msg.Call {
		return msg.Call{ID: id, Given: given, Name: name, Args: args}
	}
	answer := func(id, text string) msg.Result {
		return msg.Result{Call: id, Blocks: msg.Blocks{msg.Text{Text: text}}}
	}
	return []msg.Message{
		msg.Say(msg.User, "begin"),
		{Role: msg.User, Blocks: msg.Blocks{msg.Text{}, msg.Text{Text: "a notice"}, picture(t)}},
		{Role: msg.Assistant, Blocks: msg.Blocks{
			msg.Reasoning{Text: "another model's", Raw: []byte(`{"type":"thinking","thinking":"x","signature":"stolen"}`)}, msg.Text{Text: "  \n"},
			call("call00001", "call_1", "read_file", emoji), call("call00002", "call_1", "read_file", `{"path": `),
			call("call00003", "", "repo_browser.open", `[]`), call("call00004", strings.Repeat("i", 50), "", `null`),
		}},
		{Role: msg.User, Blocks: msg.Blocks{
			msg.Text{Text: "typed meanwhile"},
			answer("call00001", "fine"), msg.Result{Call: "call00002"},
			msg.Result{Call: "call00003", Failed: true, Blocks: msg.Blocks{msg.Text{Text: "unknown tool"}, picture(t)}},
			msg.Result{Call: "call00004", Blocks: msg.Blocks{picture(t)}},
		}},
		{Role: msg.Assistant, Blocks: msg.Blocks{msg.Text{}}},
		msg.Say(msg.User, "and on"),
		{Role: msg.Assistant, Blocks: msg.Blocks{msg.Reasoning{Text: "only thought"}}},
		{Role: msg.Assistant, Blocks: msg.Blocks{msg.Text{Text: "once more "}, call("call00005", "call_1", "read_file", `{"a":"\ud83d"}`)}},
		{Role: msg.User, Blocks: msg.Blocks{answer("call00005", "")}},
	}
}

func TestAConversationWithEverythingOddInItIsAccepted(t *testing.T) {
	f := 0.5
	for _, cl := range clients() {
		for name, r := range map[string]model.Request{
			"plain":    {System: "Be <brief> & exact.", Tools: []model.Tool{tool("read_file"), tool("grep")}, Temperature: &f},
			"no tools": {MaxOutput: 2048},
			"reasons":  {Tools: []model.Tool{tool("read_file")}, Reasoning: "high", System: " "},
		} {
			s := modeltest.New(t, modeltest.Reply{Text: "ok"})
			r.Model, r.Messages = cl.model, hard(t)
			if name == "reasons" && cl.wire == modeltest.Chat {
				r.Model = "o3"
			}
			if name == "plain" && cl.wire == modeltest.Responses {
				r.Reasoning = "none" // such a model takes no temperature while it reasons
			}
			if _, err := cl.make(t, s).Stream(context.Background(), r, nil); err != nil {
				t.Errorf("%s, %s: %v", cl.name, name, err)
			}
		}
	}
}

// talk lets a model and make-believe tools work through a script, and returns the conversation.
func talk(t *testing.T, m model.Model, r model.Request, rounds int) []msg.Message {
	t.Helper()
	r.Messages = []msg.Message{msg.Say(msg.User, "begin")}
	for i := range rounds {
		reply, err := m.Stream(context.Background(), r, nil)
		if err != nil {
			t.Fatalf("round %d: %v", i+1, err)
		}
		said := msg.Message{Role: msg.Assistant, Provider: "p", Model: r.Model}
		heard := msg.Message{Role: msg.User}
		for n, b := range reply.Blocks {
			if c, ok := b.(msg.Call); ok {
				c.ID = fmt.Sprintf("call%03d%02d", i, n)
				b = c
				heard.Blocks = append(heard.Blocks, msg.Result{Call: c.ID, Blocks: msg.Blocks{msg.Text{Text: "result of " + c.Name}}, Failed: n == 2})
			}
			said.Blocks = append(said.Blocks, b)
		}
		if heard.Blocks == nil {
			heard = msg.Say(msg.User, "go on")
		}
		r.Messages = append(r.Messages, said, heard)
	}
	return r.Messages
}

func script(d modeltest.Dialect) []modeltest.Reply {
	two := []modeltest.Call{{ID: "x1", Name: "read_file", Args: emoji}, {ID: "x1", Name: "grep", Args: `{"path":`}}
	if d == modeltest.Gemini {
		two[1].Args = `{}`
	}
	return []modeltest.Reply{
		{Reasoning: "think 😀 <&>", Text: "I look.", Calls: two},
		{Reasoning: "think more", Redacted: "ENCRYPTED+/=", Calls: two[:1]},
		{Text: "Half way.", Reasoning: "hm"},
		{Calls: two}, {Redacted: "AGAIN", Text: "Done."}, {Text: "Bye."},
	}
}

func TestReasoningComesBackByteForByteAndTheServerAcceptsIt(t *testing.T) {
	for _, cl := range clients() {
		s := modeltest.New(t, script(cl.wire)...)
		s.ReasoningBack = true
		r := model.Request{Model: cl.model, Tools: []model.Tool{tool("read_file"), tool("grep")}}
		if cl.wire == modeltest.Messages {
			r.Reasoning = "medium" // on such a model the reply before results must begin with its thinking
		}
		talk(t, cl.make(t, s), r, len(script(cl.wire)))
		last := string(s.Requests()[len(script(cl.wire))-1].Body)
		want := []string{`"reasoning_content":"think 😀 <&>"`, `"reasoning_content":"think more"`}
		if cl.wire == modeltest.Messages {
			want = []string{
				`{"type":"thinking","thinking":"think 😀 <&>","signature":"` + base64.StdEncoding.EncodeToString([]byte("signed:think 😀 <&>")) + `"}`,
				`{"data":"ENCRYPTED+/=","type":"redacted_thinking"}`, `{"data":"AGAIN","type":"redacted_thinking"}`,
			}
		}
		if cl.wire == modeltest.Gemini {
			signed := func(s string) string { return base64.StdEncoding.EncodeToString([]byte("signed:" + s)) }
			want = []string{
				`{"text":"think 😀 <&>","thought":true},{"text":"I look."},{"functionCall":{"id":"x1","name":"read_file","args":` + emoji + `},"thoughtSignature":"` + signed("0:think 😀 <&>") + `"},{"functionCall":`,
				`"thoughtSignature":"` + signed("1:think more") + `"`, `{"text":"Half way."},{"text":"","thoughtSignature":"` + signed("2:hm") + `"}`,
			}
		}
		if cl.wire == modeltest.Responses {
			sealed := func(s string) string { return base64.StdEncoding.EncodeToString([]byte("sealed:" + s)) }
			want = []string{
				`{"encrypted_content":"` + sealed("think 😀 <&>") + `","id":"rs_1a","summary":[{"text":"think 😀 <&>","type":"summary_text"}],"type":"reasoning"},{"type":"message","id":"msg_1",`,
				`{"encrypted_content":"ENCRYPTED+/=","id":"rs_2b","summary":[],"type":"reasoning"},{"type":"function_call","id":"fc_2_0",`,
				`{"encrypted_content":"AGAIN","id":"rs_5b","summary":[],"type":"reasoning"},{"type":"message","id":"msg_5",`,
			}
		}
		for _, w := range want {
			if !strings.Contains(last, w) {
				t.Errorf("%s: %s is not in %s", cl.name, w, last)
			}
		}
	}
}

func TestReasoningNeverGoesToAnotherModelOrProvider(t *testing.T) {
	for _, cl := range clients() {
		s := modeltest.New(t, script(cl.wire)...)
		r := model.Request{Model: cl.model, Tools: []model.Tool{tool("read_file"), tool("grep")}}
		m := cl.make(t, s)
		r.Messages = talk(t, m, r, 2)
		for name, change := range map[string]func(*msg.Message){
			"model":    func(x *msg.Message) { x.Model = "another" },
			"provider": func(x *msg.Message) { x.Provider = "another" },
		} {
			q := r
			q.Messages = slices.Clone(r.Messages)
			for i := range q.Messages {
				if q.Messages[i].Role == msg.Assistant {
					change(&q.Messages[i])
				}
			}
			s := modeltest.New(t, modeltest.Reply{Text: "ok"})
			if _, err := cl.make(t, s).Stream(context.Background(), q, nil); err != nil {
				t.Errorf("%s, other %s: %v", cl.name, name, err)
			}
			if body := string(s.Requests()[0].Body); strings.Contains(body, "think ") || strings.Contains(body, "ENCRYPTED") || strings.Contains(body, "c2lnbmVk") || strings.Contains(body, "c2VhbGVk") {
				t.Errorf("%s, other %s: %s", cl.name, name, body)
			}
		}
	}
}

func TestReasoningIsKeptFromAServerThatRefusesItOutsideToolTurns(t *testing.T) {
	s := modeltest.New(t, modeltest.Reply{Reasoning: "hm", Text: "a"}, modeltest.Reply{Reasoning: "hm", Text: "b"}, modeltest.Reply{Text: "c"})
	s.NoReasoning = true
	talk(t, clients()[0].make(t, s), model.Request{Model: "reasoner"}, 3)
}

// unmarked takes out the marks of a cache, which move on and are no part of what is cached.
func unmarked(body []byte) string {
	return strings.ReplaceAll(string(body), `,"cache_control":{"type":"ephemeral"}`, "")
}

func TestEachRoundBeginsWithTheBytesOfTheLast(t *testing.T) {
	for _, cl := range clients() {
		s := modeltest.New(t, script(cl.wire)...)
		r := model.Request{Model: cl.model, System: "Be brief.", Tools: []model.Tool{tool("read_file"), tool("grep")}}
		talk(t, cl.make(t, s), r, len(script(cl.wire)))
		requests := s.Requests()
		for i, q := range requests[1:] {
			before := strings.TrimSuffix(unmarked(requests[i].Body), "]}")
			if !strings.HasPrefix(unmarked(q.Body), before) {
				t.Errorf("%s: request %d does not begin as the one before:\n%s\n%s", cl.name, i+2, requests[i].Body, q.Body)
			}
		}
		again := modeltest.New(t, script(cl.wire)...)
		talk(t, cl.make(t, again), r, len(script(cl.wire)))
		for i, q := range again.Requests() {
			if string(q.Body) != string(requests[i].Body) {
				t.Errorf("%s: request %d differs when it is made again", cl.name, i+1)
			}
		}
		if strings.Contains(string(requests[0].Body), `\u003c`) {
			t.Errorf("%s: escaped: %s", cl.name, requests[0].Body)
		}
	}
}
