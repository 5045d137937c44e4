package openai

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"jig/internal/model"
	"jig/internal/msg"
)

// chance makes messages in which everything occurs that decides how they are written.
type chance struct {
	*rand.Rand
	calls []string // that were made
}

func (r *chance) text() string {
	return []string{"a", "", "<&>\u2028\x00\"\\é", strings.Repeat("long ", 50), "\xff"}[r.IntN(5)]
}

func (r *chance) raw(what ...string) []byte {
	if n := r.IntN(len(what) + 1); n < len(what) {
		return []byte(what[n])
	}
	return nil
}

func (r *chance) blocks(deep bool) (out msg.Blocks) {
	for range r.IntN(4) {
		switch r.IntN(5) {
		case 0, 1:
			out = append(out, msg.Text{Text: r.text()})
		case 2:
			out = append(out, msg.Image{MIME: "image/png", Data: []byte(r.text())})
		case 3:
			if len(r.calls) > 0 && deep {
				out = append(out, msg.Result{Call: r.calls[r.IntN(len(r.calls))], Blocks: r.blocks(false)})
			}
		}
	}
	return out
}

func (r *chance) message() msg.Message {
	if r.IntN(2) == 0 {
		return msg.Message{Role: msg.User, Blocks: r.blocks(true)}
	}
	m := msg.Message{Role: msg.Assistant, Provider: []string{"p", "q"}[r.IntN(2)], Model: []string{"m", "n"}[r.IntN(2)]}
	if r.IntN(2) == 0 {
		m.Blocks = append(m.Blocks, msg.Reasoning{Text: "t", Raw: r.raw(`{"reasoning_content":"t"}`, `{"reasoning":""}`, `{"reasoning_details":[{"type":"x"}]}`, `{"content":"mistral"}`)})
	}
	if r.IntN(2) == 0 {
		m.Blocks = append(m.Blocks, msg.Text{Text: r.text()})
	}
	for range r.IntN(3) {
		c := msg.Call{ID: fmt.Sprintf("call%05d", len(r.calls)+1), Given: []string{"", "x", "call00001"}[r.IntN(3)], Name: r.text(), Args: `{"a":1}`, Raw: r.raw(`{"extra_content":{"google":1}}`)}
		r.calls = append(r.calls, c.ID)
		m.Blocks = append(m.Blocks, c)
	}
	return m
}

// changed is a conversation as it may be at the next request.
func (r *chance) changed(all []msg.Message) []msg.Message {
	all = append([]msg.Message{}, all...)
	n := len(all)
	switch {
	case n == 0 || r.IntN(4) > 0 && n < 30:
		for range 1 + r.IntN(2) {
			all = append(all, r.message())
		}
	case r.IntN(3) == 0:
		all = all[:r.IntN(n)]
	case r.IntN(2) == 0:
		all[r.IntN(n)] = r.message()
	default: // in place, which nobody should
		if x := all[r.IntN(n)].Blocks; len(x) > 0 {
			x[r.IntN(len(x))] = msg.Text{Text: r.text()}
		}
	}
	return all
}

// A request that was written in part for the one before has the bytes it would have by itself, whatever
// has changed in the conversation.
func TestARequestWrittenFromTheOneBeforeIsTheSame(t *testing.T) {
	r := &chance{Rand: rand.New(rand.NewPCG(1, 2))}
	for _, base := range []string{"", "https://api.openai.com", "https://openrouter.ai/api/v1"} {
		m := New(Options{Provider: "p", URL: base})
		var all []msg.Message
		q, w := model.Request{Model: "m"}, without{}
		whole := 0
		for round := range 3000 {
			all = r.changed(all)
			if r.IntN(10) == 0 {
				q.Model, q.System = []string{"m", "anthropic/m"}[r.IntN(2)], r.text()
				w = without{thoughts: r.IntN(4) == 0, padded: r.IntN(4) == 0, between: r.IntN(4) == 0}
				q.Tools = nil
				if r.IntN(2) == 0 {
					q.Tools = []model.Tool{{Name: "t", Input: json.RawMessage(`{"type": "object"}`)}}
				}
			}
			q.Messages = all
			was := m.conversation.last
			got, err := m.body(q, w)
			if err != nil || !json.Valid(got) {
				t.Fatalf("%v: %s", err, got)
			}
			if m.conversation.last == was {
				whole++
			}
			want, err := New(Options{Provider: "p", URL: base}).body(q, w)
			if err != nil || string(got) != string(want) {
				t.Fatalf("round %d:\n got %s\nwant %s", round, got, want)
			}
		}
		if whole < 1000 {
			t.Errorf("only %d of the requests went on from the one before", whole)
		}
	}
}

func TestARequestThatCannotBeWrittenIsNone(t *testing.T) {
	m := New(Options{})
	if b, err := m.body(model.Request{Tools: []model.Tool{{Name: "f", Input: json.RawMessage(`{`)}}}, without{}); err == nil {
		t.Errorf("%s", b)
	}
	if b, err := m.body(model.Request{}, without{}); err != nil || !strings.HasSuffix(string(b), `"messages":[]}`) || !json.Valid(b) {
		t.Errorf("%v: %s", err, b)
	}
}
