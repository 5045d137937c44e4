package host

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"jig/internal/agent"
	"jig/internal/money"
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
	limit   limit
	*inbox

	mu    sync.Mutex
	jobs  []proto.Job // what runs beside the turns, oldest first
	ended bool        // the next turn was ended before it began

	landed int // notices that the next request brings so far

	before money.Amount // what was spent before the session was opened
}

func newSeat(l *session.Line, s Setup) *seat {
	return &seat{setup: s, line: l, pending: newPending(), inbox: newInbox(), before: l.State().Cost.Session}
}

func (s *seat) submit(c proto.Submit) {
	m := msg.Say(msg.User, strings.ToValidUTF8(c.Text, "\uFFFD"))
	s.inbox.submit(proto.Said{Message: m}, c.When == proto.AtEnd)
}

// kill ends jobs, and says which there are not.
func (s *seat) kill(ids []string) error {
	var unknown []string
	for _, id := range ids {
		if s.setup.Place == nil || !s.setup.Place.Kill(id) {
			unknown = append(unknown, id)
		}
	}
	if unknown != nil {
		return fmt.Errorf("no job %s is running", strings.Join(unknown, ", "))
	}
	return nil
}

// esc ends the innermost thing: the calls, the turn, or the wait for a limit after it.
func (s *seat) esc() {
	if !s.scopes.endInnermost() {
		s.limit.giveUp()
	}
}

// stop ends the running turn, or the one that is just about to start, or the wait for a limit.
func (s *seat) stop() {
	if s.scopes.endAll() || s.limit.giveUp() {
		return
	}
	waiting := s.waiting()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = waiting
}

func (s *seat) stopped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.ended
	s.ended = false
	return was
}

// Take gives what may land at a round boundary, which is all that is there. Where a session is played
// again, the notices of the request that comes are waited for, as long as a job may bring them, and
// others wait for their turn.
func (s *seat) Take(ctx context.Context) []proto.Said {
	if n, known := s.rehearsed(); known {
		_, _ = s.await(ctx, func() bool { return s.notices() >= n })
	}
	out := s.gather(false)
	s.landed = 0
	return out
}

// gather takes what is there, but no more notices than the next request is known to bring.
func (s *seat) gather(all bool) []proto.Said {
	most := -1
	if n, known := s.rehearsed(); known {
		most = max(n, 0)
	}
	out := s.take(all, most)
	for _, said := range out {
		if said.Notice != "" {
			s.landed++
		}
	}
	return out
}

// rehearsed is how many notices the next request is still to bring, where that is known.
func (s *seat) rehearsed() (n int, known bool) {
	if s.setup.Notices == nil {
		return 0, false
	}
	n, known = s.setup.Notices()
	return n - s.landed, known
}

// serve runs turns until ctx ends. It looks at the inbox again before it sleeps, so nothing that
// arrives while a turn ends is missed.
func (s *seat) serve(ctx context.Context) {
	defer s.limit.stop()
	for ctx.Err() == nil {
		if !s.due() && !s.limit.passed() {
			select {
			case <-s.wake:
				if s.limit.waiting() == nil { // it may have been given up
					s.Show(proto.KeyWaiting, nil)
				}
			case <-s.limit.tick():
				s.Show(proto.KeyWaiting, s.limit.waiting())
			case <-ctx.Done():
			}
			continue
		}
		s.limit.stop()
		s.Show(proto.KeyWaiting, nil)
		end := s.turn(ctx)
		limited := end.Limited && !s.setup.Alone
		if limited {
			s.limit.start(end, s.line.State().Began.Provider, s.nudge)
		}
		s.hold(end.Why == proto.Interrupted || limited)
		if s.line.Say(append(s.cost(), end)...) != nil {
			return
		}
		s.Show(proto.KeyWaiting, s.limit.waiting())
	}
}

// cost is what there is to say at a turn's end of what was spent. What a child spent after the turn
// that started it counts for the next one.
func (s *seat) cost() []proto.Fact {
	if s.setup.Cost == nil {
		return nil
	}
	c := s.setup.Cost()
	if c == nil {
		return nil
	}
	c.Session = s.before.Plus(c.Session)
	c.Turn = c.Session - s.line.State().Cost.Session
	return []proto.Fact{*c}
}

func (s *seat) turn(ctx context.Context) proto.Ended {
	ctx, done := s.Scope(ctx)
	defer done()
	var facts []proto.Fact
	for _, said := range s.gather(true) {
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

func (s *seat) Say(f ...proto.Fact) error { return s.line.Say(f...) }

// Show passes the now on. Jobs are also remembered: a run that nobody watches does not end while one
// is going.
func (s *seat) Show(key string, value any) {
	if key == proto.KeyJobs {
		jobs, _ := value.([]proto.Job)
		s.mu.Lock()
		s.jobs = jobs
		s.mu.Unlock()
		defer s.nudge()
	}
	s.line.Show(key, value)
}

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
