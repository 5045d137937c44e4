package host

import (
	"context"

	"jig/internal/agent"
	"jig/internal/msg"
	"jig/internal/proto"
)

// compact sums up the session between two turns. It can be ended as a turn can: by esc, stop, and by
// asked, whose end is that of whoever wants it.
func (s *seat) compact(ctx, asked context.Context, c proto.Compact) error {
	ctx, done := s.Scope(ctx)
	defer done()
	defer context.AfterFunc(asked, done)()
	if asked.Err() != nil {
		return asked.Err()
	}
	t, err := s.setup.Turn(ctx)
	if err != nil {
		return err
	}
	s.roomFor(&t)
	err = agent.Compact(ctx, s, s.line.State(), t, c.Guidance)
	if facts := s.cost(); facts != nil { // what failed was paid for, too
		if e := s.Say(facts...); err == nil {
			err = e
		}
	}
	return err
}

// roomFor adds what a session knows of its conversation's room. Nobody answers in a run without
// people.
func (s *seat) roomFor(t *agent.Turn) {
	t.Room.Ask = t.Room.Ask && !s.setup.Alone
	t.Room.Vain = func(answers int, used msg.Usage) {
		s.vain, s.vainUsage = s.vain+answers, s.vainUsage.Add(used)
	}
	if s.setup.Archive != "" {
		t.Room.Archive = func(text string) string {
			if s.setup.Mask != nil { // also what a person typed: the session's commands read it
				text = s.setup.Mask(text)
			}
			return archive(s.setup.Archive, s.setup.ID, text)
		}
	}
}
