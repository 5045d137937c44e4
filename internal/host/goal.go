package host

import (
	"errors"
	"slices"
	"strings"
	"sync"

	"jig/internal/agent"
	"jig/internal/msg"
	"jig/internal/proto"
	"jig/internal/tool"
	"jig/internal/tools/intrinsic"
)

// Who changes a goal.
const (
	byPerson = "person"
	byModel  = "model"
	byJig    = "jig"
)

// Goals is where the goal tools of a session reach its goal. It is made before the session is opened,
// because the tools are. Without a session it keeps a goal of its own, for calls made by hand.
type Goals struct {
	mu   sync.Mutex
	seat *seat
	own  intrinsic.Goal
}

var _ intrinsic.Keeper = (*Goals)(nil)

func (g *Goals) connect(s *seat) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.seat = s
}

// Goal is the goal as it stands.
func (g *Goals) Goal() intrinsic.Goal {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.seat == nil {
		return g.own
	}
	return g.seat.theGoal()
}

// Change is a change that the model makes.
func (g *Goals) Change(f func(intrinsic.Goal) (intrinsic.Goal, error)) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.seat != nil {
		return g.seat.changeGoal(byModel, f)
	}
	now, err := f(g.own)
	if err == nil {
		g.own = now
	}
	return err
}

// goal is what a seat knows of its goal beyond the facts.
type goal struct {
	mu   sync.Mutex // one change at a time, and none while a turn's end is said
	idle int        // continuations in a row that did nothing

	// Of the running turn. Only the goroutine that runs turns uses them.
	continuing bool             // nothing but the goal started it
	from       uint64           // how many facts there were before it
	rounds     int              // what the turns before it used
	budget     int              // how many rounds all turns may use, 0 is no limit
	summaries  *agent.Summaries // of the turns in a row that only the goal started, with the one before them
}

// theGoal is the goal as it stands.
func (s *seat) theGoal() intrinsic.Goal {
	g := s.line.State().Goal
	return intrinsic.Goal{Objective: g.Objective, Status: intrinsic.Status(g.Status), Why: g.Why, Heard: heard(s.line.Facts())}
}

// heard says whether a person has spoken since the goal was said last.
func heard(facts []proto.Fact) bool {
	for _, f := range slices.Backward(facts) {
		switch f := f.(type) {
		case proto.Goal:
			return false
		case proto.Said:
			if f.Message.Role == msg.User && f.Notice == "" {
				return true
			}
		}
	}
	return true
}

// changeGoal puts what f makes of the goal in its place.
func (s *seat) changeGoal(by string, f func(intrinsic.Goal) (intrinsic.Goal, error)) error {
	s.goal.mu.Lock()
	defer s.goal.mu.Unlock()
	old := s.theGoal()
	now, err := f(old)
	if err != nil || now == old {
		return err
	}
	// A model that drops its goal and makes another does no more for that.
	if by == byPerson && now.Status == intrinsic.Active && old.Status != intrinsic.Active {
		s.goal.idle = 0
	}
	return s.Say(proto.Goal{Objective: now.Objective, Status: proto.GoalStatus(now.Status), Why: now.Why, By: by})
}

// setGoal starts a goal in the place of any other. It goes on from the message, or by itself.
func (s *seat) setGoal(c proto.SetGoal) error {
	objective, err := intrinsic.Objective(strings.ToValidUTF8(c.Objective, "\uFFFD"))
	if err != nil {
		return forPerson(err)
	}
	err = s.changeGoal(byPerson, func(intrinsic.Goal) (intrinsic.Goal, error) {
		return intrinsic.Goal{Objective: objective, Status: intrinsic.Active}, nil
	})
	switch {
	case err != nil:
		return err
	case c.Text != "":
		s.submit(proto.Submit{Text: c.Text})
	default:
		s.goOn()
	}
	return nil
}

func (s *seat) resumeGoal() error {
	err := s.changeGoal(byPerson, func(g intrinsic.Goal) (intrinsic.Goal, error) {
		switch {
		case g.None():
			return g, errors.New("the session has no goal")
		case g.Status == intrinsic.Active:
			return g, errors.New("the goal is active already")
		}
		return intrinsic.Goal{Objective: g.Objective, Status: intrinsic.Active}, nil
	})
	if err == nil {
		s.goOn()
	}
	return err
}

// clearGoal drops the goal, with the turn that only it started.
func (s *seat) clearGoal() error {
	err := s.changeGoal(byPerson, func(g intrinsic.Goal) (intrinsic.Goal, error) {
		if g.None() {
			return g, errors.New("the session has no goal")
		}
		g.Status, g.Why = intrinsic.Status(proto.GoalCleared), ""
		return g, nil
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	only := s.onlyGoal
	s.next, s.parked = false, false
	s.mu.Unlock()
	if only {
		s.scopes.endAll()
	}
	return nil
}

// forPerson is a sentence for the model as a person's error.
func forPerson(err error) error {
	if text, ok := tool.Sentence(err); ok {
		return errors.New("the goal's " + text)
	}
	return err
}
