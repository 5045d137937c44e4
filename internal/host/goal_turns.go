package host

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"jig/internal/agent"
	"jig/internal/msg"
	"jig/internal/proto"
	"jig/internal/tools/intrinsic"
)

// mostIdle is how many continuations in a row may do nothing. A model that only talks does not get
// nearer to its goal, and nobody reads along.
const mostIdle = 3

// goOn lets the next turn start by itself.
func (s *seat) goOn() {
	s.mu.Lock()
	s.next, s.parked = true, false
	s.mu.Unlock()
	s.hold(false)
}

// goesOn reports whether a turn is to start that nobody asked for.
func (s *seat) goesOn() bool {
	s.mu.Lock()
	next := s.next && !s.parked
	s.mu.Unlock()
	return next && s.line.State().Goal.Active()
}

// endNext lets the turn that is to start by itself begin as one that a person ended, and reports
// whether there is one. The caller holds mu.
func (s *seat) endNext() bool {
	if s.next {
		s.ended, s.parked = true, false
		s.nudge()
	}
	return s.next
}

// begin says that a turn begins, and whether a person ended it before it did. From here on its scope
// is what they end.
func (s *seat) begin() (stopped bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stopped = s.ended
	s.ended, s.next, s.parked, s.escaped = false, false, false, false
	return stopped
}

// carry says what a turn begins with: what was said, and what the model is told of an active goal. Where a
// person spoke, the goal goes before their words; where nobody did, it is what there is to go on with. Nobody
// changes the goal between the look at it and the word of it. It reports whether there is a turn: where
// there is nothing to say there is only one that was asked for again.
func (s *seat) carry(said []proto.Said, again bool) (begins bool, err error) {
	s.goal.mu.Lock()
	defer s.goal.mu.Unlock()
	st := s.line.State()
	facts, spoken := s.withPolicy(st.Goal, said)
	s.goal.from = st.Facts
	s.goal.continuing = st.Goal.Active() && len(said) == 0
	if !s.goal.continuing || s.goal.summaries == nil {
		s.goal.summaries = &agent.Summaries{}
	}
	s.mu.Lock()
	s.onlyGoal = s.goal.continuing
	s.mu.Unlock()
	if st.Goal.Active() && !spoken {
		facts = append(facts, goalNotice(intrinsic.Continuation(st.Goal.Objective)))
	}
	if len(facts) == 0 && !again {
		return false, nil
	}
	return true, s.Say(s.dated(facts)...)
}

// withPolicy puts before the first of a person's words what the model must know of the goal. spoken says
// that there are such words.
func (s *seat) withPolicy(g proto.Goal, said []proto.Said) (facts []proto.Fact, spoken bool) {
	first := slices.IndexFunc(said, func(x proto.Said) bool { return x.Notice == "" })
	if first >= 0 {
		s.goal.idle = 0
	}
	for i, x := range said {
		if i == first {
			if text := s.goalBefore(g); text != "" {
				facts = append(facts, goalNotice(text))
			}
		}
		facts = append(facts, x)
	}
	return facts, first >= 0
}

// goalBefore is what goes before a person's words, "" when that is nothing. That a goal goes on no more is
// told once: earlier messages call it active, and the model would take their word for it.
func (s *seat) goalBefore(g proto.Goal) string {
	switch {
	case g.Active():
		return intrinsic.Notice(g.Objective)
	case g.By == byModel || heard(s.line.Facts()):
		return ""
	case g.Status == proto.GoalBlocked:
		return intrinsic.BlockedNotice(g.Why)
	case g.Status == proto.GoalCleared:
		return intrinsic.Dropped
	}
	return ""
}

func goalNotice(text string) proto.Said {
	return proto.Said{Message: msg.Say(msg.User, text), Notice: proto.NoticeGoal}
}

// landing is what lands while a turn runs.
func (s *seat) landing(said []proto.Said) []proto.Said {
	s.goal.mu.Lock()
	defer s.goal.mu.Unlock()
	g := s.line.State().Goal
	facts, spoken := s.withPolicy(g, said)
	if g.Active() && !spoken && forgotten(s.line.Facts()) {
		facts = append(facts, goalNotice(intrinsic.Notice(g.Objective)))
	}
	var out []proto.Said
	for _, f := range facts {
		out = append(out, f.(proto.Said))
	}
	return out
}

// forgotten says that all the model was told of its goal is among what a summary stands for. A long turn
// must not lose sight of what it is for.
func forgotten(facts []proto.Fact) bool {
	through := uint64(0)
	for i, f := range slices.Backward(facts) {
		switch f := f.(type) {
		case proto.Compacted:
			through = max(through, f.Through)
		case proto.Goal:
			return uint64(i)+1 <= through
		case proto.Said:
			if f.Notice == proto.NoticeGoal {
				return uint64(i)+1 <= through
			}
		}
	}
	return false
}

// arm decides, while a person can still end the turn, whether the goal goes on after it. why is what
// blocks it, "" when nothing does.
func (s *seat) arm(ctx context.Context, end *proto.Ended, tools []string) (why string) {
	st := s.line.State()
	if !st.Goal.Active() || end.Why != proto.Done {
		return ""
	}
	worked := s.worked(tools)
	s.goal.mu.Lock()
	if s.goal.idle++; worked || !s.goal.continuing {
		s.goal.idle = 0
	}
	idle := s.goal.idle
	s.goal.mu.Unlock()
	jobs := s.running()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch n := s.goal.budget; {
	case ctx.Err() != nil:
		end.Why, end.Error = proto.Interrupted, interruptedText
		return ""
	case s.escaped:
		return interruptedText
	case end.Note != "":
		return end.Note
	case n > 0 && s.goal.rounds+end.Rounds >= n:
		return fmt.Sprintf("--max-turns is used up (%d) and the goal is not complete", n)
	case idle >= mostIdle:
		return fmt.Sprintf("%d continuations in a row made no tool call that does something", mostIdle)
	}
	s.next = true
	// A model that has nothing to do while jobs run waits for them: their reports start the next turn.
	s.parked = !worked && len(jobs) > 0
	return ""
}

const interruptedText = "interrupted"

// worked says that the turn called one of the tools, other than those that only look at the goal or the
// manual: with them a model could go on for ever.
func (s *seat) worked(tools []string) bool {
	for _, f := range s.line.Facts()[s.goal.from:] {
		if o, ok := f.(proto.Opened); ok && !intrinsic.Has(o.Tool) && slices.Contains(tools, o.Tool) {
			return true
		}
	}
	return false
}

// goalAfter is what becomes of an active goal with a turn's end, as facts. What ended other than well
// blocks it, so that nothing goes on that a person does not know of.
func (s *seat) goalAfter(host context.Context, end proto.Ended, why string) []proto.Fact {
	g := s.line.State().Goal
	blocked := proto.Goal{Objective: g.Objective, Status: proto.GoalBlocked, By: byJig}
	switch {
	case g.Status == proto.GoalBlocked && g.Why == intrinsic.ModelBlocked:
		if blocked.Why = s.lastWords(); blocked.Why == "" {
			return nil
		}
		blocked.By = byModel
		return []proto.Fact{blocked}
	case !g.Active():
		return nil
	case host.Err() != nil:
		blocked.Why = "jig ended"
	case end.Why != proto.Done:
		blocked.Why = end.Error
	case why != "":
		blocked.Why = why
	default:
		return nil
	}
	s.mu.Lock()
	s.next, s.parked = false, false
	s.mu.Unlock()
	return []proto.Fact{blocked}
}

// finish says a turn's end with all that goes with it.
func (s *seat) finish(host context.Context, end proto.Ended, why string) error {
	s.goal.mu.Lock()
	defer s.goal.mu.Unlock()
	return s.Say(append(append(s.cost(), s.goalAfter(host, end, why)...), end)...)
}

// rests is what an idle session waits for that goes on by itself; nil when it does not.
func (s *seat) rests() any {
	if w := s.limit.waiting(); w != nil {
		return w
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.parked {
		return nil
	}
	return proto.Waiting{Jobs: s.jobs, Since: time.Now()}
}

// lastWords are what the model said last, on one line.
func (s *seat) lastWords() string {
	const most = 300
	all := s.line.State().Messages
	for _, m := range slices.Backward(all) {
		if m.Role != msg.Assistant {
			continue
		}
		text := strings.Join(strings.Fields(m.Blocks.Text()), " ")
		if r := []rune(text); len(r) > most {
			text = string(r[:most-1]) + "…"
		}
		return text
	}
	return ""
}

// closeGoal blocks a goal that would go on when there is no host any more.
func (s *seat) closeGoal(ctx context.Context) {
	s.goal.mu.Lock()
	defer s.goal.mu.Unlock()
	if facts := s.goalAfter(ctx, proto.Ended{}, ""); facts != nil {
		_ = s.Say(facts...) // opening it again says the same
	}
}
