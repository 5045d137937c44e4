package tape_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"jig/internal/model"
	"jig/internal/model/tape"
	"jig/internal/msg"
)

// written is what comes back of blocks that were written to a file and read from it.
func written(t *testing.T, by, back *tape.Values, b msg.Blocks) (string, msg.Blocks) {
	t.Helper()
	var file bytes.Buffer
	e := json.NewEncoder(&file)
	e.SetEscapeHTML(false)
	if err := e.Encode(by.Said(b)); err != nil {
		t.Fatal(err)
	}
	if !utf8.Valid(file.Bytes()) || bytes.Count(file.Bytes(), []byte("\n")) != 1 {
		t.Errorf("not one line of text: %q", file.Bytes())
	}
	var parts []tape.Part
	d := json.NewDecoder(bytes.NewReader(file.Bytes()))
	d.DisallowUnknownFields()
	if err := d.Decode(&parts); err != nil {
		t.Fatalf("%v: %s", err, file.Bytes())
	}
	return file.String(), back.Speak(parts)
}

func TestWhatAModelSaidComesBackByteForByte(t *testing.T) {
	said := msg.Blocks{
		msg.Reasoning{Text: "hm", Raw: []byte(`{"type":"thinking", "signature":"a+b/c==\u2028<&>"}`)},
		msg.Reasoning{Raw: []byte{0xff, 0, 0xfe}},
		msg.Text{Text: "two\r\nlines\t\u2028 <b> & \"q\" 😀 \ufffd\x00", Raw: []byte("[]")},
		msg.Text{},
		msg.Call{Given: "toolu_1", Name: "f", Args: `{"b":1,"a":"<x>\u00e9é` + "\u2028" + `","a":1e400}`, Raw: []byte(`{ }`)},
		msg.Call{Name: "f", Args: `{ "spaced": true }`},
		msg.Call{Name: "f", Args: `{"cut": "in the mid`},
		msg.Call{Name: "f", Args: "\xff{}"},
		msg.Call{Name: "", Args: ""},
		msg.Call{Name: "f", Args: "null"},
		msg.Call{Name: "f", Args: strings.Repeat(`{"a":`, 9999) + "1" + strings.Repeat("}", 9999)},
		msg.Image{MIME: "image/png", Data: []byte{1, 2, 255}},
		msg.Text{Text: "after the calls"},
	}
	v := tape.NewValues(nil, nil)
	file, back := written(t, v, v, said)
	if d := cmp.Diff(said, back); d != "" {
		t.Error(d)
	}
	if !strings.Contains(file, `"args":{"b":1,"a":"<x>`) {
		t.Errorf("arguments are not written as people read them: %.300s", file)
	}
}

func sent(texts ...string) model.Request {
	r := model.Request{System: "s"}
	for _, s := range texts {
		r.Messages = append(r.Messages, msg.Say(msg.User, s))
	}
	return r
}

func TestArgumentsMeanInAnotherRunWhatTheyMeantInTheFirst(t *testing.T) {
	was := tape.NewValues([]tape.Place{{Name: "root", Path: "/home/ann/p"}, {Name: "home", Path: "/home/ann"}}, nil)
	is := tape.NewValues([]tape.Place{{Name: "root", Path: `/srv/a "b"`}, {Name: "home", Path: "/root"}}, nil)
	was.Take("job b1 (pid 4242). Output: /tmp/jig-jobs/4000/b1.log and (pid 7), in /tmp/x1/y")
	is.Take("job b1 (pid 5353). Output: /tmp/jig-jobs/5000/b1.log and (pid 9), in /var/tmp/x2/y")
	for args, want := range map[string]string{
		`{"command":"kill 4242; tail /tmp/jig-jobs/4000/b1.log"}`: `{"command":"kill 5353; tail /tmp/jig-jobs/5000/b1.log"}`,
		`{"command":"kill -9 7; head -n 7"}`:                      `{"command":"kill -9 9; head -n 7"}`,
		`{"path":"/home/ann/p/a.go","b":"/home/ann/x"}`:           `{"path":"/srv/a \"b\"/a.go","b":"/root/x"}`,
		`{"path":"/home/ann/pp","b":"/home/annex","c":"x4242"}`:   `{"path":"/root/pp","b":"/home/annex","c":"x4242"}`,
		`{"pid":4242,"path":"/home/ann/p"}`:                       `{"pid":5353,"path":"/srv/a \"b\""}`,
		`{"command":"ls /tmp/x1/z"}`:                              `{"command":"ls /var/tmp/x2/z"}`,
		`{"command":"echo ${pid1} 4242 ${root}"}`:                 `{"command":"echo ${pid1} 4242 ${root}"}`,
		`{"command":"kill 4242`:                                   `{"command":"kill 5353`,
	} {
		_, back := written(t, was, is, msg.Blocks{msg.Call{Name: "f", Args: args}})
		if got := back[0].(msg.Call).Args; got != want {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
}

func TestKeysAreNeverWritten(t *testing.T) {
	const key = `sk-"a/b+c\d`
	v := tape.NewValues(nil, []string{key, "short", "other-secret"})
	said := msg.Blocks{
		msg.Text{Text: "it is " + key, Raw: []byte(`{"t":"sk-\"a/b+c\\d"}`)},
		msg.Reasoning{Text: key, Raw: []byte(key)},
		msg.Call{Given: key, Name: key, Args: `{"a":"sk-\"a/b+c\\d","b":"sk-%22a%2Fb%2Bc%5Cd","c":"c2stImEvYitjXGQ=","d":"other-secret","e":"short"}`, Raw: []byte("other-secret")},
	}
	file, _ := written(t, v, v, said)
	r := sent("read "+key, `{"k":"sk-\"a/b+c\\d"}`)
	r.System = key
	r.Tools = []model.Tool{{Name: "f", Doc: key, Input: json.RawMessage(`{"d":"other-secret"}`)}}
	r.Messages = append(r.Messages,
		msg.Message{Role: msg.Assistant, Blocks: msg.Blocks{msg.Call{ID: "c", Given: key, Name: key, Args: key}}},
		msg.Message{Role: msg.User, Blocks: msg.Blocks{msg.Result{Call: "c", Blocks: msg.Blocks{msg.Text{Text: key}}}}})
	asked, err := json.Marshal(tape.NewTalk(v).Ask(r, false))
	if err != nil {
		t.Fatal(err)
	}
	for _, form := range []string{"a/b", "a%2Fb", `sk-`, "c2stImEv", "other-secret"} {
		if strings.Contains(file, form) || strings.Contains(string(asked), form) {
			t.Errorf("%s is in the recording:\n%s\n%s", form, file, asked)
		}
	}
	if !strings.Contains(file, "short") {
		t.Error("a word of five bytes was taken for a key")
	}
}

func TestAConversationIsWrittenOnce(t *testing.T) {
	talk := tape.NewTalk(tape.NewValues(nil, nil))
	texts := func(q tape.Request) (out []string) {
		for _, m := range q.Messages {
			for _, p := range m.Blocks {
				if p.Text != nil {
					out = append(out, string(*p.Text))
				}
			}
		}
		return out
	}
	first := sent("one")
	if q := talk.Ask(first, false); q.Afresh || strings.Join(texts(q), "|") != "one" {
		t.Errorf("%+v", q)
	}
	reply := msg.Blocks{msg.Text{Text: "hm"}, msg.Call{Name: "f", Args: "{}"}}
	talk.Answered(first, reply, true)
	second := sent("one")
	second.Messages = append(second.Messages,
		msg.Message{Role: msg.Assistant, Provider: "p", Blocks: msg.Blocks{msg.Text{Text: "hm"}, msg.Call{ID: "call00001", Name: "f", Args: "{}"}}},
		msg.Message{Role: msg.User, Blocks: msg.Blocks{msg.Result{Call: "call00001"}}}, msg.Say(msg.User, "job"))
	talk.Notice("job")
	q := talk.Ask(second, false)
	if q.Afresh || len(q.Messages) != 2 || string(*q.Messages[0].Blocks[0].Result) != "f" || !q.Messages[1].Notice {
		t.Errorf("%+v", q)
	}
	talk.Answered(second, nil, false) // it failed
	third := second
	third.Messages = append(third.Messages[:4:4], msg.Say(msg.User, "again"))
	if q := talk.Ask(third, false); q.Afresh || strings.Join(texts(q), "|") != "again" {
		t.Errorf("%+v", q)
	}
	talk.Answered(third, nil, true)
	if q := talk.Ask(sent("a summary"), false); !q.Afresh || strings.Join(texts(q), "|") != "a summary" {
		t.Errorf("%+v", q)
	}
}

func TestTheManualListsWhatIsNotCompared(t *testing.T) {
	manual, err := os.ReadFile("../../../docs/replay.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range tape.Rules() {
		if row := "| `" + r[0] + "` | " + r[1] + " |\n"; !strings.Contains(string(manual), row) {
			t.Errorf("docs/replay.md lacks %s", row)
		}
	}
	if n := strings.Count(string(manual), "\n| `${"); n != len(tape.Rules()) {
		t.Errorf("docs/replay.md lists %d, there are %d", n, len(tape.Rules()))
	}
}

func FuzzWhatAModelSaidComesBack(f *testing.F) {
	f.Add("kill 4242", `{"command":"kill 4242 ${pid1}"}`, []byte(nil))
	f.Add("\xff", `{"base64":"x"}`, []byte{0xff})
	f.Add("a", `["base64","eA=="]`, []byte(`"`))
	f.Fuzz(func(t *testing.T, text, args string, raw []byte) {
		v := tape.NewValues([]tape.Place{{Name: "root", Path: "/w"}, {Name: "temp", Path: `C:\T`}}, nil)
		v.Take("pid 4242 in C:\\T\\a, pid 3. " + text)
		if len(raw) == 0 {
			raw = nil
		}
		said := msg.Blocks{msg.Text{Text: text, Raw: raw}, msg.Call{Name: "f", Given: "i", Args: args, Raw: raw}}
		if _, back := written(t, v, v, said); !cmp.Equal(said, back) {
			t.Error(cmp.Diff(said, back))
		}
	})
}
