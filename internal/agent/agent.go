// Package agent is the loop and the pipeline: what a turn is, and what happens to every call. It
// knows no tool, no provider and no front end; whoever runs it is its Desk.
package agent

import (
	"context"
	"fmt"

	"jig/internal/model"
	"jig/internal/model/retry"
	"jig/internal/proto"
	"jig/internal/tool"
)

// Desk is all that the pipeline and the loop need of whoever runs them: a session of the host, or
// one call from the command line.
type Desk interface {
	// Say logs facts. An error means that they are not in the log; the turn cannot go on.
	Say(...proto.Fact) error
	// Show sets one key of the now; nil removes it.
	Show(key string, value any)
	// Ask puts a question to people. When nobody can be asked, refusal is what the model reads; it
	// is "" when somebody said no.
	Ask(ctx context.Context, call string, q tool.Question) (ok bool, refusal string)
	// Scope opens a scope inside those already open; ending the innermost one is what Esc does.
	Scope(context.Context) (context.Context, func())
}

// Inbox gives what may land at a round boundary: typed messages and notices.
type Inbox interface {
	// Take gives what is there. Where it is known that something must land now, it waits for it.
	Take(context.Context) []proto.Said
	// Wait is asked when the model has no more to do. It may wait for something that the turn must
	// not end without; landed says that it came. note is for a person when it did not.
	Wait(context.Context) (landed bool, note string)
}

// Turn is what a turn runs on. It is frozen when the turn starts.
type Turn struct {
	Model  model.Model
	Send   Send
	Tools  Table
	Limits Limits
	Room   Room
	Retry  retry.Policy
}

// Send is what every request of a turn says besides the conversation.
type Send struct {
	Provider, Model, System, Reasoning string
	MaxOutput                          int
	Temperature, TopP                  *float64
}

// Limits end a turn that would go on. Zero means none.
type Limits struct {
	Rounds int // requests
	Spent  int // of them, what turns before this one used
}

// Table is the tools of one turn.
type Table struct {
	specs []tool.Spec
	by    map[string]bound
}

type bound struct {
	spec  tool.Spec
	owner tool.Owner
}

// Bind makes a table of what owners offer, in their order. Two tools of one name are an error.
func Bind(owners ...tool.Owner) (Table, error) {
	t := Table{by: map[string]bound{}}
	for _, o := range owners {
		for _, s := range o.Specs() {
			if _, taken := t.by[s.Name]; taken {
				return Table{}, fmt.Errorf("two owners offer a tool named %q", s.Name)
			}
			t.by[s.Name] = bound{s, o}
			t.specs = append(t.specs, s)
		}
	}
	return t, nil
}

// Specs are the tools in the order in which a model is told of them.
func (t Table) Specs() []tool.Spec { return t.specs }

// Tools is what a model is told.
func (t Table) Tools() []model.Tool {
	var out []model.Tool
	for _, s := range t.specs {
		if !s.Private {
			out = append(out, model.Tool{Name: s.Name, Doc: s.Doc, Input: s.Input})
		}
	}
	return out
}

// Names are the tools a model sees.
func (t Table) Names() []string {
	var out []string
	for _, m := range t.Tools() {
		out = append(out, m.Name)
	}
	return out
}
