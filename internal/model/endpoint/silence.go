package endpoint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"
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
	events *time.Timer // since the last event that was no keep-alive
	ending *time.Timer // since the reply was whole
	last   []byte      // the last event, when it was small enough to be one
	kept   int
}

// listen begins to watch. stop must be called.
func (c *Client) listen(ctx context.Context) (context.Context, *silence) {
	ctx, end := context.WithCancelCause(ctx)
	s := &silence{limit: c.silence, divide: c.divide, end: end, kept: -1}
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
	switch {
	case s.bytes != nil:
		s.bytes.Reset(s.limit / s.divide)
	case s.begin != nil:
		s.begin.Stop()
		s.bytes = s.after("sent nothing more", s.limit)
	}
}

// event is told of each event that came, and how much is kept of the reply by now. An event that says
// what the one before it said and adds nothing is a keep-alive, whatever the dialect calls it.
func (s *silence) event(data []byte, kept int) {
	const small = 256
	again := len(data) <= small && bytes.Equal(data, s.last) && kept == s.kept
	s.kept, s.last = kept, s.last[:0]
	if len(data) <= small {
		s.last = append(s.last, data...)
	}
	if s.events != nil && !again {
		s.events.Reset(aliveFactor * s.limit / s.divide)
	}
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
