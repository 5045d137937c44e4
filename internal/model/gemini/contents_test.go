package gemini

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"jig/internal/model"
	"jig/internal/model/modeltest"
	"jig/internal/msg"
)

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// sent is what a request looks like on the wire.
func sent(t *testing.T, o Options, r model.Request) (*http.Request, string) {
	t.Helper()
	var got *http.Request
	var body string
	o.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got, body = r, string(b)
		return nil, context.DeadlineExceeded
	})
	_, _ = New(o).Stream(context.Background(), r, nil)
	return got, body
}

func TestTheModelIsPartOfTheAddress(t *testing.T) {
	for _, c := range []struct{ base, model, want string }{
		{"", "gemini-2.5-pro", "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse"},
		{"https://h", "models/gemini-2.5-pro", "https://h/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse"},
		{"https://h/", "tunedModels/mine", "https://h/v1beta/tunedModels/mine:streamGenerateContent?alt=sse"},
		{"https://h/v1beta/", "m", "https://h/v1beta/models/m:streamGenerateContent?alt=sse"},
		{"https://h/proxy/google/v1alpha", "m", "https://h/proxy/google/v1alpha/models/m:streamGenerateContent?alt=sse"},
		{"https://h/x?tenant=7", "m", "https://h/x/models/m:streamGenerateContent?tenant=7&alt=sse"},
		{"https://h", "../m?x#y é", "https://h/v1beta/models/../m%3Fx%23y%20%C3%A9:streamGenerateContent?alt=sse"},
	} {
		q, _ := sent(t, Options{URL: c.base, Key: "k"}, model.Request{Model: c.model})
		if q == nil || q.URL.String() != c.want || q.Header.Get("x-goog-api-key") != "k" || q.Header.Get("Authorization") != "" {
			t.Errorf("%s, %s: %v", c.base, c.model, q)
		}
	}
}

func TestARequestHasItsKeysInOneOrder(t *testing.T) {
	f := 0.5
	_, body := sent(t, Options{}, model.Request{
		Model: "gemini-3-flash-preview", System: "Be <brief>.", MaxOutput: 99, Temperature: &f, TopP: &f, Reasoning: "low",
		Tools:    []model.Tool{{Name: "f", Doc: "<d>", Input: []byte(`{"type":"object","additionalProperties":false}`)}, {Name: "g"}},
		Messages: []msg.Message{msg.Say(msg.User, "hi")},
	})
	want := `{"generationConfig":{"temperature":0.5,"topP":0.5,"maxOutputTokens":99,"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"LOW"}},` +
		`"tools":[{"functionDeclarations":[{"name":"f","description":"<d>","parametersJsonSchema":{"type":"object","additionalProperties":false}},{"name":"g"}]}],` +
		`"systemInstruction":{"parts":[{"text":"Be <brief>."}]},"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`
	if d := cmp.Diff(want, body); d != "" {
		t.Error(d)
	}
	if _, body = sent(t, Options{}, model.Request{Model: "gemini-2.0-flash", Messages: []msg.Message{msg.Say(msg.User, "hi")}}); body != `{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}` {
		t.Error(body)
	}
}

// conversation has a turn of the model with everything that a signature can be on, and results that
// do not come in the order of their calls.
func conversation(provider, name string) []msg.Message {
	return []msg.Message{
		msg.Say(msg.User, "go"),
		{Role: msg.Assistant, Provider: provider, Model: name, Blocks: msg.Blocks{
			msg.Reasoning{Text: "hm", Raw: raw(`{"text":"hm","thought":true,"thoughtSignature":"T"}`)},
			msg.Text{Text: "a", Raw: raw(`{"thoughtSignature":"X"}`)}, msg.Text{Raw: raw(`{"thoughtSignature":"Y"}`)},
			msg.Call{ID: "call00001", Given: "g1", Name: "f", Args: `{"b":1,"a":2}`, Raw: raw(`{"thoughtSignature":"C"}`)},
			msg.Call{ID: "call00002", Given: "g1", Name: "2.go", Args: `{"a":`},
		}},
		{Role: msg.User, Blocks: msg.Blocks{
			msg.Text{Text: "typed"}, msg.Result{Call: "call00002", Failed: true, Blocks: msg.Blocks{msg.Text{Text: "no"}}},
			msg.Result{Call: "call00001", Blocks: msg.Blocks{msg.Text{Text: "one"}, msg.Text{Text: "two"}}},
		}},
		{Role: msg.Assistant, Provider: provider, Model: name, Blocks: msg.Blocks{msg.Reasoning{Text: "cut", Raw: raw(`{"text":"cut","thought":true}`)}, msg.Text{Text: " "}}},
		msg.Say(msg.User, "on"),
	}
}

// contents are a body from its conversation on.
func contents(body string) string {
	_, rest, _ := strings.Cut(body, `"contents":`)
	return rest
}

func TestSignaturesGoBackWhereTheyCameFromAndNowhereElse(t *testing.T) {
	const results = `{"role":"user","parts":[{"functionResponse":{ID1"name":"f","response":{"output":"one\ntwo"}}},{"functionResponse":{ID2"name":"_2_go","response":{"error":"no"}}}]},{"role":"user","parts":[{"text":"typed"},{"text":"on"}]}]}`
	ids := strings.NewReplacer("ID1", `"id":"g1",`, "ID2", `"id":"call00002",`)
	none := strings.NewReplacer("ID1", "", "ID2", "")
	for name, c := range map[string]struct {
		messages []msg.Message
		model    string
		want     string
	}{
		"own": {conversation("p", "gemini-3-pro"), "gemini-3-pro", ids.Replace(
			`{"role":"model","parts":[{"text":"hm","thought":true,"thoughtSignature":"T"},{"text":"a","thoughtSignature":"X"},{"text":"","thoughtSignature":"Y"},` +
				`{"functionCall":{ID1"name":"f","args":{"b":1,"a":2}},"thoughtSignature":"C"},{"functionCall":{ID2"name":"_2_go","args":{}}}]},` + results)},
		"another model of the provider": {conversation("p", "gemini-2.5-pro"), "gemini-3-pro", ids.Replace(
			`{"role":"model","parts":[{"text":"a"},{"functionCall":{ID1"name":"f","args":{"b":1,"a":2}},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{ID2"name":"_2_go","args":{}}}]},` + results)},
		"another provider": {conversation("q", "gemini-3-pro"), "gemini-3-pro", none.Replace(
			`{"role":"model","parts":[{"text":"a"},{"functionCall":{ID1"name":"f","args":{"b":1,"a":2}},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{ID2"name":"_2_go","args":{}}}]},` + results)},
		"to a model that signs nothing": {conversation("p", "gemini-3-pro"), "gemini-2.5-pro", ids.Replace(
			`{"role":"model","parts":[{"text":"a"},{"functionCall":{ID1"name":"f","args":{"b":1,"a":2}}},{"functionCall":{ID2"name":"_2_go","args":{}}}]},` + results)},
	} {
		_, body := sent(t, Options{Provider: "p"}, model.Request{Model: c.model, Messages: c.messages})
		if d := cmp.Diff(`[{"role":"user","parts":[{"text":"go"}]},`+c.want, contents(body)); d != "" {
			t.Errorf("%s:\n%s", name, d)
		}
	}
}

func TestPicturesGoWhereTheModelCanSeeThem(t *testing.T) {
	png, gif := msg.Image{MIME: "image/png", Data: raw("p")}, msg.Image{MIME: "image/gif", Data: raw("g")}
	result := func(b ...msg.Block) []msg.Message {
		return []msg.Message{
			msg.Say(msg.User, "go"),
			{Role: msg.Assistant, Blocks: msg.Blocks{msg.Call{ID: "call00001", Name: "f", Args: `{}`}}},
			{Role: msg.User, Blocks: msg.Blocks{msg.Result{Call: "call00001", Blocks: b}}},
		}
	}
	const data = `{"inlineData":{"mimeType":"image/png","data":"cA=="}}`
	for name, c := range map[string]struct {
		model    string
		messages []msg.Message
		want     string
	}{
		"the user's":          {"gemini-2.5-pro", []msg.Message{{Role: msg.User, Blocks: msg.Blocks{png, gif}}}, `{"role":"user","parts":[` + data + `,{"text":"(a picture of the type image/gif, which this model cannot see)"}]}]}`},
		"a result's, from 3":  {"gemini-3-pro", result(msg.Text{Text: "x"}, png), `"response":{"output":"x"},"parts":[` + data + `]}}]}]}`},
		"nothing but, from 3": {"gemini-3-pro", result(png, png), `"response":{"output":"(a picture)"},"parts":[` + data + `,` + data + `]}}]}]}`},
		"a result's, before":  {"gemini-2.5-pro", result(msg.Text{Text: "x"}, png), `"response":{"output":"x"}}}]},{"role":"user","parts":[{"text":"From the result of f (call 1):"},` + data + `]}]}`},
		"nothing but, before": {"gemini-2.5-pro", result(png), `"response":{"output":"(the picture comes after the results)"}}}]},{"role":"user","parts":[{"text":"From the result of f (call 1):"},` + data + `]}]}`},
		"of a kind unknown":   {"gemini-3-pro", result(gif), `"response":{"output":"(a picture of the type image/gif, which this model cannot see)"}}}]}]}`},
		"none and no text":    {"gemini-3-pro", result(), `"response":{"output":"(no output)"}}}]}]}`},
	} {
		_, body := sent(t, Options{}, model.Request{Model: c.model, Messages: c.messages})
		if !strings.HasSuffix(body, c.want) {
			t.Errorf("%s: %s", name, body)
		}
	}
}

func TestAConversationOfAnotherModelIsTakenOver(t *testing.T) {
	for _, name := range []string{"gemini-2.5-flash", "gemini-3.1-pro-preview", "gemini-4-argon", "gemini-flash-latest", "gemma-4-31b-it"} {
		s := modeltest.New(t, modeltest.Reply{Reasoning: "hm", Calls: []modeltest.Call{{Name: "f", Args: `{}`}}}, modeltest.Reply{Text: "ok"})
		m := New(Options{Provider: "p", URL: s.URL, Key: modeltest.Key})
		t.Cleanup(func() { _ = m.Close() })
		r := model.Request{Model: name, Messages: conversation("q", "other")}
		reply, err := m.Stream(context.Background(), r, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		c := reply.Blocks.Calls()[0]
		c.ID = "call00003"
		r.Messages = append(r.Messages, msg.Message{Role: msg.Assistant, Provider: "p", Model: name, Blocks: msg.Blocks{c}}, msg.Message{Role: msg.User, Blocks: msg.Blocks{msg.Result{Call: c.ID}}})
		if _, err := m.Stream(context.Background(), r, nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCallsAreAnsweredWithOrWithoutIDs(t *testing.T) {
	two := []modeltest.Call{{ID: "a1", Name: "f", Args: `{"path":"sum 😀.go"}`}, {ID: "a2", Name: "f", Args: `{"path":"b"}`}}
	for _, name := range []string{"gemini-2.5-flash", "gemini-3-flash-preview"} {
		for _, style := range []modeltest.Style{"", modeltest.Whole, modeltest.NoID} {
			s := modeltest.New(t, modeltest.Reply{Text: "a", Calls: two, Style: style, Bytes: 3}, modeltest.Reply{Text: "ok"})
			m := New(Options{Provider: "p", URL: s.URL, Key: modeltest.Key})
			t.Cleanup(func() { _ = m.Close() })
			r := model.Request{Model: name, Messages: []msg.Message{msg.Say(msg.User, "go")}}
			reply, err := m.Stream(context.Background(), r, nil)
			if err != nil || len(reply.Blocks) != 3 {
				t.Fatalf("%s, %q: %v %+v", name, style, err, reply)
			}
			said, heard := msg.Message{Role: msg.Assistant, Provider: "p", Model: name}, msg.Message{Role: msg.User}
			for i, c := range reply.Blocks.Calls() {
				given := two[i].ID
				if style == modeltest.NoID || name == "gemini-2.5-flash" {
					given = ""
				}
				if c.Given != given || c.Args != two[i].Args {
					t.Errorf("%s, %q: %+v", name, style, c)
				}
				c.ID = "call0000" + string(rune('1'+i))
				said.Blocks = append(said.Blocks, c)
				heard.Blocks = append(msg.Blocks{msg.Result{Call: c.ID, Blocks: msg.Blocks{msg.Text{Text: c.Args}}}}, heard.Blocks...)
			}
			r.Messages = append(r.Messages, said, heard)
			if _, err := m.Stream(context.Background(), r, nil); err != nil {
				t.Errorf("%s, %q: %v", name, style, err)
			}
			body := string(s.Requests()[1].Body)
			if first, second := strings.Index(body, `"output":"{\"path\":\"sum`), strings.Index(body, `"output":"{\"path\":\"b`); first < 0 || second < first {
				t.Errorf("%s, %q: the results do not come in the order of the calls: %s", name, style, body)
			}
		}
	}
}

func TestCallsOfATurnNeverShareAnID(t *testing.T) {
	pool := []string{"x", "call00001", "call00002", "call00003", "call00002x"}
	m, r := New(Options{Provider: "p"}), rand.New(rand.NewPCG(1, 2))
	defer m.Close()
	for range 2000 {
		x := msg.Message{Role: msg.Assistant, Provider: "p"}
		for n := range 6 {
			x.Blocks = append(x.Blocks, msg.Call{ID: fmt.Sprintf("call%05d", n+1), Given: pool[r.IntN(len(pool))]})
		}
		calls, seen := map[string]made{}, map[string]bool{}
		m.number(x, calls)
		for _, c := range calls {
			if seen[c.id] {
				t.Fatalf("%q is there twice for %+v", c.id, x.Blocks)
			}
			seen[c.id] = true
		}
	}
}
