package session

import (
	"slices"

	"jig/internal/msg"
	"jig/internal/proto"
)

// State is what a session's facts amount to.
type State struct {
	Began    proto.Began
	Messages []msg.Message // what the next request sends; valid to send once no call is open
	Cost     proto.Cost    // what was said last of what was spent
	Calls    int           // how many calls were ever made; the next call's number follows
	open     map[string]place
}

// place is where the result of an open call belongs.
type place struct{ message, block int }

// interrupted is what the model reads of a call that got no result.
const interrupted = "interrupted: it is not known whether this ran or what it changed; look before you do it again"

// Fold makes the state from facts.
func Fold(facts []proto.Fact) State {
	var s State
	for _, f := range facts {
		s.Apply(f)
	}
	return s
}

// Apply adds one fact. A reply with calls is followed at once by the message that answers them, in
// the order of the calls, whatever the order in which they end: every call has exactly one result
// from the first instant, and closing it only puts the real one in its place.
func (s *State) Apply(f proto.Fact) {
	switch f := f.(type) {
	case proto.Began:
		s.Began = f
	case proto.Said:
		s.say(f.Message)
	case proto.Cost:
		s.Cost = f
	case proto.Closed:
		at, ok := s.open[f.Call]
		if !ok {
			return
		}
		delete(s.open, f.Call)
		m := &s.Messages[at.message]
		m.Blocks[at.block] = msg.Result{Call: f.Call, Blocks: f.Result.Blocks, Failed: f.Result.Failed}
	}
}

func (s *State) say(m msg.Message) {
	s.Messages = append(s.Messages, m)
	calls := m.Blocks.Calls()
	if len(calls) == 0 {
		return
	}
	if s.open == nil {
		s.open = map[string]place{}
	}
	answer := msg.Message{Role: msg.User}
	for i, c := range calls {
		s.Calls++
		s.open[c.ID] = place{len(s.Messages), i}
		answer.Blocks = append(answer.Blocks, msg.Result{Call: c.ID, Blocks: msg.Blocks{msg.Text{Text: interrupted}}, Failed: true})
	}
	s.Messages = append(s.Messages, answer)
}

// view is a state that later facts leave alone. Only a message with open calls can still change.
func (s *State) view() State {
	v := *s
	v.open = nil
	v.Messages = slices.Clip(s.Messages)
	if len(s.open) > 0 {
		v.Messages = slices.Clone(v.Messages)
		for _, at := range s.open {
			v.Messages[at.message].Blocks = slices.Clone(v.Messages[at.message].Blocks)
		}
	}
	return v
}
