package replay_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"jig/internal/model"
	"jig/internal/model/replay"
	"jig/internal/msg"
)

func TestJSONLinesAndYAMLPlayAlike(t *testing.T) {
	scripts := map[string]string{
		"yaml": `
version: 1
replies:
  - text: "Look: 😀"
    calls: [{id: c1, name: grep, args: {pattern: "a\"b", deep: {z: [1, 2.5], a: ~}}}]
    delay: 1ms
  - capture: {n: "(\\d+)"}
    expect: {results: [{contains: ok, failed: false}]}
    text: "n=${n}"
    stop: length
`,
		"lines": `{"version":1}
{"text":"Look: \ud83d\ude00","calls":[{"id":"c1","name":"grep","args":{"pattern":"a\"b", "deep":{"z":[1,2.5],"a":null}}}],"delay":"1ms"}

{"capture":{"n":"(\\d+)"},"expect":{"results":[{"contains":"ok","failed":false}]},"text":"n=${n}","stop":"length"}
`,
		"json": `{"version":1,"replies":[{"text":"Look: 😀","calls":[{"id":"c1","name":"grep","args":{"pattern":"a\"b","deep":{"z":[1,2.5],"a":null}}}]},
 {"capture":{"n":"(\\d+)"},"expect":{"results":[{"contains":"ok","failed":false}]},"text":"n=${n}","stop":"length"}]}`,
	}
	for name, s := range scripts {
		m := play(t, s)
		first, err := ask(m, msg.Say(msg.User, "go"))
		want := model.Reply{Stop: model.StopCalls, Blocks: msg.Blocks{msg.Text{Text: "Look: 😀"}, msg.Call{Given: "c1", Name: "grep", Args: `{"pattern":"a\"b","deep":{"z":[1,2.5],"a":null}}`}}}
		if d := cmp.Diff(want, first); err != nil || d != "" {
			t.Errorf("%s: %v %s", name, err, d)
		}
		second, err := ask(m, called("x", "grep"), answered("x", "ok 42 and 7"))
		want = model.Reply{Stop: model.StopLength, Blocks: msg.Blocks{msg.Text{Text: "n=42"}}}
		if d := cmp.Diff(want, second); err != nil || d != "" {
			t.Errorf("%s: %v %s", name, err, d)
		}
	}
}

func TestAWrongScriptIsRefusedBeforeItIsPlayed(t *testing.T) {
	for script, want := range map[string]string{
		"": "the script is empty",
		"version: 1\nreplies: [{text: \"\xff\"}]":                                     "it is not UTF-8 text",
		"{\"version\":1}\n{\"calls\":[{\"name\":\"f\",\"args\":{\"a\":\"\xff\"}}]}":   "it is not UTF-8 text",
		"version: 2\nreplies: [{text: a}]":                                            "version 2 is not supported; the first key must be version: 1",
		"replies: [{text: a}]":                                                        "version 0 is not supported",
		"version: 1":                                                                  "there are no replies",
		"version: 1\nreplies: [{}]":                                                   "reply 1: it says nothing",
		"version: 1\nreplies:\n  - txt: a":                                            `[3:5] unknown field "txt"`,
		"version: 1\nreplies:\n  - text: a\n    stop: never":                          `reply 1: stop "never" is none of`,
		"version: 1\nreplies:\n  - error: {kind: bad}":                                `reply 1: error kind "bad" is none of`,
		"version: 1\nreplies:\n  - text: a\n    delay: 5":                             "",
		"version: 1\nreplies:\n  - text: a\n    delay: soon":                          "is not a duration",
		"version: 1\nreplies:\n  - text: a\n    capture: {n: '('}":                    "capture n: error parsing regexp",
		"version: 1\nreplies:\n  - text: a\n    capture: {n-1: 'x'}":                  "capture needs a name",
		"version: 1\nreplies:\n  - calls: [{name: f, args: [1]}]":                     "args must be a mapping or a string",
		"version: 1\nreplies:\n  - text: ${n}\n  - text: b\n    capture: {n: x}":      "reply 1: it uses ${n}, which is only captured in reply 2",
		"version: 1\nreplies:\n  - text: a\n   bad":                                   "[4:4]",
		"{\"version\":1}\n{\"text\":\"a\"}\n{\"txt\":\"a\"}\n":                        `line 3: json: unknown field "txt"`,
		"{\"version\":1}\n{\"text\":":                                                 "line 2: ",
		"{\"version\":1}\n{\"text\":\"a\",\"calls\":[{\"name\":\"f\",\"args\":[1]}]}": "args must be an object or a string",
		"{\"version\":1}\n{\"text\":\"a\",\"capture\":[]}":                            "capture must be an object",
	} {
		_, err := replay.New([]byte(script))
		if want == "" {
			continue
		}
		if err == nil || !strings.HasPrefix(err.Error(), "replay script: ") || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %q", script, err, want)
		}
	}
}

func TestEveryExpectationThatIsNotMetSaysWhatDiffers(t *testing.T) {
	failed := msg.Message{Role: msg.User, Blocks: msg.Blocks{msg.Result{Call: "x", Failed: true, Blocks: msg.Blocks{msg.Text{Text: "no such file"}}}}}
	long := strings.Repeat("é", 200)
	for expect, c := range map[string]struct {
		heard msg.Message
		want  string
	}{
		`last_result_contains: sum`:               {answered("x", "nothing"), `the result of grep should contain "sum" but is "nothing"`},
		`last_result_contains: sum `:              {msg.Say(msg.User, "hello"), `a result should contain "sum" but it has no results`},
		`user_contains: bye`:                      {msg.Say(msg.User, "hello"), `the user's words should contain "bye" but are "hello"`},
		`results: [{contains: a}, {contains: b}]`: {answered("x", "a"), `it should bring 2 results: grep gave "a"`},
		`results: []`:                             {answered("x", "a"), `it should bring 0 results: grep gave "a"`},
		`results: [{exact: a}]`:                   {answered("x", "a "), `result 1, of grep, should be "a" but is "a "`},
		`results: [{exact: ""}]`:                  {answered("x", "a"), `should be "" but is "a"`},
		`results: [{matches: "^b"}]`:              {answered("x", "ab"), `should match ^b but is "ab"`},
		`results: [{failed: true}]`:               {answered("x", "fine"), `should have failed but gave "fine"`},
		`results: [{failed: false}]`:              {failed, `failed: "no such file"`},
		`results: [{contains: zz, failed: true}]`: {failed, `should contain "zz" but is "no such file"`},
		`results: [{contains: "x"}] `:             {answered("x", long), `… (400 bytes)`},
	} {
		m := play(t, "version: 1\nreplies:\n  - text: done\n    expect: {"+expect+"}\n")
		_, err := ask(m, called("x", "grep"), c.heard)
		if err == nil || !strings.HasPrefix(err.Error(), "replay: the request for reply 1 is not what the script expects: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", expect, err)
		}
		if _, again := ask(m, called("x", "grep"), c.heard); again == nil || again.Error() != err.Error() {
			t.Errorf("%s: the reply was used up: %v", expect, again)
		}
	}
}

func TestExpectationsThatAreMetLetTheReplyPass(t *testing.T) {
	m := play(t, `
version: 1
replies:
  - text: a
    expect: {user_contains: hello}
  - text: b
    capture: {what: "is (.*)"}
    expect: {last_result_contains: "it is ${what}", results: [{exact: "it is \"x\\y\""}, {matches: "(?m)^no", failed: true}]}
    calls: [{name: echo, args: {say: "${what}!"}}]
`)
	if _, err := ask(m, msg.Say(msg.User, "oh hello")); err != nil {
		t.Error(err)
	}
	both := msg.Message{Role: msg.User, Blocks: msg.Blocks{
		msg.Result{Call: "x", Blocks: msg.Blocks{msg.Text{Text: `it is "x\y"`}}},
		msg.Result{Call: "y", Failed: true, Blocks: msg.Blocks{msg.Text{Text: "no\nit is \"x\\y\""}}},
	}}
	got, err := ask(m, msg.Message{Role: msg.Assistant, Blocks: msg.Blocks{msg.Call{ID: "x", Name: "f"}, msg.Call{ID: "y", Name: "g"}}}, both)
	if err != nil || got.Blocks.Calls()[0].Args != `{"say":"\"x\\y\"!"}` {
		t.Errorf("%+v %v", got, err)
	}
}

func TestRunningOutOfRepliesSaysSo(t *testing.T) {
	m := play(t, "version: 1\nreplies: [{text: a}]")
	_, _ = ask(m)
	_, err := ask(m)
	if err == nil || err.Error() != "replay: the script has 1 reply and was asked for one more; add a reply to it" {
		t.Error(err)
	}
}

func TestAScriptedFailureIsAProvidersFailure(t *testing.T) {
	m := play(t, "version: 1\nreplies: [{text: half, error: {kind: limit, status: 429, after: 3s, text: slow down}}]")
	got, err := ask(m)
	var e *model.Error
	if !errors.As(err, &e) || e.Kind != model.KindLimit || e.Status != 429 || e.After != 3*time.Second || e.Text != "replay: slow down" {
		t.Errorf("%#v", err)
	}
	if got.Blocks.Text() != "half" || got.Stop != "" {
		t.Errorf("%+v", got)
	}
}

func TestWaitingEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := play(t, "version: 1\nreplies: [{text: a, delay: 1h}, {text: b, delay: 1h}]")
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if _, err := m.Stream(ctx, model.Request{}, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		begin := time.Now()
		if _, err := ask(m); err != nil || time.Since(begin) != time.Hour {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
	})
}

func TestWhatIsToldIsWhatIsReplied(t *testing.T) {
	m := play(t, "version: 1\nreplies: [{reasoning: 'let me see', text: \"one two\\nthree \", calls: [{name: f}]}]")
	var told model.Delta
	got, err := m.Stream(context.Background(), model.Request{}, func(d model.Delta) {
		told.Text += d.Text
		told.Reasoning += d.Reasoning
		told.Call += d.Call
	})
	if want := (model.Delta{Text: "one two\nthree ", Reasoning: "let me see", Call: "f"}); err != nil || told != want || got.Blocks.Text() != want.Text {
		t.Errorf("%+v %+v %v", told, got, err)
	}
}

// hurried is a context under which no delay is waited for.
type hurried struct{ context.Context }

func (hurried) Done() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

func FuzzAScriptIsPlayedOrRefused(f *testing.F) {
	f.Add([]byte(twoReplies))
	f.Add([]byte("{\"version\":1}\n{\"text\":\"${a}\",\"capture\":{\"a\":\"b\"}}"))
	f.Add([]byte(recording))
	f.Add([]byte("{\"version\":1,\"recorded\":true}\n{\"blocks\":[{\"call\":\"\",\"args\":[\"base64\",\"/w==\"],\"values\":[\"pid1\"]}],\"request\":{\"afresh\":true,\"messages\":[]}}\n{\"te"))
	f.Add([]byte("version: 1\nreplies:\n- &a {text: x, calls: [{name: f, args: '{'}]}\n- *a"))
	f.Fuzz(func(t *testing.T, script []byte) {
		m, err := replay.New(script)
		if err != nil {
			if s := err.Error(); s == "" || strings.Contains(s, "\n") {
				t.Errorf("%q", s)
			}
			return
		}
		for range 20 {
			r, err := m.Stream(hurried{context.Background()}, model.Request{Messages: []msg.Message{called("x", "grep"), answered("x", "a 1")}}, nil)
			for _, b := range r.Blocks {
				if c, ok := b.(msg.Call); ok && !utf8.ValidString(c.Args) && !bytes.Contains(script, []byte("base64")) {
					t.Errorf("%q", c.Args)
				}
			}
			if !utf8.ValidString(r.Blocks.Text()) || err != nil && err.Error() == "" {
				t.Errorf("%+v %v", r, err)
			}
		}
	})
}
