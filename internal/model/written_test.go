package model_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"jig/internal/model"
	"jig/internal/model/anthropic"
	"jig/internal/model/endpoint"
	"jig/internal/model/gemini"
	"jig/internal/model/openai"
	"jig/internal/model/openresponses"
	"jig/internal/msg"
)

// sends makes a model of each dialect that gives the bytes of a request instead of making it.
var sends = map[string]func() func(model.Request) string{
	"openai":        func() func(model.Request) string { t := &kept{}; return t.send(openai.New(t.options())) },
	"anthropic":     func() func(model.Request) string { t := &kept{}; return t.send(anthropic.New(t.options())) },
	"openresponses": func() func(model.Request) string { t := &kept{}; return t.send(openresponses.New(t.options())) },
	"gemini":        func() func(model.Request) string { t := &kept{}; return t.send(gemini.New(t.options())) },
}

// kept is a transport that keeps what it is given and refuses it.
type kept struct{}

type bodyOf struct{}

func (t *kept) options() endpoint.Options {
	return endpoint.Options{Provider: "p", URL: "http://127.0.0.1", Transport: t}
}

func (t *kept) RoundTrip(r *http.Request) (*http.Response, error) {
	b, err := io.ReadAll(r.Body)
	*r.Context().Value(bodyOf{}).(*string) = string(b)
	return &http.Response{StatusCode: http.StatusUnauthorized, Body: http.NoBody}, err
}

func (t *kept) send(m model.Model) func(model.Request) string {
	return func(r model.Request) string {
		var body string
		_, _ = m.Stream(context.WithValue(context.Background(), bodyOf{}, &body), r, nil)
		return body
	}
}

// chance makes messages in which everything occurs that decides how they are written.
type chance struct {
	*rand.Rand
	calls []string // that were made
}

func (r *chance) of(list ...string) string { return list[r.IntN(len(list))] }

func (r *chance) text() string {
	return r.of("a", "", " ", "<&>\u2028\x00\"\\é", strings.Repeat("long ", 50), "\xff")
}

func (r *chance) raw() []byte {
	return []byte(r.of("",
		`{"type":"thinking","thinking":"t <","signature":"s"}`, `{"type": "redacted_thinking", "data": "x"}`, `{"type":"thinking","thinking":"t","signature":""}`,
		`{"text":"t","thought":true,"thoughtSignature":"s"}`, `{"thoughtSignature":"s2"}`,
		`{"type": "reasoning", "id": "rs_1", "encrypted_content": "e"}`, `{"type":"message","id":"msg_1","phase":"commentary"}`, `{"type":"function_call","id":"fc_1"}`,
		`{"reasoning_content":"t"}`, `{"extra_content":{"google":1}}`))
}

func (r *chance) blocks(deep bool) (out msg.Blocks) {
	for range r.IntN(4) {
		switch r.IntN(5) {
		case 0, 1:
			out = append(out, msg.Text{Text: r.text()})
		case 2:
			out = append(out, msg.Image{MIME: r.of("image/png", "image/gif"), Data: []byte(r.text())})
		case 3:
			if len(r.calls) > 0 && deep {
				out = append(out, msg.Result{Call: r.of(r.calls...), Failed: r.IntN(3) == 0, Blocks: r.blocks(false)})
			}
		}
	}
	return out
}

func (r *chance) message() msg.Message {
	if r.IntN(2) == 0 {
		return msg.Message{Role: msg.User, Blocks: r.blocks(true)}
	}
	m := msg.Message{Role: msg.Assistant, Provider: r.of("p", "p", "q"), Model: r.of("m", "gemini-3-pro", "claude-x")}
	for range r.IntN(5) {
		switch r.IntN(3) {
		case 0:
			m.Blocks = append(m.Blocks, msg.Reasoning{Text: "t", Raw: r.raw()})
		case 1:
			m.Blocks = append(m.Blocks, msg.Text{Text: r.text(), Raw: r.raw()})
		case 2:
			c := msg.Call{ID: fmt.Sprintf("call%05d", len(r.calls)+1), Given: r.of("", "x", "call00001"), Name: r.text(), Args: r.of(`{"a": 1}`, `{`, `{"a":"\ud83d"}`), Raw: r.raw()}
			r.calls = append(r.calls, c.ID)
			m.Blocks = append(m.Blocks, c)
		}
	}
	return m
}

// changed is a conversation as it may be at the next request.
func (r *chance) changed(all []msg.Message) []msg.Message {
	all = slices.Clone(all)
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

// A request of which a part was written for the one before has the bytes it would have by itself, whatever
// has changed in the conversation.
func TestWhatWasWrittenForTheRequestBeforeIsTheSame(t *testing.T) {
	for name, start := range sends {
		r := &chance{Rand: rand.New(rand.NewPCG(1, 2))}
		again := start()
		var q model.Request
		for round := range 3000 {
			q.Messages = r.changed(q.Messages)
			if round == 0 || r.IntN(10) == 0 {
				q.Model, q.System, q.Reasoning = r.of("m", "gemini-3-pro", "claude-x"), r.text(), r.of("", "low")
				q.Tools = nil
				if r.IntN(2) == 0 {
					q.Tools = []model.Tool{{Name: "t", Input: json.RawMessage(`{"type": "object"}`)}}
				}
			}
			got, want := again(q), start()(q)
			if got != want || !json.Valid([]byte(got)) {
				t.Fatalf("%s, round %d:\n got %s\nwant %s", name, round, got, want)
			}
		}
	}
}

// Several agents ask one model at the same time, some of them with conversations that begin alike.
func TestRequestsAtTheSameTimeGetNothingOfEachOther(t *testing.T) {
	for name, start := range sends {
		send := start()
		r := &chance{Rand: rand.New(rand.NewPCG(3, 4))}
		var begin []msg.Message
		for range 5 {
			begin = append(begin, r.message())
		}
		var all sync.WaitGroup
		for agent := range uint64(4) {
			all.Go(func() {
				r := &chance{Rand: rand.New(rand.NewPCG(agent, 5))}
				q := model.Request{Model: "m", Messages: slices.Clone(begin)}
				for range 20 {
					q.Messages = append(q.Messages, r.message())
					if got, want := send(q), start()(q); got != want {
						t.Errorf("%s:\n got %s\nwant %s", name, got, want)
						return
					}
				}
			})
		}
		all.Wait()
	}
}

func BenchmarkRequestAfterRounds(b *testing.B) {
	thoughts := map[string]string{
		"openai":        `{"reasoning_content":"it is in the other file"}`,
		"anthropic":     `{"type":"thinking","thinking":"it is in the other file","signature":"` + strings.Repeat("abcd", 100) + `"}`,
		"openresponses": `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"` + strings.Repeat("abcd", 100) + `"}`,
		"gemini":        `{"text":"it is in the other file","thought":true}`,
	}
	for name, start := range sends {
		for _, rounds := range []int{10, 1000} {
			b.Run(fmt.Sprintf("%s/%d", name, rounds), func(b *testing.B) {
				q := model.Request{Model: "m", System: "s", Messages: []msg.Message{msg.Say(msg.User, "go")}}
				for i := range rounds {
					id := fmt.Sprintf("call%05d", i)
					q.Messages = append(q.Messages,
						msg.Message{Role: msg.Assistant, Provider: "p", Model: "m", Blocks: msg.Blocks{
							msg.Reasoning{Text: "it is", Raw: []byte(thoughts[name])}, msg.Text{Text: "I look at it."},
							msg.Call{ID: id, Given: fmt.Sprint("g", i), Name: "read_file", Args: `{"path":"internal/model/model.go","offset":12}`}}},
						msg.Message{Role: msg.User, Blocks: msg.Blocks{msg.Result{Call: id, Blocks: msg.Blocks{msg.Text{Text: strings.Repeat("a line with \"quotes\" and <tags>\n", 25)}}}}})
				}
				send := start()
				b.ReportAllocs()
				for b.Loop() {
					send(q)
				}
			})
		}
	}
}
