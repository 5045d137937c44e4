package tool_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"jig/internal/tool"
)

var params = tool.Params{
	{Name: "path", Type: tool.String, Required: true, Doc: "the <file>"},
	{Name: "content", Type: tool.String, Whole: true},
	{Name: "limit", Type: tool.Integer},
	{Name: "all", Type: tool.Boolean},
}

func TestArgumentsAreReadExactlyOrRefused(t *testing.T) {
	for _, c := range []struct{ raw, want string }{
		{`{"path":"a","limit":"20","all":"true"}`, ""},
		{`{"path":"a","limit":20.0,"all":true,"content":null}`, ""},
		{`{"path":"a","limit":2e1}`, ""},
		{`{"content":5}`, ""},
		{`"{\"path\":\"a\"}"`, `the arguments must be one JSON object, got a string: "{\"path\":\"a\"}"; nothing was run`},
		{`{`, "the arguments must be one JSON object, got malformed JSON; nothing was run"},
		{`{} {}`, "the arguments must be one JSON object, got malformed JSON; nothing was run"},
		{`[]`, "the arguments must be one JSON object, got an array; nothing was run"},
		{`{"path":5}`, "argument path must be a string, got a number: 5; nothing was run"},
		{`{"limit":"many"}`, `argument limit must be an integer, got a string: "many"; nothing was run`},
		{`{"limit":1.5}`, "argument limit must be an integer, got a number: 1.5; nothing was run"},
		{`{"limit":true}`, "argument limit must be an integer, got a boolean: true; nothing was run"},
		{`{"limit":1e99999999}`, "argument limit must be an integer, got a number: 1e99999999; nothing was run"},
		{`{"all":1}`, "argument all must be true or false, got a number: 1; nothing was run"},
		{`{"all":"yes"}`, `argument all must be true or false, got a string: "yes"; nothing was run`},
		{`{"pth":"a"}`, "unknown argument: pth (the arguments are path, content, limit, all); nothing was run"},
		{`{"path":"a","path":"b"}`, "argument path is given twice; nothing was run"},
		{`{"path":"\ud800x"}`, `argument path is not valid Unicode text (a lone surrogate \ud800); nothing was run`},
		{`{"path":"\udc00"}`, `argument path is not valid Unicode text (a lone surrogate \udc00); nothing was run`},
		{"{\"path\":\"\xff\"}", "argument path is not valid Unicode text (bytes that are not UTF-8); nothing was run"},
		{`{"path":"\ud83d\ude00 \\ud800"}`, ""},
	} {
		_, err := params.Decode(json.RawMessage(c.raw))
		if got := text(err); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.raw, got, c.want)
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestDecodedValues(t *testing.T) {
	a, err := params.Decode(json.RawMessage(`{"path":"x","limit":" 20 ","all":"true","content":7}`))
	if err != nil {
		t.Fatal(err)
	}
	if a.String("path") != "x" || a.Int("limit", 1) != 20 || !a.Bool("all") || a.Has("content") {
		t.Errorf("%+v", a)
	}
	b, _ := params.Decode(json.RawMessage(`{"limit":null}`))
	if b.Int("limit", 7) != 7 || b.Has("limit") {
		t.Error("null does not mean absent")
	}
	if _, err := b.Need("path"); !errors.Is(err, tool.Missing) || err.Error() != "missing required argument: path" {
		t.Error(err)
	}
	c, _ := params.Decode(json.RawMessage(`{"limit":1e300}`))
	if c.Int("limit", 0) <= 1<<40 {
		t.Error("a huge number is not held at the end of int's range")
	}
}

func TestSchemaIsOneFixedText(t *testing.T) {
	want := `{"type":"object","properties":{"path":{"type":"string","description":"the <file>"},` +
		`"content":{"type":"string","description":""},"limit":{"type":"integer","description":""},` +
		`"all":{"type":"boolean","description":""}},"required":["path"]}`
	if got := string(params.Schema()); got != want {
		t.Error(got)
	}
}

func TestFailureIsFoundBehindItsOccasion(t *testing.T) {
	f := tool.Fails("{a} is not {b}")
	err := f.With("a", "{b}", "b", "x")
	if err.Error() != "{b} is not x" || !errors.Is(err, f) {
		t.Errorf("%v", err)
	}
	if s, ok := tool.Sentence(err); !ok || s != "{b} is not x" {
		t.Error(s)
	}
	if _, ok := tool.Sentence(errors.New("ours")); ok {
		t.Error("an error of ours passes as a sentence for the model")
	}
}

// FuzzArguments: whatever arrives is decoded or refused with a sentence that is valid text.
func FuzzArguments(f *testing.F) {
	for _, s := range []string{`{}`, `{"path":"\ud800"}`, `{"limit":"1e5","all":"true"}`, `{"path":`, `null`, `"x"`, `{"limit":1e-99999}`, `{"limit":1e700}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		a, err := params.Decode(raw)
		if err != nil {
			if s, ok := tool.Sentence(err); !ok || !json.Valid([]byte(jsonString(s))) {
				t.Fatalf("%q: no sentence: %v", raw, err)
			}
			return
		}
		var want map[string]any
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber() // a number may be larger than any float
		if err := d.Decode(&want); err != nil {
			t.Fatalf("%q was decoded but is not valid JSON: %v", raw, err)
		}
		if s, ok := want["path"].(string); ok && s != a.String("path") {
			t.Fatalf("%q: path %q", raw, a.String("path"))
		}
	})
}

func jsonString(s string) string { b, _ := json.Marshal(s); return string(b) }
