package host_test

import (
	"encoding/json"
	"strings"
	"testing"

	"jig/internal/host"
	"jig/internal/proto"
)

func TestNothingButAModelsOwnWordsIsLoggedWithAKey(t *testing.T) {
	const key = "sk-secret"
	k := &kept{}
	r := startGoal(t, host.Setup{Log: k, Mask: func(s string) string { return strings.ReplaceAll(s, key, "[key]") }}, 0,
		uses("create_goal", `{"objective":"use sk-secret"}`), uses("update_goal", `{"status":"blocked"}`), says("I lack sk-secret."), fails("refused sk-secret"))
	r.do(t, proto.Submit{Text: "look: " + key})
	r.until(1, nil)
	r.do(t, proto.Rename{Title: "about " + key})
	r.do(t, proto.SetGoal{Objective: "find " + key})
	r.until(2, nil)
	r.h.Close()
	own, title := 0, ""
	for _, f := range k.facts {
		b, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		if s, ok := f.(proto.Said); ok && s.Message.Role == "assistant" {
			own += strings.Count(string(b), key)
			continue
		}
		if x, ok := f.(proto.Titled); ok {
			title = x.Title
		}
		if strings.Contains(string(b), key) {
			t.Errorf("%T: %s", f, b)
		}
	}
	if own != 2 || title != "about [key]" {
		t.Errorf("%d of the model's own words, title %q", own, title)
	}
	// Who provides the model needs none of them either.
	for _, q := range r.model.sent {
		for _, m := range q {
			if m.Role == "user" && strings.Contains(m.Blocks.Text(), key) {
				t.Errorf("sent %q", m.Blocks.Text())
			}
		}
	}
}
