package openai

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
)

// A request that was written in part from the one before has the bytes it would have by itself, whatever
// has changed in the conversation.
func TestARequestWrittenFromTheOneBeforeIsTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		return []string{"a", "", "<&>\u2028\x00\"\\é", strings.Repeat("long ", 50), "\xff"}[r.IntN(5)]
	}
	field := func() *string {
		if r.IntN(3) > 0 {
			return nil
		}
		s := text()
		return &s
	}
	some := func() (m message) {
		m.Role = []string{"user", "assistant", "tool"}[r.IntN(3)]
		switch r.IntN(4) {
		case 0, 1:
			m.Content = text()
		case 2:
			m.Content = []part{{Type: "text", Text: text()}}
		}
		m.ToolCallID, m.ReasoningContent, m.Reasoning = text(), field(), field()
		if r.IntN(3) == 0 {
			m.ReasoningDetails = json.RawMessage(`[{"text":"x"}]`)
		}
		for range r.IntN(3) {
			c := call{ID: text(), Type: "function", Function: callFunction{text(), text()}}
			if r.IntN(2) == 0 {
				c.Extra = json.RawMessage(`{"google":1}`)
			}
			m.ToolCalls = append(m.ToolCalls, c)
		}
		return m
	}
	var w written
	all := []message{}
	for round := range 2000 {
		all = append([]message{}, all...)
		switch n := len(all); {
		case n == 0 || r.IntN(3) > 0 && n < 30:
			all = append(all, some())
		case r.IntN(4) == 0:
			all = all[:r.IntN(n)]
		case r.IntN(3) == 0:
			all[r.IntN(n)] = some()
		case r.IntN(2) == 0: // only one thing in it
			m := &all[r.IntN(n)]
			switch r.IntN(6) {
			case 0:
				m.Content = text()
			case 1:
				m.ToolCallID = text()
			case 2:
				m.ReasoningContent = field()
			case 3:
				m.Reasoning = field()
			case 4:
				m.ReasoningDetails = nil
			default:
				m.ToolCalls = append([]call{}, m.ToolCalls...)
				for i := range m.ToolCalls {
					m.ToolCalls[i].Extra = nil
				}
			}
		}
		q := request{Model: text(), Messages: all}
		if r.IntN(2) == 0 {
			q.Tools = []tool{{"function", function{text(), text(), json.RawMessage(`{"type": "object"}`)}}}
		}
		want := string(encode(q))
		q.Messages = append([]message{}, all...)
		if got := string(w.encode(q)); got != want {
			t.Fatalf("round %d:\n got %s\nwant %s", round, got, want)
		}
	}
}

func TestARequestThatCannotBeWrittenIsNone(t *testing.T) {
	var w written
	bad := request{Messages: []message{{Role: "user", ReasoningDetails: json.RawMessage(`{`)}}}
	if b := w.encode(bad); b != nil {
		t.Errorf("%s", b)
	}
	bad = request{Tools: []tool{{"function", function{"f", "", json.RawMessage(`{`)}}}, Messages: []message{}}
	if b := w.encode(bad); b != nil {
		t.Errorf("%s", b)
	}
	if b := w.encode(request{Messages: []message{}}); !json.Valid(b) || !strings.HasSuffix(string(b), `"messages":[]}`) {
		t.Errorf("%s", b)
	}
}
