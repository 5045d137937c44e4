package model_test

import (
	"encoding/json"
	"strings"
	"testing"

	"jig/internal/model"
)

func TestMalformedArgumentsNeverReachTheWire(t *testing.T) {
	for in, want := range map[string]string{
		``: `{}`, `null`: `{}`, `[1]`: `{}`, `"x"`: `{}`, `{"path": `: `{}`, `{} {}`: `{}`,
		`{"b":1,"a":"😀 <&>"}`:              `{"b":1,"a":"😀 <&>"}`,
		`{"a":"\ud83d\ude00"}`:             `{"a":"\ud83d\ude00"}`,
		`{"a":"\ud83d","b":"\\ud83d"}`:     `{"a":"\ufffd","b":"\\ud83d"}`,
		`{"a":"\ude00\ud83d\ud83d\ude00"}`: `{"a":"\ufffd\ufffd\ud83d\ude00"}`,
		"{\"a\":\"\xff\"}":                 `{"a":"` + "\ufffd" + `"}`,
	} {
		got := model.WireArgs(in)
		if got != want || !json.Valid([]byte(got)) {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestInventedToolNamesBecomeAcceptable(t *testing.T) {
	for in, want := range map[string]string{
		"read_file": "read_file", "": "unnamed", "repo_browser.open": "repo_browser_open", "é": "__",
		strings.Repeat("x", 70): strings.Repeat("x", 64),
	} {
		if got := model.WireName(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func FuzzWireArgsAreAnObject(f *testing.F) {
	f.Add(`{"a":"\ud83d\\ud83d"}`)
	f.Add(`{"\ud83d":{"x":[1,"\udfff"]}}`)
	f.Fuzz(func(t *testing.T, s string) {
		var v map[string]any
		if got := model.WireArgs(s); json.Unmarshal([]byte(got), &v) != nil || v == nil {
			t.Errorf("%q became %q", s, got)
		}
	})
}
