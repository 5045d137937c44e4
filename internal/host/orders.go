package host

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"jig/internal/msg"
	"jig/internal/proto"
	"jig/internal/session"
)

// What an order cannot be carried out for.
var (
	errBusy   = errors.New("the session is busy: wait for the turn to end, or stop it")
	errClosed = errors.New("the session is closed")
)

// orders are what changes a session between its turns. The goroutine that runs the turns carries them
// out, so that none comes into one.
type orders struct {
	refuse error // why none is taken now, nil when some are
	queue  []order
	again  bool // a turn is to start on the conversation as it is
}

type order struct {
	do   func(context.Context) error
	done chan error
}

// order hands one over and waits for it. The session must be idle.
func (s *seat) order(ctx context.Context, do func(context.Context) error) error {
	o := order{do, make(chan error, 1)}
	s.mu.Lock()
	if err := s.orders.refuse; err != nil {
		s.mu.Unlock()
		return err
	}
	s.orders.queue = append(s.orders.queue, o)
	s.mu.Unlock()
	s.nudge()
	select {
	case err := <-o.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// obey carries out what was ordered.
func (s *seat) obey(ctx context.Context) {
	for {
		s.mu.Lock()
		if len(s.orders.queue) == 0 {
			s.mu.Unlock()
			return
		}
		o := s.orders.queue[0]
		s.orders.queue = s.orders.queue[1:]
		s.mu.Unlock()
		o.done <- o.do(ctx)
	}
}

// refuse answers every order with an error from now on; nil takes them again.
func (s *seat) refuse(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.orders.refuse = err
	if err == nil {
		return
	}
	for _, o := range s.orders.queue {
		o.done <- err
	}
	s.orders.queue = nil
}

// again reports whether a turn is to start with nothing said, and forgets it.
func (s *seat) again() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.orders.again
	s.orders.again = false
	return was
}

// rewind makes a person's message and all after it void.
func (s *seat) rewind(c proto.Rewind) error {
	if s.waiting() {
		return errors.New("messages wait to be sent: the session can be rewound once they were")
	}
	for _, m := range session.Spoken(s.line.Facts()) {
		if m.Seq == c.Before {
			return s.Say(proto.Rewound(c))
		}
	}
	return fmt.Errorf("fact %d is no message of a person that stands", c.Before)
}

// MayTryAgain says why no turn can start on the conversation as it is, nil when one can.
func MayTryAgain(facts []proto.Fact) error {
	if len(session.Spoken(facts)) == 0 {
		return errors.New("nothing was said yet that could be tried again")
	}
	st := session.Fold(facts)
	if st.Goal.Status != "" && st.Goal.Status != proto.GoalDone && st.Goal.Status != proto.GoalCleared {
		return errors.New("the session has a goal: let that go on instead (jig goal resume)")
	}
	if endsWithReply(st) && lastEnd(facts) == proto.Done {
		return errors.New("there is nothing to try again: the last turn ended with an answer; say something new, or rewind it")
	}
	return nil
}

func endsWithReply(st session.State) bool {
	return len(st.Messages) > 0 && st.Messages[len(st.Messages)-1].Role == msg.Assistant
}

// tryAgain starts a turn on the conversation as it is.
func (s *seat) tryAgain() error {
	if err := MayTryAgain(s.line.Facts()); err != nil {
		return err
	}
	if endsWithReply(s.line.State()) {
		// A conversation that ends with the model's own words is refused by some providers.
		m := msg.Say(msg.User, "[the reply above was cut short; go on from there]")
		if err := s.Say(proto.Said{Message: m, Notice: proto.NoticeRetry}); err != nil {
			return err
		}
	}
	s.mu.Lock()
	s.orders.again = true
	s.mu.Unlock()
	s.hold(false)
	return nil
}

func lastEnd(facts []proto.Fact) proto.Why {
	for i := len(facts) - 1; i >= 0; i-- {
		if e, ok := facts[i].(proto.Ended); ok {
			return e.Why
		}
	}
	return ""
}

// rename gives the session a title. It may be done at any time.
func (s *seat) rename(c proto.Rename) error {
	title := strings.Join(strings.FieldsFunc(strings.ToValidUTF8(c.Title, "\uFFFD"), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if title == "" {
		return errors.New("a title must not be empty")
	}
	return s.Say(proto.Titled{Title: title})
}

// dated puts the day before what is said, if it is another than the one the model was told.
func (s *seat) dated(facts []proto.Fact) []proto.Fact {
	st := s.line.State()
	if s.setup.Today == nil || st.Date == "" {
		return facts
	}
	day := s.setup.Today()
	if day == st.Date {
		return facts
	}
	m := msg.Say(msg.User, fmt.Sprintf("[the date is now %s]", day))
	return append([]proto.Fact{proto.Said{Message: m, Notice: proto.NoticeDate, Date: day}}, facts...)
}
