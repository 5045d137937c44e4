package session

import (
	"maps"
	"slices"

	"jig/internal/msg"
	"jig/internal/proto"
)

// State is what a session's facts amount to.
type State struct {
	Began    proto.Began
	Messages []msg.Message // what the next request sends; valid to send once no call is open
	// At is, for each of Messages, the number of the fact that said it. A summary has that of the last
	// fact it stands for, and the results of calls that of the reply that made them.
	At    []uint64
	Cost  proto.Cost // what was said last of what was spent
	Calls int        // how many calls were ever made; the next call's number follows
	Facts uint64     // how many there are
	Goal  proto.Goal // as it was said last; no goal where its status is neither active nor blocked
	Title string     // as a person gave it
	Date  string     // the day that the model was told last, "" when it was told none
	// Context is what the last reply's provider counted of the conversation up to and with it, in
	// tokens, and Counted how many of Messages that was. 0 is not known.
	Context, Counted int
	// Uncompacted says that a person was asked and did not want the older part summed up.
	Uncompacted bool
	// Turn says that a turn has not ended, and Jobs what the session left running: the facts do not
	// say how they ended.
	Turn bool
	Jobs []LeftJob

	open   map[string]place
	asked  []string
	opened map[string]bool // open calls whose turn had come
}

// LeftJob is a background job of which no end was told.
type LeftJob struct{ Call, ID, Label string }

// place is where the result of an open call belongs.
type place struct{ message, block int }

// interrupted is what the model reads of a call that got no result.
const interrupted = "interrupted: it is not known whether this ran or what it changed; look before you do it again"

// Fold makes the state from facts. What was rewound is not folded at all, so that a session may be
// rewound any number of times.
func Fold(facts []proto.Fact) State {
	var s State
	for _, i := range standing(facts) {
		s.Facts = uint64(i)
		s.Apply(facts[i])
	}
	s.Facts = uint64(len(facts))
	kept(facts, &s)
	return s
}

// standing are the places of the facts that no Rewound made void.
func standing(facts []proto.Fact) []int {
	out := make([]int, 0, len(facts))
	for i, f := range facts {
		r, ok := f.(proto.Rewound)
		if !ok {
			out = append(out, i)
			continue
		}
		if r.Before > uint64(i) {
			continue // there is no such fact
		}
		for len(out) > 0 && r.Before > 0 && uint64(out[len(out)-1])+1 >= r.Before {
			out = out[:len(out)-1]
		}
	}
	return out
}

// kept puts into a state what a rewind does not undo: what was spent, how many calls were made, what
// runs, and what a person decided about the session.
func kept(facts []proto.Fact, s *State) {
	s.Cost, s.Calls, s.Jobs, s.Goal, s.Title = proto.Cost{}, 0, nil, proto.Goal{}, ""
	open := map[string]bool{}
	for _, f := range facts {
		switch f := f.(type) {
		case proto.Cost:
			s.Cost = f
		case proto.Goal:
			s.Goal = f
		case proto.Titled:
			s.Title = f.Title
		case proto.Said:
			s.spend(f)
			s.told(f)
			for _, c := range f.Message.Blocks.Calls() {
				s.Calls++
				open[c.ID] = true
			}
		case proto.Closed:
			if open[f.Call] && f.Result.Job != "" {
				s.Jobs = append(s.Jobs, LeftJob{f.Call, f.Result.Job, f.Result.Label})
			}
			delete(open, f.Call)
		}
	}
}

// Next is the state once a fact has come after those before it. Only a Rewound looks at those.
func (s State) Next(before []proto.Fact, f proto.Fact) State {
	if _, ok := f.(proto.Rewound); ok {
		return Fold(append(slices.Clip(before), f))
	}
	s.Apply(f)
	return s
}

// Apply adds one fact that undoes none. A reply with calls is followed at once by the message that
// answers them, in the order of the calls, whatever the order in which they end: every call has
// exactly one result from the first instant, and closing it only puts the real one in its place.
func (s *State) Apply(f proto.Fact) {
	s.Facts++
	switch f := f.(type) {
	case proto.Began:
		s.Began = f
		s.Date = f.Date
		s.Uncompacted = false
	case proto.Said:
		s.say(f)
	case proto.Cost:
		s.Cost = f
	case proto.Opened:
		if _, ok := s.open[f.Call]; ok {
			s.opened[f.Call] = true
		}
	case proto.Asked:
		s.asked = append(s.asked, f.Call)
	case proto.Answered:
		s.asked = slices.DeleteFunc(slices.Clone(s.asked), func(c string) bool { return c == f.Call })
		if f.Call == proto.CallCompaction {
			s.Uncompacted = f.Choice == proto.Deny && f.By != byJig && f.By != proto.ByEsc
		}
	case proto.Closed:
		s.closed(f)
	case proto.Compacted:
		s.compacted(f)
	case proto.Goal:
		s.Goal = f
	case proto.Titled:
		s.Title = f.Title
	case proto.Ended:
		s.Turn = false
	}
}

func (s *State) closed(f proto.Closed) {
	at, ok := s.open[f.Call]
	if !ok {
		return
	}
	delete(s.open, f.Call)
	delete(s.opened, f.Call)
	s.Messages[at.message].Blocks[at.block] = msg.Result{Call: f.Call, Blocks: f.Result.Blocks, Failed: f.Result.Failed}
	if f.Result.Job != "" {
		s.Jobs = append(slices.Clip(s.Jobs), LeftJob{f.Call, f.Result.Job, f.Result.Label})
	}
}

func (s *State) say(f proto.Said) {
	s.Turn = true
	m := f.Message
	s.add(m)
	s.told(f)
	s.spend(f)
	if f.Date != "" {
		s.Date = f.Date
	}
	if f.Usage != nil {
		s.Context, s.Counted = f.Usage.Total(), len(s.Messages)
	}
	calls := m.Blocks.Calls()
	if len(calls) == 0 {
		return
	}
	if s.open == nil {
		s.open, s.opened = map[string]place{}, map[string]bool{}
	}
	answer := msg.Message{Role: msg.User}
	for i, c := range calls {
		s.Calls++
		s.open[c.ID] = place{len(s.Messages), i}
		answer.Blocks = append(answer.Blocks, msg.Result{Call: c.ID, Blocks: msg.Blocks{msg.Text{Text: interrupted}}, Failed: true})
	}
	s.add(answer)
}

// told forgets the job whose end a notice tells.
func (s *State) told(f proto.Said) {
	if f.Notice != "" && len(s.Jobs) > 0 {
		s.Jobs = slices.DeleteFunc(slices.Clone(s.Jobs), func(j LeftJob) bool { return j.Call == f.Notice })
	}
}

// spend takes in what a reply says of the session's cost, which a turn's end may never come to say.
func (s *State) spend(f proto.Said) {
	if f.Spent != nil {
		s.Cost.Session = max(s.Cost.Session, f.Spent.Plus(s.Cost.Children))
	}
}

func (s *State) add(m msg.Message) {
	s.Messages = append(s.Messages, m)
	s.At = append(s.At, s.Facts)
}

// compacted puts the summary where the older messages were. Open calls are never among those.
func (s *State) compacted(f proto.Compacted) {
	n := 0
	for n < len(s.At) && s.At[n] <= f.Through {
		n++
	}
	s.Messages = append([]msg.Message{f.Summary}, s.Messages[n:]...)
	s.At = append([]uint64{f.Through}, s.At[n:]...)
	for id, at := range s.open {
		s.open[id] = place{at.message - n + 1, at.block}
	}
	s.Context, s.Counted, s.Uncompacted = 0, 0, false
}

// view is a state that later facts leave alone. Only a message with open calls can still change.
func (s *State) view() State {
	v := *s
	v.open, v.opened = maps.Clone(s.open), maps.Clone(s.opened)
	v.Messages, v.At = slices.Clip(s.Messages), slices.Clip(s.At)
	if len(s.open) > 0 {
		v.Messages = slices.Clone(v.Messages)
		for _, at := range s.open {
			v.Messages[at.message].Blocks = slices.Clone(v.Messages[at.message].Blocks)
		}
	}
	return v
}
