package agent_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"jig/internal/agent"
	"jig/internal/model"
	"jig/internal/msg"
	"jig/internal/proto"
	"jig/internal/session"
	"jig/internal/tool"
)

// journal is a desk that notes what the log has taken and what the tools do, in the order in which it happens.
type journal struct {
	*desk
	mu    sync.Mutex
	notes []string
}

func (j *journal) note(s string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.notes = append(j.notes, s)
}

// Append is the log.
func (j *journal) Append(_ uint64, facts ...proto.Fact) error {
	for _, f := range facts {
		switch f := f.(type) {
		case proto.Said:
			if f.Message.Role == msg.Assistant {
				for _, c := range f.Message.Blocks.Calls() {
					j.note("said " + c.Name)
				}
			}
		case proto.Opened:
			j.note("opened " + f.Tool)
		case proto.Closed:
			j.note("closed " + f.Call)
		}
	}
	return nil
}

func TestEveryCallOfAReplyIsInTheLogBeforeTheFirstOneRuns(t *testing.T) {
	j := &journal{}
	j.desk = &desk{Line: session.NewLine(j), answer: func(tool.Question) (bool, string) { j.note("asked"); return true, "" }}
	runs := func(name string, ask *tool.Question) func(context.Context, string) (tool.Prepared, error) {
		return func(context.Context, string) (tool.Prepared, error) {
			p := does(false, func(context.Context) (tool.Result, error) { j.note("runs " + name); return tool.Text("ok"), nil })
			p.Ask = ask
			return p, nil
		}
	}
	table, err := agent.Bind(owner{"look": runs("look", nil), "poke": runs("poke", &tool.Question{Scope: "poke", Text: "poke?"})})
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Say(proto.Said{Message: msg.Say(msg.User, "go")}); err != nil {
		t.Fatal(err)
	}
	m := script{wants(model.StopCalls, call("1", "look", "{}"), call("2", "poke", "{}")), says("done")}
	agent.RunTurn(context.Background(), j, nothing{}, j.State, agent.Turn{Model: &m, Tools: table})
	want := []string{"said look", "said poke", "opened look", "runs look", "closed call00001", "opened poke", "asked", "runs poke", "closed call00002"}
	if !slices.Equal(j.notes, want) {
		t.Errorf("got %q, want %q", j.notes, want)
	}
}
