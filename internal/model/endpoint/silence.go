package endpoint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"jig/internal/model"
)

// defaultSilence is how long an answer may send nothing. The vendors' own clients wait between 90
// seconds and 10 minutes for the next byte; models that think long say nothing for minutes.
const defaultSilence = 5 * time.Minute

// An answer may take longer to begin, because a local model reads the whole conversation before its
// first word and the vendors' clients wait ten minutes for it. One that sends only keep-alives gets
// longer still: they prove that somebody is there, but a server that has lost its model sends them
// for ever.
const (
	beginFactor = 2
	aliveFactor = 4
)

// lingers is how long the end of a stream is waited for once the reply is whole: what may still come
// is its usage. Some servers leave the connection open instead.
const lingers = 10 * time.Second

// silent is why a request was given up, and for how long nothing had come.
type silent struct {
	what string
	d    time.Duration
}

func (s *silent) Error() string { return fmt.Sprintf("%s for %s", s.what, s.d) }

// silence watches one answer and ends its context when nothing more comes. It is used by one
// goroutine.
type silence struct {
	limit  time.Duration // how long the next byte may take
	divide time.Duration // 1 but in tests
	end    context.CancelCauseFunc
	begin  *time.Timer // until the first byte; the timers are nil where there is no limit
	bytes  *time.Timer // since the last byte, once one has come
	events *time.Timer // since something last added to the reply
	ending *time.Timer // since the reply was whole
	kept   int
	tell   func(model.Progress)
}

// listen begins to watch. stop must be called.
func (c *Client) listen(ctx context.Context, heard func(string, model.Progress)) (context.Context, *silence) {
	tell := func(p model.Progress) {
		if heard != nil {
			heard(c.url.Host, p)
		}
	}
	tell(model.Asked)
	ctx, end := context.WithCancelCause(ctx)
	s := &silence{limit: c.silence, divide: c.divide, end: end, tell: tell}
	s.begin = s.after("sent no answer", beginFactor*s.limit)
	s.events = s.after("sent nothing but keep-alives", aliveFactor*s.limit)
	return ctx, s
}

func (s *silence) after(what string, d time.Duration) *time.Timer {
	if d <= 0 {
		return nil
	}
	return time.AfterFunc(d/s.divide, func() { s.end(&silent{what, d}) })
}

func (s *silence) stop() {
	for _, t := range []*time.Timer{s.begin, s.bytes, s.events, s.ending} {
		if t != nil {
			t.Stop()
		}
	}
	s.end(nil)
}

// heard is told of each byte that came.
func (s *silence) heard() {
	s.tell(model.Alive)
	switch {
	case s.bytes != nil:
		s.bytes.Reset(s.limit / s.divide)
	case s.begin != nil:
		s.begin.Stop()
		s.bytes = s.after("sent nothing more", s.limit)
	}
}

// event is told how much is kept of the reply after each event. One that adds nothing is a keep-alive,
// whatever the dialect calls it; comparing it with the one before would miss those that are numbered.
func (s *silence) event(kept int) {
	if kept > s.kept {
		s.kept = kept
		s.grew()
	}
}

func (s *silence) grew() {
	if s.events != nil {
		s.events.Reset(aliveFactor * s.limit / s.divide)
	}
	s.tell(model.Grew)
}

// whole is told that the reply has all it needs.
func (s *silence) whole() {
	if s.ending == nil {
		s.ending = s.after("did not end its stream", lingers)
	}
}

// body is an answer's body whose bytes are heard.
type body struct {
	io.ReadCloser
	s *silence
}

func (b body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.s.heard()
	}
	return n, err
}

// grown is the body of a whole answer, to which all adds but the spaces that are sent to show life.
type grown struct {
	io.Reader
	s *silence
}

func (g grown) Read(p []byte) (int, error) {
	n, err := g.Reader.Read(p)
	if len(bytes.TrimSpace(p[:n])) > 0 {
		g.s.grew()
	}
	return n, err
}

// gaveUp is why the request of a context was given up, nil when it was not.
func gaveUp(ctx context.Context) *silent {
	var s *silent
	if errors.As(context.Cause(ctx), &s) {
		return s
	}
	return nil
}

// cancelled says whether somebody else than the silence ended a context.
func cancelled(ctx context.Context) bool { return ctx.Err() != nil && gaveUp(ctx) == nil }
