package session

import (
	"fmt"
	"slices"

	"jig/internal/msg"
	"jig/internal/proto"
	"jig/internal/tool"
)

// What is said of things that jig's own end cut short.
const (
	notBegun   = "not run: jig ended before this call's turn came"
	unanswered = "not run: jig ended before the user had answered whether it may"
	jigEnded   = "jig ended before the turn did"
	byJig      = "jig"
)

// Resume ends, by facts, what a process that is gone left open: questions, calls, background jobs, a
// goal that would go on by itself, and the turn. What it gives belongs in the log before anything
// else is said; a session that was left in order, or has been resumed, needs nothing.
func Resume(s State) []proto.Fact {
	var out []proto.Fact
	for _, call := range s.asked {
		out = append(out, proto.Answered{Call: call, By: byJig, Choice: proto.Deny})
	}
	for _, id := range s.openCalls() {
		text := interrupted
		switch {
		case !s.opened[id]:
			text = notBegun
		case slices.Contains(s.asked, id):
			text = unanswered
		}
		r := tool.Text(text)
		r.Failed = true
		out = append(out, proto.Closed{Call: id, Result: r, Cause: jigEnded})
	}
	for _, j := range s.Jobs {
		text := fmt.Sprintf("[background job %s killed: jig ended] %s", j.ID, j.Label)
		out = append(out, proto.Said{Message: msg.Say(msg.User, text), Notice: j.Call})
	}
	if s.Goal.Status == proto.GoalActive {
		out = append(out, proto.Goal{Objective: s.Goal.Objective, Status: proto.GoalBlocked, Why: "jig ended", By: byJig})
	}
	if s.Turn || len(s.Jobs) > 0 {
		out = append(out, proto.Ended{Why: proto.Interrupted, Error: jigEnded})
	}
	return out
}

// openCalls are the calls without a result, in the order in which they were made.
func (s State) openCalls() []string {
	var out []string
	for id := range s.open {
		out = append(out, id)
	}
	slices.SortFunc(out, func(a, b string) int {
		x, y := s.open[a], s.open[b]
		if x.message != y.message {
			return x.message - y.message
		}
		return x.block - y.block
	})
	return out
}

// Message is a person's message that stands: it was not rewound.
type Message struct {
	Seq  uint64 // its fact's number
	Text string
}

// Spoken are the messages of people that stand, oldest first. What was summed up is among them.
func Spoken(facts []proto.Fact) []Message {
	var out []Message
	for i, f := range facts {
		switch f := f.(type) {
		case proto.Said:
			if f.Message.Role == msg.User && f.Notice == "" {
				out = append(out, Message{uint64(i) + 1, f.Message.Blocks.Text()})
			}
		case proto.Rewound:
			out = slices.DeleteFunc(out, func(m Message) bool { return m.Seq >= f.Before })
		}
	}
	return out
}
