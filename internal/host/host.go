// Package host owns sessions: their lines, their inboxes, what is pending, and the one goroutine of
// each that runs turns. Clients reach it through proto.Host alone.
package host

import (
	"context"
	"fmt"
	"iter"
	"reflect"
	"sync"
	"time"

	"jig/internal/agent"
	"jig/internal/proto"
	"jig/internal/session"
	"jig/internal/tool"
)

// Setup is what a session is made of.
type Setup struct {
	Began proto.Began
	// ID names the session to clients; "" lets the host find a name. Log keeps its facts; nil keeps them
	// for as long as the host lives. Old is what the log holds already.
	ID  string
	Log session.Store
	Old []proto.Fact
	// Today is the day, such as 2026-11-30, for a session whose model is told the date; nil is none.
	Today func() string
	// Mask takes out of a text what nobody may read in the log; nil is nothing.
	Mask func(string) string
	// Archive is the temporary folder, where the text of what was summed up is kept; "" keeps none.
	Archive string
	// Turn is asked when a turn starts; what it gives is frozen for the whole turn.
	Turn func(context.Context) (agent.Turn, error)
	// Place is where the session's tools act; nil when they leave nothing running.
	Place Place
	// Alone says that nobody watches: every question is refused at once, and the run waits for jobs.
	Alone bool
	// MaxWait bounds that wait; 0 is no bound.
	MaxWait time.Duration
	// Notices is how many notices the next request brings, where that is known beforehand because a
	// session is played again: jobs take their time, and their reports must land where they did. nil
	// is never known.
	Notices func() (n int, known bool)
	// Cost says what was spent since the session was opened; the turn's part and what was spent before
	// are added here. nil, or nil as its answer, says nothing.
	Cost func() *proto.Cost
	// Goals is where the session's goal tools reach its goal; nil when it has none of them.
	Goals *Goals
}

// Place is where a session's tools act, with what they leave running there. It lives as long as the
// session.
type Place interface {
	// Connect is called once, before the first turn. What ends without a call is reported by post,
	// what is present by show; the place may call both from any goroutine.
	Connect(post func(tool.Notice), show func(key string, value any))
	// Kill ends the job of that id and reports whether there is one.
	Kill(id string) bool
	// Close ends everything, waits for it, and says in one line a person should know what goes on
	// all the same, "" when nothing does.
	Close() (note string)
}

// Host runs sessions. Its methods may be called from any goroutine.
type Host struct {
	mu       sync.Mutex
	sessions map[string]*seat
	all      sync.WaitGroup
	ctx      context.Context
	stop     context.CancelFunc
	made     int
}

// New makes a host without sessions.
func New() *Host {
	ctx, stop := context.WithCancel(context.Background())
	return &Host{sessions: map[string]*seat{}, ctx: ctx, stop: stop}
}

// Open starts a session, or goes on with one, and gives its id. What the process that wrote it before
// left open is ended first.
func (h *Host) Open(s Setup) (string, error) {
	line := session.NewLine(s.Log, s.Old...)
	opening := session.Resume(line.State())
	if !same(line.State().Began, s.Began) {
		opening = append(opening, s.Began)
	}
	if len(opening) > 0 {
		if err := line.Say(opening...); err != nil {
			return "", err
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ctx.Err() != nil {
		return "", fmt.Errorf("the host is closed")
	}
	h.made++
	id := s.ID
	if id == "" {
		id = fmt.Sprintf("s%d", h.made)
	}
	if h.sessions[id] != nil {
		return "", fmt.Errorf("session %s is open here already", id)
	}
	seat := newSeat(line, s)
	if s.Place != nil {
		s.Place.Connect(seat.post, seat.Show)
	}
	if s.Goals != nil {
		s.Goals.connect(seat)
	}
	h.sessions[id] = seat
	h.all.Go(func() { seat.serve(h.ctx) })
	return id, nil
}

// same says that a session goes on with what it ran on before.
func same(a, b proto.Began) bool { return reflect.DeepEqual(a, b) }

// Close ends every session, cancels what runs, and waits for it. It gives what goes on all the same,
// one line each.
func (h *Host) Close() (notes []string) {
	h.stop()
	h.all.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.sessions {
		if p := s.setup.Place; p != nil {
			if n := p.Close(); n != "" {
				notes = append(notes, n)
			}
		}
		s.line.Close()
	}
	h.sessions = map[string]*seat{}
	return notes
}

// Facts is how many facts a session has, 0 where it is not open.
func (h *Host) Facts(id string) uint64 {
	s, err := h.find(id)
	if err != nil {
		return 0
	}
	return s.line.State().Facts
}

func (h *Host) find(id string) (*seat, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.sessions[id]
	if s == nil {
		return nil, fmt.Errorf("session %s is not open here", id)
	}
	return s, nil
}

// Do carries out a client's command.
func (h *Host) Do(ctx context.Context, id string, c proto.Command) error {
	s, err := h.find(id)
	if err != nil {
		return err
	}
	switch c := c.(type) {
	case proto.Submit:
		s.submit(c)
	case proto.Esc:
		s.esc()
	case proto.Stop:
		s.stop()
	case proto.Answer:
		return s.pending.answer(c)
	case proto.Kill:
		return s.kill(c.Jobs)
	case proto.SetGoal:
		return s.setGoal(c)
	case proto.ResumeGoal:
		return s.resumeGoal()
	case proto.ClearGoal:
		return s.clearGoal()
	case proto.Rewind:
		return s.order(ctx, func(context.Context) error { return s.rewind(c) })
	case proto.TryAgain:
		return s.order(ctx, func(context.Context) error { return s.tryAgain() })
	case proto.Compact:
		return s.order(ctx, func(host context.Context) error { return s.compact(host, ctx, c) })
	case proto.Rename:
		return s.rename(c)
	default:
		return fmt.Errorf("a session takes no %T", c)
	}
	return nil
}

// Watch shows a session to a client. A session that is not open shows nothing.
func (h *Host) Watch(ctx context.Context, id string, after uint64) iter.Seq[proto.Event] {
	s, err := h.find(id)
	if err != nil {
		return func(func(proto.Event) bool) {}
	}
	return s.line.Watch(ctx, after)
}
