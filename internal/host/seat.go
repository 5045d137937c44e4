package host

import (
	"context"
	"fmt"
	"slices"
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

	// Of a goal, whose turns start by themselves.
	goal     goal
	next     bool // a turn is to start
	parked   bool // but not before a job has ended
	escaped  bool // a person ended something of the running turn
	onlyGoal bool // nothing but the goal started the running turn

	orders orders

	landed int // notices that the next request brings so far

	told   money.Amount // what was said last of what was spent, children's included
	before proto.Cost   // what was spent before the session was opened

	vain      int // answers that no fact told of yet
	vainUsage msg.Usage
}

func newSeat(l *session.Line, s Setup) *seat {
	return &seat{setup: s, line: l, pending: newPending(), inbox: newInbox(), before: l.State().Cost, told: l.State().Cost.Session}
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

// esc ends the innermost thing: the calls, the turn, the one that a goal is about to start, or the wait
// for a limit.
func (s *seat) esc() {
	had := s.scopes.endInnermost()
	s.mu.Lock()
	s.escaped = s.escaped || had
	next := s.endNext()
	s.mu.Unlock()
	if !had && !next {
		s.limit.giveUp()
	}
}

// stop ends the running turn, or the one that is just about to start, or the wait for a limit. At the
// very end of a turn that may be two of them.
func (s *seat) stop() {
	had := s.scopes.endAll() || s.limit.giveUp()
	waiting := s.waiting()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.endNext() && !had {
		s.ended = waiting
	}
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
	return s.landing(out)
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
	defer s.closeGoal(ctx)
	defer s.limit.stop()
	defer s.refuse(errClosed)
	for ctx.Err() == nil {
		s.obey(ctx)
		again := s.again() || s.limit.passed()
		if !s.due() && !s.goesOn() && !again {
			select {
			case <-s.wake:
				if s.rests() == nil { // it may have been given up
					s.Show(proto.KeyWaiting, nil)
				}
			case <-s.limit.tick():
				if !s.limit.passed() { // the last tick may come together with the end
					s.Show(proto.KeyWaiting, s.limit.waiting())
				}
			case <-ctx.Done():
			}
			continue
		}
		s.limit.stop()
		s.Show(proto.KeyWaiting, nil)
		s.refuse(errBusy)
		end, why, ran := s.turn(ctx, again)
		s.refuse(nil)
		if !ran {
			continue
		}
		limited := end.Limited && !s.setup.Alone && !s.goal.continuing
		if limited {
			s.limit.start(end, s.line.State().Began.Provider, s.nudge)
		}
		s.hold(end.Why == proto.Interrupted || limited)
		if err := s.finish(ctx, end, why); err != nil {
			s.breakOff(end, err)
			return
		}
		s.Show(proto.KeyWaiting, s.rests())
	}
}

// breakOff ends a session whose log takes no more. That the turn has ended is no fact then, but whoever
// watches must not wait for it.
func (s *seat) breakOff(end proto.Ended, err error) {
	if end.Why != proto.Failed {
		end.Why, end.Error = proto.Failed, logFailed(err)
	}
	s.Show(proto.KeyBroken, end)
	s.line.Close()
}

func logFailed(err error) string {
	return "the session's log could not be written: " + strings.Join(strings.Fields(err.Error()), " ")
}

// cost is what there is to say at a turn's end of what was spent. What a child spent after the turn
// that started it counts for the next one.
func (s *seat) cost() []proto.Fact {
	var c *proto.Cost
	if s.setup.Cost != nil {
		c = s.setup.Cost()
	}
	if c == nil && s.vain > 0 {
		c = &proto.Cost{}
	}
	if c == nil {
		return nil
	}
	if c.Vain = s.vain; s.vainUsage != (msg.Usage{}) {
		used := s.vainUsage
		c.VainUsage = &used
	}
	s.vain, s.vainUsage = 0, msg.Usage{}
	c.Session = s.before.Session.Plus(c.Session)
	c.Children = s.before.Children.Plus(c.Children)
	c.Turn = c.Session - s.told
	s.told = c.Session
	return []proto.Fact{*c}
}

// priced says with each reply what was spent by then: a jig that is killed never comes to a turn's end.
func (s *seat) priced(facts []proto.Fact) []proto.Fact {
	if s.setup.Cost == nil {
		return facts
	}
	for i, f := range facts {
		said, ok := f.(proto.Said)
		if !ok || said.Round == 0 {
			continue
		}
		if c := s.setup.Cost(); c != nil {
			own := s.before.Session - s.before.Children + c.Session - c.Children
			said.Spent = &own
			facts = slices.Clone(facts)
			facts[i] = said
		}
	}
	return facts
}

// turn runs one turn. again says that it may begin with nothing said, because it is tried again; else
// there is none then. why is what blocks a goal that would go on after it.
func (s *seat) turn(ctx context.Context, again bool) (end proto.Ended, why string, ran bool) {
	ctx, done := s.Scope(ctx)
	defer done()
	stopped := s.begin()
	if stopped {
		s.scopes.endAll()
	}
	said := s.gather(true)
	if stopped && len(said) == 0 { // only a goal was about to go on
		return proto.Ended{Why: proto.Interrupted, Error: interruptedText}, "", true
	}
	begins, err := s.carry(said, again)
	switch {
	case err != nil:
		return proto.Ended{Why: proto.Failed, Error: logFailed(err)}, "", true
	case !begins:
		return end, "", false
	}
	t, err := s.setup.Turn(ctx)
	if err != nil {
		return proto.Ended{Why: proto.Failed, Error: err.Error()}, "", true
	}
	s.roomFor(&t)
	t.Room.Summaries = s.goal.summaries
	t.Limits.Spent, s.goal.budget = s.goal.rounds, t.Limits.Rounds
	end = agent.RunTurn(ctx, s, s, s.line.State, t)
	why = s.arm(ctx, &end, t.Tools.Names())
	s.goal.rounds += end.Rounds
	return end, why, true
}

// Say, Show, Ask and Scope make a seat the Desk of its turns.

func (s *seat) Say(f ...proto.Fact) error { return s.line.Say(s.masked(s.priced(f))...) }

// Show passes the now on. Jobs are also remembered: a run that nobody watches does not end while one
// is going.
func (s *seat) Show(key string, value any) {
	if key == proto.KeyJobs {
		jobs, _ := value.([]proto.Job)
		s.mu.Lock()
		s.jobs = jobs
		s.parked = s.parked && len(jobs) > 0
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
	if err := s.Say(proto.Asked{Call: call, Question: q}); err != nil {
		return false, q.Refusal
	}
	a := proto.Answer{Call: call, By: proto.ByEsc, Choice: proto.Deny}
	select {
	case a = <-answers:
	case <-ctx.Done():
	}
	if err := s.Say(proto.Answered{Call: call, By: a.By, Choice: a.Choice}); err != nil {
		return false, q.Refusal
	}
	if a.Choice == proto.Session {
		s.pending.allow(q.Scope)
	}
	return a.Choice == proto.Once || a.Choice == proto.Session, ""
}
