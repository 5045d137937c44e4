package replay_test

import (
	"strings"
	"testing"

	"jig/internal/model"
	"jig/internal/model/replay"
	"jig/internal/model/tape"
	"jig/internal/msg"
)

const recording = `{"version":1,"recorded":true}
{"request":{"system":"You are in ${root}.\nBe brief.","tools":[{"name":"grep","doc":"finds","input":{"type":"object"}}],"settings":{"reasoning":"low"},"messages":[{"role":"user","blocks":[{"text":"go"}]}]},"blocks":[{"text":"I look."},{"call":"grep","id":"toolu_1","args":{"path":"${root}/a"},"values":["root"]}],"usage":{"input_tokens":9,"output_tokens":3,"cache_read_tokens":0,"cache_write_tokens":0},"stop":"calls"}
{"request":{"messages":[{"role":"user","blocks":[{"result":"grep","id":"call00001","blocks":[{"text":"${root}/a:1: x\nkey ${key}\nin ${duration}"}]}]},{"role":"user","notice":true,"blocks":[{"text":"b1 ended"}]}]},"blocks":[{"text":"Done."}],"stop":"end"}
`

func first() model.Request {
	return model.Request{System: "You are in /p.\nBe brief.", Reasoning: "low",
		Tools:    []model.Tool{{Name: "grep", Doc: "finds", Input: []byte(`{"type": "object"}`)}},
		Messages: []msg.Message{msg.Say(msg.User, "go")}}
}

func second(result string) model.Request {
	r := first()
	r.Messages = append(r.Messages,
		msg.Message{Role: msg.Assistant, Provider: "rec", Blocks: msg.Blocks{msg.Text{Text: "I look."}, msg.Call{ID: "call00001", Given: "toolu_1", Name: "grep", Args: `{"path":"/p/a"}`}}},
		answered("call00001", result), msg.Say(msg.User, "b1 ended"))
	return r
}

const asItWas = "/p/a:1: x\nkey sk-99887766\nin 3.2s"

func at(t *testing.T, script string) *replay.Model {
	t.Helper()
	m := play(t, script)
	m.At([]tape.Place{{Name: "root", Path: "/p"}}, []string{"sk-99887766"})
	return m
}

func TestARecordingPlaysWhereOnlyWhatMayDifferDoes(t *testing.T) {
	for name, script := range map[string]string{
		"lines": recording,
		"yaml": `
version: 1
recorded: true
replies:
  - request:
      system: "You are in ${root}.\nBe brief."
      tools: [{name: grep, doc: finds, input: {type: object}}]
      settings: {reasoning: low}
      messages: [{role: user, blocks: [{text: go}]}]
    blocks: [{text: I look.}, {call: grep, id: toolu_1, args: {path: "${root}/a"}, values: [root]}]
  - request:
      messages:
        - {role: user, blocks: [{result: grep, id: call00001, blocks: [{text: "${root}/a:1: x\nkey ${key}\nin ${duration}"}]}]}
        - {role: user, notice: true, blocks: [{text: b1 ended}]}
    blocks: [{text: Done.}]
`} {
		m := at(t, script)
		if n, known := m.Notices(); n != 0 || !known {
			t.Errorf("%s: %d notices, %v", name, n, known)
		}
		got, err := m.Stream(t.Context(), first(), nil)
		if err != nil || got.Stop != model.StopCalls || got.Blocks.Calls()[0].Args != `{"path":"/p/a"}` {
			t.Fatalf("%s: %+v %v", name, got, err)
		}
		if n, known := m.Notices(); n != 1 || !known {
			t.Errorf("%s: %d notices, %v", name, n, known)
		}
		if got, err = m.Stream(t.Context(), second(asItWas), nil); err != nil || got.Blocks.Text() != "Done." {
			t.Errorf("%s: %+v %v", name, got, err)
		}
		if _, known := m.Notices(); known {
			t.Errorf("%s: there is no next request", name)
		}
	}
}

func TestARequestThatDiffersIsAnErrorThatNamesTheDifference(t *testing.T) {
	hot := 0.5
	for want, change := range map[string]func(a, b *model.Request){
		`reply 1 is not as it was recorded: the system prompt, line 2: expected "Be brief.", got "Be long."`:                            func(a, _ *model.Request) { a.System = "You are in /p.\nBe long." },
		`reply 1 is not as it was recorded: the system prompt, line 2: expected "Be brief.", got no such line`:                          func(a, _ *model.Request) { a.System = "You are in /p." },
		`reply 1 is not as it was recorded: the description of the tool grep: expected "finds", got "seeks"`:                            func(a, _ *model.Request) { a.Tools[0].Doc = "seeks" },
		`reply 1 is not as it was recorded: the schema of the tool grep: expected "{\"type\":\"object\"}", got "{\"type\":\"string\"}"`: func(a, _ *model.Request) { a.Tools[0].Input = []byte(`{"type":"string"}`) },
		`reply 1 is not as it was recorded: the tools: expected one named grep, which is not there`:                                     func(a, _ *model.Request) { a.Tools = nil },
		`reply 2 is not as it was recorded: the tools: got one more, named glob`:                                                        func(_, b *model.Request) { b.Tools = append(b.Tools, model.Tool{Name: "glob"}) },
		`reply 1 is not as it was recorded: the reasoning level: expected low, got none`:                                                func(a, _ *model.Request) { a.Reasoning = "" },
		`reply 2 is not as it was recorded: the temperature: expected none, got 0.5`:                                                    func(_, b *model.Request) { b.Temperature = &hot },
		`reply 2 is not as it was recorded: the output limit: expected 0, got 7`:                                                        func(_, b *model.Request) { b.MaxOutput = 7 },
		`reply 1 is not as it was recorded: message 1, words of the user's side: expected "go", got "stop"`:                             func(a, _ *model.Request) { a.Messages[0] = msg.Say(msg.User, "stop") },
		`reply 2 is not as it was recorded: message 1 is not what it was in the request before: expected "go", got "stop"`:              func(_, b *model.Request) { b.Messages[0] = msg.Say(msg.User, "stop") },
		`reply 2 is not as it was recorded: message 2 is not what it was in the request before: expected "I look.", got "I look!"`:      func(_, b *model.Request) { b.Messages[1].Blocks[0] = msg.Text{Text: "I look!"} },
		`reply 2 is not as it was recorded: message 3, the result of grep, line 1: expected "${root}/a:1: x", got "${root}/a:1: y"`:     func(_, b *model.Request) { b.Messages[2] = answered("call00001", "/p/a:1: y\nkey k\nin 1s") },
		`reply 2 is not as it was recorded: message 3, the result of grep, line 3: expected "in ${duration}", got no such line`:         func(_, b *model.Request) { b.Messages[2] = answered("call00001", "/p/a:1: x\nkey k") },
		`reply 2 is not as it was recorded: message 3, expected the result of grep, "${root}/a:1: x\nkey ${key}\nin ${duration}", got a failure of grep, "no"`: func(_, b *model.Request) {
			b.Messages[2] = msg.Message{Role: msg.User, Blocks: msg.Blocks{msg.Result{Call: "call00001", Failed: true, Blocks: msg.Blocks{msg.Text{Text: "no"}}}}}
		},
		`reply 2 is not as it was recorded: message 4, expected words of the user's side, "b1 ended", got nothing`:      func(_, b *model.Request) { b.Messages = b.Messages[:3] },
		`reply 2 is not as it was recorded: message 5, expected nothing, got words of the user's side, "key is ${key}"`: func(_, b *model.Request) { b.Messages = append(b.Messages, msg.Say(msg.User, "key is sk-99887766")) },
	} {
		m := at(t, recording)
		a, b := first(), second(asItWas)
		change(&a, &b)
		_, err := m.Stream(t.Context(), a, nil)
		if err == nil {
			_, err = m.Stream(t.Context(), b, nil)
			if _, again := m.Stream(t.Context(), b, nil); again == nil || err != nil && again.Error() != err.Error() {
				t.Errorf("%s: asked again: %v", want, again)
			}
		}
		if err == nil || err.Error() != "replay: the request for "+want || kindOf(err) != model.KindRequest {
			t.Errorf("want %s\n got %v", want, err)
		}
	}
}

func TestALongLineIsShownWhereItDiffers(t *testing.T) {
	m := at(t, recording)
	_, _ = m.Stream(t.Context(), first(), nil)
	long := strings.ReplaceAll(recording, ":1: x", ":1: "+strings.Repeat("é", 500)+"x")
	m = at(t, long)
	_, _ = m.Stream(t.Context(), first(), nil)
	_, err := m.Stream(t.Context(), second("/p/a:1: "+strings.Repeat("é", 500)+"y\nkey k\nin 1s"), nil)
	if err == nil || !strings.Contains(err.Error(), `éx", got "…`) || len(err.Error()) > 400 {
		t.Error(err)
	}
}

func TestARecordingCanBePlayedLoosely(t *testing.T) {
	for name, script := range map[string]string{
		"all of it":   strings.Replace(recording, `"recorded":true`, `"recorded":false`, 1),
		"one request": strings.Join(strings.SplitAfter(recording, "\n")[:2], "") + `{"blocks":[{"text":"Done."}]}`,
	} {
		m := at(t, script)
		got, err := m.Stream(t.Context(), first(), nil)
		if err != nil || got.Blocks.Calls()[0].Args != `{"path":"/p/a"}` {
			t.Errorf("%s: %+v %v", name, got, err)
		}
		if got, err = m.Stream(t.Context(), second("something else"), nil); err != nil || got.Blocks.Text() != "Done." {
			t.Errorf("%s: %+v %v", name, got, err)
		}
	}
}

// A shell takes a name that stands for nothing for nothing: rm -rf ${temp1}/out would be rm -rf /out.
func TestACallWhoseNameStandsForNothingIsNotMade(t *testing.T) {
	m := at(t, `{"version":1,"recorded":false}
{"blocks":[{"call":"shell","args":{"command":"rm -rf ${temp1}/out"},"values":["temp1"]}]}`)
	got, err := m.Stream(t.Context(), first(), nil)
	if err == nil || len(got.Blocks) > 0 || !strings.HasPrefix(err.Error(), "replay: reply 1 calls with ${temp1}, and nothing in this run is known to be that") {
		t.Errorf("%+v %v", got, err)
	}
}

func TestBlocksOfAWrittenScriptTakeValues(t *testing.T) {
	m := play(t, "version: 1\nreplies:\n  - {capture: {n: '(\\d+)'}, blocks: [{call: f, args: {a: \"${n}\"}}, {text: \"it is ${n}\"}]}")
	got, err := ask(m, called("x", "grep"), answered("x", "a 42"))
	if err != nil || got.Blocks.Text() != "it is 42" || got.Blocks.Calls()[0].Args != `{"a":"42"}` {
		t.Errorf("%+v %v", got, err)
	}
	for script, want := range map[string]string{
		"version: 1\nreplies: [{blocks: [{text: a, call: b}]}]":                           "reply 1: block 1 must have one of text, reasoning, call and image",
		"version: 1\nreplies: [{blocks: [{result: a}]}]":                                  "reply 1: block 1 must have one of",
		"version: 1\nreplies: [{text: a, blocks: [{text: a}]}]":                           "reply 1: blocks stand in place of text, reasoning and calls",
		"version: 1\nreplies: [{blocks: [{txt: a}]}]":                                     `unknown field "txt"`,
		"{\"version\":1}\n{\"blocks\":[{\"call\":\"f\",\"args\":7}]}":                     "args must be an object or a string",
		"{\"version\":1}\n{\"blocks\":[{\"text\":[\"base64\",\"/w==\"]}]}":                "block 1 is not UTF-8 text",
		"{\"version\":1}\n{\"blocks\":[{\"text\":[\"hex\",\"00\"]}]}":                     `is neither a string nor ["base64", "…"]`,
		"version: 1\nreplies: [{blocks: [{text: \"${n}\"}]}, {text: b, capture: {n: x}}]": "reply 1: it uses ${n}, which is only captured in reply 2",
	} {
		if _, err := replay.New([]byte(script)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", script, err)
		}
	}
}

// What a person typed is the task: another date, duration or path in it is another one.
func TestAnotherTaskIsNotTakenForTheRecordedOne(t *testing.T) {
	for was, is := range map[string]string{
		"set the timeout to 30s from 2024-05-01 12:00:00": "set the timeout to 99h from 1999-05-01 12:00:00",
		"delete /tmp/a and kill process 12":               "delete /tmp/b and kill process 99",
	} {
		script := strings.Replace(recording, `{"text":"go"}`, `{"text":"`+was+`"}`, 1)
		for words, same := range map[string]bool{was: true, is: false} {
			r := first()
			r.Messages[0] = msg.Say(msg.User, words)
			_, err := at(t, script).Stream(t.Context(), r, nil)
			if same != (err == nil) {
				t.Errorf("%s: %v", words, err)
			}
			if err != nil && !strings.Contains(err.Error(), "words of the user's side: expected") {
				t.Error(err)
			}
		}
	}
}

func TestAJobsReportIsNotWhatAPersonTyped(t *testing.T) {
	script := strings.Replace(recording, `{"text":"b1 ended"}`, `{"text":"ended after ${duration}"}`, 1)
	for notice, same := range map[bool]bool{true: true, false: false} {
		m := at(t, script)
		_, _ = m.Stream(t.Context(), first(), nil)
		r := second(asItWas)
		r.Messages[len(r.Messages)-1] = msg.Say(msg.User, "ended after 3s")
		if notice {
			m.Notice("ended after 3s")
		}
		if _, err := m.Stream(t.Context(), r, nil); same != (err == nil) {
			t.Errorf("a notice %v: %v", notice, err)
		}
	}
}
