package endpoint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"jig/internal/model"
)

// note is an answer of no dialect: it keeps what events say, and "end" ends it.
type note struct {
	Size
	text  strings.Builder
	ended bool
}

func (n *note) Event(data []byte) (last bool, err error) {
	switch string(data) {
	case "end":
		n.ended = true
	case "last":
		return true, nil
	case "ping":
	default:
		if strings.HasPrefix(string(data), "{") { // {"type":"keepalive","sequence_number":7}
			break
		}
		n.Keep(&n.text, string(data))
	}
	return false, nil
}

func (n *note) Whole(body []byte) error { n.ended = n.Keep(&n.text, string(body)); return nil }
func (n *note) Ended() bool             { return n.ended }

// line is a server whose answer comes in pieces, each after a pause. With mute nothing comes at all.
type line struct {
	mute   bool
	status int
	pieces []piece
}

type piece struct {
	pause time.Duration
	text  string
}

func (l line) RoundTrip(r *http.Request) (*http.Response, error) {
	if l.mute {
		<-r.Context().Done()
		return nil, context.Cause(r.Context())
	}
	status := l.status
	if status == 0 {
		status = http.StatusOK
	}
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: &pausing{ctx: r.Context(), pieces: l.pieces}}, nil
}

type pausing struct {
	ctx    context.Context
	pieces []piece
}

func (p *pausing) Read(b []byte) (int, error) {
	if len(p.pieces) == 0 { // and then the line is dead
		<-p.ctx.Done()
		return 0, p.ctx.Err()
	}
	next := p.pieces[0]
	select {
	case <-time.After(next.pause):
	case <-p.ctx.Done():
		return 0, p.ctx.Err()
	}
	if next.text == "EOF" {
		return 0, io.EOF
	}
	p.pieces = p.pieces[1:]
	return copy(b, next.text), nil
}

func (p *pausing) Close() error { return nil }

func repeated(n int, p piece) (out []piece) {
	for range n {
		out = append(out, p)
	}
	return out
}

// numbered are n keep-alives that differ.
func numbered(n int) (out []piece) {
	for i := range n {
		out = append(out, piece{time.Minute, fmt.Sprintf("data: {\"type\":\"keepalive\",\"sequence_number\":%d}\n\n", i)})
	}
	return out
}

func TestAnAnswerThatGoesSilentIsGivenUp(t *testing.T) {
	ping := piece{time.Minute, "data: ping\n\n"}
	for name, c := range map[string]struct {
		line    line
		silence time.Duration
		want    time.Duration
		says    string
	}{
		"never begins":           {line{mute: true}, 0, 10 * time.Minute, "sent no answer for 10m0s"},
		"headers alone":          {line{}, 0, 10 * time.Minute, "sent no answer for 10m0s"},
		"in the middle":          {line{pieces: []piece{{time.Minute, "data: a\n\n"}}}, 0, 6 * time.Minute, "sent nothing more for 5m0s"},
		"within an event":        {line{pieces: []piece{{time.Minute, "data: a"}}}, 0, 6 * time.Minute, "sent nothing more for 5m0s"},
		"within a whole answer":  {line{pieces: []piece{{time.Minute, `{"a":`}}}, 0, 6 * time.Minute, "sent nothing more for 5m0s"},
		"comments":               {line{pieces: repeated(60, piece{time.Minute, ": alive\n\n"})}, 0, 20 * time.Minute, "sent nothing but keep-alives for 20m0s"},
		"comments in the middle": {line{pieces: append([]piece{{time.Minute, "data: a\n\n"}}, repeated(60, piece{time.Minute, ": alive\n\n"})...)}, 0, 21 * time.Minute, "sent nothing but keep-alives for 20m0s"},
		"pings":                  {line{pieces: repeated(60, ping)}, 0, 20 * time.Minute, "sent nothing but keep-alives for 20m0s"},
		"numbered":               {line{pieces: append([]piece{{time.Minute, "data: a\n\n"}}, numbered(60)...)}, 0, 21 * time.Minute, "sent nothing but keep-alives for 20m0s"},
		"a shorter limit":        {line{pieces: []piece{{time.Second, "data: a\n\n"}}}, 30 * time.Second, 31 * time.Second, "sent nothing more for 30s"},
	} {
		synctest.Test(t, func(t *testing.T) {
			client := New(Vendor{Base: "https://h"}, Options{Transport: c.line, Silence: c.silence}, nil)
			start := time.Now()
			err := client.Ask(t.Context(), nil, &note{}, nil)
			var e *model.Error
			if !errors.As(err, &e) || e.Kind != model.KindNetwork || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "idle_timeout") {
				t.Errorf("%s: %v", name, err)
			}
			if d := time.Since(start); d != c.want {
				t.Errorf("%s: given up after %v, want %v", name, d, c.want)
			}
		})
	}
}

func TestASlowAnswerIsNotTakenForSilence(t *testing.T) {
	slow := 4 * time.Minute
	end := []piece{{slow, "data: end\n\n"}, {slow, "data: last\n\n"}}
	for name, l := range map[string]line{
		"text":         {pieces: append(repeated(30, piece{slow, "data: a\n\n"}), end[0], piece{time.Second, "data: last\n\n"})},
		"late":         {pieces: append([]piece{{9 * time.Minute, "data: a\n\n"}}, end[0], piece{time.Second, "EOF"})},
		"thoughtful":   {pieces: append(repeated(19, piece{time.Minute, ": alive\n\n"}), piece{30 * time.Second, "data: end\n\n"}, piece{0, "data: last\n\n"})},
		"byte by byte": {pieces: []piece{{slow, "d"}, {slow, "ata"}, {slow, ": a"}, {slow, "\n\n"}, {0, "data: end\n\ndata: last\n\n"}}},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := New(Vendor{Base: "https://h"}, Options{Transport: l}, nil)
			if err := c.Ask(t.Context(), nil, &note{}, nil); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// Some servers leave the connection open after their last event, or go on with keep-alives.
func TestTheEndOfAWholeReplyIsNotWaitedForLong(t *testing.T) {
	for name, l := range map[string]line{
		"silence":     {pieces: []piece{{0, "data: a\n\ndata: end\n\n"}}},
		"keep-alives": {pieces: append([]piece{{0, "data: a\n\ndata: end\n\n"}}, repeated(100, piece{time.Second, ": alive\n\n"})...)},
	} {
		synctest.Test(t, func(t *testing.T) {
			for _, limit := range []time.Duration{0, -1} {
				c := New(Vendor{Base: "https://h"}, Options{Transport: l, Silence: limit}, nil)
				start, n := time.Now(), &note{}
				if err := c.Ask(t.Context(), nil, n, nil); err != nil || n.text.String() != "a" {
					t.Errorf("%s: %v %q", name, err, n.text.String())
				}
				if d := time.Since(start); d != lingers {
					t.Errorf("%s: %v", name, d)
				}
			}
		})
	}
}

func TestWithoutALimitSilenceIsBorne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(Vendor{Base: "https://h"}, Options{Silence: -1, Transport: line{pieces: []piece{{48 * time.Hour, "data: a\n\ndata: end\n\ndata: last\n\n"}}}}, nil)
		if err := c.Ask(t.Context(), nil, &note{}, nil); err != nil {
			t.Error(err)
		}
	})
}

func TestARefusalWhoseBodyNeverEndsIsStillARefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(Vendor{Base: "https://h"}, Options{Transport: line{status: 401, pieces: []piece{{0, `{"error":"bad key"}`}}}}, nil)
		var e *model.Error
		if err := c.Ask(t.Context(), nil, &note{}, nil); !errors.As(err, &e) || e.Kind != model.KindAuth {
			t.Error(err)
		}
	})
}

func TestCancellingASilentAnswerIsNoFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, l := range []line{{mute: true}, {}, {pieces: []piece{{0, "data: a\n\n"}}}} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			c := New(Vendor{Base: "https://h"}, Options{Transport: l}, nil)
			start := time.Now()
			if err := c.Ask(ctx, nil, &note{}, nil); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Minute {
				t.Error(err)
			}
			cancel()
		}
	})
}

func TestItIsToldHowAReplyComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, c := range map[string]struct {
			pieces []piece
			want   string
		}{
			"stream": {[]piece{{0, ": alive\n\n"}, {0, "data: a\n\n"}, {0, "data: ping\n\n"}, {0, "data: end\n\n"}, {0, "data: last\n\n"}}, "h0 h1 h1 h2 h1 h1 h1"},
			"whole":  {[]piece{{0, " \n"}, {0, "{"}, {0, "  "}, {0, "}"}, {0, "EOF"}}, "h0 h1 h1 h2 h1 h1 h2"},
		} {
			client := New(Vendor{Base: "https://h"}, Options{Transport: line{pieces: c.pieces}}, nil)
			var got []string
			err := client.Ask(t.Context(), nil, &note{}, func(host string, p model.Progress) { got = append(got, fmt.Sprint(host, int(p))) })
			if err != nil || strings.Join(got, " ") != c.want {
				t.Errorf("%s: %v, %v", name, got, err)
			}
		}
	})
}

func TestAWholeAnswerThatComesSlowlyIsNotTakenForSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pieces := append(append([]piece{{0, "{"}}, repeated(30, piece{time.Minute, "x"})...), piece{0, "}"}, piece{0, "EOF"})
		c := New(Vendor{Base: "https://h"}, Options{Transport: line{pieces: pieces}}, nil)
		if err := c.Ask(t.Context(), nil, &note{}, nil); err != nil {
			t.Error(err)
		}
	})
}
