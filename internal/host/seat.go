package host

import (
	"context"
	"strings"
	"sync"

	"jig/internal/agent"
	"jig/internal/msg"
	"jig/internal/proto"
	"jig/internal/session"
	"jig/internal/tool"
)

// seat is one session being driven: the Desk and the Inbox of its turns. One goroutine runs them;
// everything from outside goes through the inbox, the pending table or the scopes.
type seat struct {
	setup   Setup
	line    *session.Line
	scopes  scopes
	pending pending

	mu    sync.Mutex
	inbox []item
	held  bool // after a turn that a person stopped, only a person wakes the session
	ended bool // the next turn was ended before it began
	wake  chan struct{}
}

type item struct {
	said  proto.Said
	atEnd bool // waits for the end of the running turn
}

func newSeat(l *session.Line, s Setup) *seat {
	return &seat{setup: s, line: l, pending: newPending(), wake: make(chan struct{}, 1)}
}

func (s *seat) submit(c proto.Submit) {
	said := proto.Said{Message: msg.Say(msg.User, strings.ToValidUTF8(c.Text, "\uFFFD"))}
	s.mu.Lock()
	s.inbox = append(s.inbox, item{said, c.When == proto.AtEnd})
	s.held = false
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// stop ends the running turn, or the one that is just about to start.
func (s *seat) stop() {
	if s.scopes.endAll() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = len(s.inbox) > 0
}

// Take gives what may land at a round boundary.
func (s *seat) Take() []proto.Said { return s.take(false) }

func (s *seat) take(starting bool) []proto.Said {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []proto.Said
	var rest []item
	for _, it := range s.inbox {
		if it.atEnd && !starting {
			rest = append(rest, it)
			continue
		}
		out = append(out, it.said)
	}
	s.inbox = rest
	return out
}

func (s *seat) due() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.inbox) > 0 && !s.held
}

func (s *seat) stopped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.ended
	s.ended = false
	return was
}

// serve runs turns until ctx ends. It looks at the inbox again before it sleeps, so nothing that
// arrives while a turn ends is missed.
func (s *seat) serve(ctx context.Context) {
	for ctx.Err() == nil {
		if !s.due() {
			select {
			case <-s.wake:
			case <-ctx.Done():
			}
			continue
		}
		end := s.turn(ctx)
		s.mu.Lock()
		s.held = end.Why != proto.Done
		s.mu.Unlock()
		if s.line.Say(end) != nil {
			return
		}
	}
}

func (s *seat) turn(ctx context.Context) proto.Ended {
	ctx, done := s.Scope(ctx)
	defer done()
	var facts []proto.Fact
	for _, said := range s.take(true) {
		facts = append(facts, said)
	}
	if s.stopped() {
		s.scopes.endAll()
	}
	if err := s.line.Say(facts...); err != nil {
		return proto.Ended{Why: proto.Failed, Error: "the session's log could not be written: " + err.Error()}
	}
	t, err := s.setup.Turn(ctx)
	if err != nil {
		return proto.Ended{Why: proto.Failed, Error: err.Error()}
	}
	return agent.RunTurn(ctx, s, s, s.line.State, t)
}

// Say, Show, Ask and Scope make a seat the Desk of its turns.

func (s *seat) Say(f ...proto.Fact) error  { return s.line.Say(f...) }
func (s *seat) Show(key string, value any) { s.line.Show(key, value) }
func (s *seat) Scope(ctx context.Context) (context.Context, func()) {
	return s.scopes.open(ctx)
}

// Ask waits for the first answer of anybody who watches.
func (s *seat) Ask(ctx context.Context, call string, q tool.Question) (bool, string) {
	if s.pending.allows(q.Scope) {
		return true, ""
	}
	if s.setup.Alone {
		return false, q.Refusal
	}
	answers := s.pending.open(call)
	defer s.pending.drop(call)
	if err := s.line.Say(proto.Asked{Call: call, Question: q}); err != nil {
		return false, q.Refusal
	}
	a := proto.Answer{Call: call, By: "esc", Choice: proto.Deny}
	select {
	case a = <-answers:
	case <-ctx.Done():
	}
	if err := s.line.Say(proto.Answered{Call: call, By: a.By, Choice: a.Choice}); err != nil {
		return false, q.Refusal
	}
	if a.Choice == proto.Session {
		s.pending.allow(q.Scope)
	}
	return a.Choice == proto.Once || a.Choice == proto.Session, ""
}
