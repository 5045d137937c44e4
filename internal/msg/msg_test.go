package msg_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"jig/internal/msg"
)

func TestEveryBlockSurvivesWritingAndReading(t *testing.T) {
	in := msg.Message{Role: msg.Assistant, Provider: "p", Model: "m", Blocks: msg.Blocks{
		msg.Text{Text: "<a> & é", Raw: []byte(`{"id":"msg_1"}`)},
		msg.Image{MIME: "image/png", Data: []byte{0, 255}},
		msg.Reasoning{Text: "hm", Raw: []byte(`{"signature":"x"}`)},
		msg.Call{ID: "call00001", Given: "toolu_1", Name: "read_file", Args: `{"path":`},
		msg.Result{Call: "call00001", Blocks: msg.Blocks{msg.Text{Text: "ok"}}, Failed: true},
	}}
	b, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var out msg.Message
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(in, out); d != "" {
		t.Error(d)
	}
}

func TestUnknownBlockIsRefused(t *testing.T) {
	var out msg.Blocks
	if err := json.Unmarshal([]byte(`[{"type":"hologram"}]`), &out); err == nil {
		t.Errorf("read as %v", out)
	}
}

func TestUsageTotalCountsCachedInputOnce(t *testing.T) {
	u := msg.Usage{Input: 100, Output: 10, CacheRead: 80, CacheWrite: 5}.Add(msg.Usage{Input: 1, Output: 2})
	if u.Total() != 113 || u.CacheRead != 80 {
		t.Errorf("%+v total %d", u, u.Total())
	}
}

func TestTextIsWrittenAsItReads(t *testing.T) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(msg.Say(msg.User, "a < b && c > d")); err != nil {
		t.Fatal(err)
	}
	if want := `{"role":"user","blocks":[{"type":"text","text":"a < b && c > d"}]}` + "\n"; b.String() != want {
		t.Errorf("%s", b.String())
	}
}
