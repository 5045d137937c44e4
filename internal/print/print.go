// Package print is the client for scripts and pipes: it sends one message to a session and writes
// what comes back as text, as one JSON report or as one event a line. It also draws a run for
// somebody who watches it (view.go). It is no screen: nothing it writes is ever taken back.
package print

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"jig/internal/proto"
)

// Format is how a run is written to standard output.
type Format string

// The formats.
const (
	Text  Format = "text"  // the answer alone
	JSON  Format = "json"  // one report at the end
	JSONL Format = "jsonl" // one event a line as it happens, the report last

	// Silent leaves the answer to the caller. People cannot choose it.
	Silent Format = ""
)

// Formats are all of them, for messages and completion.
var Formats = []string{string(Text), string(JSON), string(JSONL)}

// Options say where a run is written and how.
type Options struct {
	Format  Format
	Out     io.Writer // the answer, the report, the events
	Err     io.Writer // the view, when Watch is on
	Watch   bool      // draw calls and diffs on Err as they happen
	Color   bool      // the view may use colour
	Clean   bool      // Out is a terminal: control characters of the answer must not reach it
	After   uint64    // facts up to this number are of earlier turns
	Opened  uint64    // facts up to this number came with the opening: they are shown, and end no run
	Session string    // its id, which events begin with; "" where it is not kept
	// Provider and Model are what the session runs on, where no fact after After says so.
	Provider, Model string
	// Begin is what begins the run in the place of the text; nil is none.
	Begin proto.Command
}

// Run sends text to a session and returns when the turn has ended, and where the session has an active
// goal, when that goes on no more. When ctx ends the turn is stopped, and Run still returns its end. The
// error says that Out could not be written.
func Run(ctx context.Context, h proto.Host, session, text string, o Options) (Report, error) {
	start := time.Now()
	r := newReport()
	r.Provider, r.Model = o.Provider, o.Model
	first := o.Begin
	if first == nil {
		first = proto.Submit{Text: text}
	}
	if err := h.Do(ctx, session, first); err != nil {
		r.Error = err.Error()
		return r, nil
	}
	// Only now: a stop that came before the message would find nothing to stop.
	defer context.AfterFunc(ctx, func() { _ = h.Do(context.WithoutCancel(ctx), session, proto.Stop{}) })()
	var watchers []func(proto.Event) error
	if o.Format == JSONL {
		if err := sessionLine(o); err != nil {
			return r, fmt.Errorf("cannot write the output: %w", err)
		}
		watchers = append(watchers, newEvents(o.Out).write)
	}
	view := NewView(o.Err, o.Color)
	if o.Watch {
		watchers = append(watchers, view.Show)
	}
	watchers = append(watchers, waiting{o.Err}.show)
	for e := range h.Watch(context.WithoutCancel(ctx), session, o.After) {
		for _, w := range watchers {
			if err := w(e); err != nil {
				return r, fmt.Errorf("cannot write the output: %w", err)
			}
		}
		if end, ok := e.Now.(proto.Ended); ok { // the log takes no more
			r.end(end)
			break
		}
		r.add(e.Fact)
		if end, ok := e.Fact.(proto.Ended); ok && e.Seq > o.Opened {
			r.end(end)
			if !r.goal.Active() {
				break
			}
		}
	}
	r.Duration = time.Since(start).Milliseconds()
	if view.begun && o.Clean && o.Format == Text && r.Error == "" { // on one terminal the answer must not look like a result's last line
		if _, err := fmt.Fprintln(o.Err); err != nil {
			return r, fmt.Errorf("cannot write the output: %w", err)
		}
	}
	return r, r.Write(o)
}

// Write writes what a finished run leaves on standard output: the answer of one that went well, or
// the report.
func (r Report) Write(o Options) error {
	var err error
	switch {
	case o.Format == JSON:
		err = r.writeJSON(o.Out, "  ")
	case o.Format == JSONL:
		err = r.writeJSON(o.Out, "")
	case o.Format == Text && r.Error == "":
		reply := r.Reply
		if o.Clean {
			reply = Clean(reply)
		}
		_, err = fmt.Fprintln(o.Out, reply)
	}
	if err != nil {
		return fmt.Errorf("cannot write the output: %w", err)
	}
	return nil
}

// Clean makes foreign text safe for a terminal: control characters but tab and newline become
// visible instead of moving the cursor, changing the title or worse.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r':
			return -1
		case r < 0x20 || steers(r):
			return '\uFFFD'
		}
		return r
	}, s)
}

// steers says whether a character beyond the first control characters steers a terminal, or makes
// text run the other way than it reads.
func steers(r rune) bool {
	return r >= 0x7F && r < 0xA0 || r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069
}

// escaped is a line of JSON in which such characters, which only strings can hold, are written as
// escapes: JSON leaves them as they are, and a report is often looked at on a terminal.
func escaped(line []byte) []byte {
	if !bytes.ContainsFunc(line, steers) {
		return line
	}
	var b bytes.Buffer
	for _, r := range string(line) {
		if steers(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.Bytes()
}
