package replay_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"jig/internal/model"
	"jig/internal/model/replay"
	"jig/internal/msg"
)

// kindOf is an error's kind, "" when it has none.
func kindOf(err error) model.Kind {
	var e *model.Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}

func play(t *testing.T, script string) *replay.Model {
	t.Helper()
	m, err := replay.New([]byte(script))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func ask(m model.Model, messages ...msg.Message) (model.Reply, error) {
	return m.Stream(context.Background(), model.Request{Messages: messages}, nil)
}

func called(id, name string) msg.Message {
	return msg.Message{Role: msg.Assistant, Blocks: msg.Blocks{msg.Call{ID: id, Name: name}}}
}

func answered(id, text string) msg.Message {
	return msg.Message{Role: msg.User, Blocks: msg.Blocks{msg.Result{Call: id, Blocks: msg.Blocks{msg.Text{Text: text}}}}}
}

const twoReplies = `
version: 1
replies:
  - text: I look.
    reasoning: hm
    calls:
      - name: grep
        args: {pattern: "func Sum", zeta: 1, alpha: [true, null, 1.5]}
  - capture:
      line: 'sum\.go:(\d+)'
    expect:
      last_result_contains: func Sum
    text: "It is line ${line}, ${HOME}."
    calls:
      - {name: read_file, args: {path: "a${line}", n: "${line}"}}
      - {name: broken, args: '{"path": "${line}'}
    usage: {input_tokens: 7, output_tokens: 2}
`

func TestAScriptTakesItsValuesFromRealResults(t *testing.T) {
	m := play(t, twoReplies)
	r, err := ask(m, msg.Say(msg.User, "go"))
	if err != nil {
		t.Fatal(err)
	}
	want := model.Reply{Stop: model.StopCalls, Blocks: msg.Blocks{msg.Reasoning{Text: "hm"}, msg.Text{Text: "I look."},
		msg.Call{Name: "grep", Args: `{"pattern":"func Sum","zeta":1,"alpha":[true,null,1.5]}`}}}
	if d := cmp.Diff(want, r); d != "" {
		t.Error(d)
	}
	r, err = ask(m, msg.Say(msg.User, "go"), called("c1", "grep"), answered("c1", `sum.go:12: func Sum`))
	if err != nil {
		t.Fatal(err)
	}
	want = model.Reply{Stop: model.StopCalls, Usage: msg.Usage{Input: 7, Output: 2}, Blocks: msg.Blocks{msg.Text{Text: "It is line 12, ${HOME}."},
		msg.Call{Name: "read_file", Args: `{"path":"a12","n":"12"}`}, msg.Call{Name: "broken", Args: `{"path": "12`}}}
	if d := cmp.Diff(want, r); d != "" {
		t.Error(d)
	}
	if _, err = ask(m); err == nil || !strings.Contains(err.Error(), "the script has 2 replies and was asked for one more") {
		t.Errorf("%v", err)
	}
}

func TestAScriptWhoseToolsDidNothingFailsAndSaysWhy(t *testing.T) {
	m := play(t, twoReplies)
	_, _ = ask(m)
	_, err := ask(m, called("c1", "grep"), answered("c1", "No matches"))
	want := "replay: the request for reply 2 is not what the script expects: no result to match sum\\.go:(\\d+) for ${line}: grep gave \"No matches\""
	if err == nil || err.Error() != want || kindOf(err) != model.KindRequest {
		t.Errorf("%v", err)
	}
}

func TestALongConversationCostsNoMoreToHearThanAShortOne(t *testing.T) {
	cost := func(rounds int) float64 {
		var talk []msg.Message
		for i := range rounds {
			id := fmt.Sprintf("call%05d", i)
			talk = append(talk, called(id, "grep"), answered(id, "a"))
		}
		m := play(t, "version: 1\nreplies:\n"+strings.Repeat("  - {text: a, expect: {results: [{exact: a}]}}\n", 20))
		return testing.AllocsPerRun(10, func() {
			if _, err := ask(m, talk...); err != nil {
				t.Error(err)
			}
		})
	}
	if short, long := cost(1), cost(2000); long > short {
		t.Errorf("%v allocations after one round, %v after 2000", short, long)
	}
}

// The manual's script is played against results as the tools would give them.
func TestTheManualsScriptPlays(t *testing.T) {
	manual, err := os.ReadFile("../../../docs/replay.md")
	if err != nil {
		t.Fatal(err)
	}
	_, script, _ := strings.Cut(string(manual), "```yaml\n")
	script, _, _ = strings.Cut(script, "```")
	m := play(t, script)
	steps := [][]msg.Message{
		{msg.Say(msg.User, "go")},
		{called("a", "grep"), answered("a", "src/sum.go:3: func Sum(a, b int) int {")},
		{called("b", "read_file"), answered("b", "func Sum(a, b int) int {\n\treturn a - b\n}")},
	}
	for i, s := range steps {
		r, err := ask(m, s...)
		if err != nil {
			t.Fatalf("reply %d: %v", i+1, err)
		}
		if c := r.Blocks.Calls(); i == 1 && (len(c) != 1 || c[0].Args != `{"path":"src/sum.go"}`) {
			t.Errorf("%+v", r)
		}
	}
}
