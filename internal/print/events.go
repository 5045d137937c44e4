package print

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"jig/internal/proto"
	"jig/internal/tool"
)

// events writes facts as they are, and of the reply that is coming only what was added since the
// last line, so that the output grows with the reply and not with its square.
type events struct {
	out  io.Writer
	told proto.Writing
}

func newEvents(w io.Writer) *events { return &events{out: w} }

type delta struct {
	Type      string `json:"type"` // "delta"
	Text      string `json:"text,omitempty"`
	Reasoning string `json:"reasoning,omitempty"`
	Call      string `json:"call,omitempty"`
	Reset     bool   `json:"reset,omitempty"` // what was told of this reply is void
}

type jobs struct {
	Type string      `json:"type"` // "jobs"
	Jobs []proto.Job `json:"jobs"`
}

type waits struct {
	Type string      `json:"type"` // "waiting"
	Jobs []proto.Job `json:"jobs,omitempty"`
	*proto.Retry
	Since time.Time `json:"since"`
}

type silence struct {
	Type string `json:"type"` // "waiting"
	proto.Silence
	Since time.Time `json:"since"`
}

type compacting struct {
	Type string `json:"type"` // "compacting"
	proto.Compacting
}

type progress struct {
	Type string    `json:"type"` // "progress"
	Call string    `json:"call"`
	Card tool.Card `json:"card"`
}

func (e *events) write(ev proto.Event) error {
	if ev.Fact != nil {
		line, err := proto.Encode(ev.Seq, ev.Fact)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(e.out, "%s\n", escaped(line))
		return err
	}
	switch v := ev.Now.(type) {
	case proto.Writing:
		return e.delta(v)
	case []proto.Job:
		return e.line(jobs{"jobs", v})
	case proto.Waiting:
		if v.Silence != nil {
			return e.line(silence{"waiting", *v.Silence, v.Since})
		}
		return e.line(waits{"waiting", v.Jobs, v.Retry, v.Since})
	case proto.Compacting:
		return e.line(compacting{"compacting", v})
	case tool.Card:
		return e.line(progress{"progress", strings.TrimPrefix(ev.Key, proto.KeyCall), v})
	case nil:
		if ev.Key == proto.KeyReply {
			e.told = proto.Writing{}
		}
	}
	return nil
}

func (e *events) delta(v proto.Writing) error {
	d := delta{Type: "delta"}
	if !strings.HasPrefix(v.Text, e.told.Text) || !strings.HasPrefix(v.Reasoning, e.told.Reasoning) {
		d.Reset, e.told = true, proto.Writing{}
	}
	d.Text = v.Text[len(e.told.Text):]
	d.Reasoning = v.Reasoning[len(e.told.Reasoning):]
	if v.Call != e.told.Call {
		d.Call = v.Call
	}
	e.told = v
	if d == (delta{Type: "delta"}) {
		return nil
	}
	return e.line(d)
}

func (e *events) line(v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := e.out.Write(escaped(b.Bytes()))
	return err
}

// sessionLine names the session before its facts.
func sessionLine(o Options) error {
	if o.Session == "" {
		return nil
	}
	_, err := fmt.Fprintf(o.Out, "{\"type\":\"session\",\"id\":%q}\n", o.Session)
	return err
}

// Hint writes one line that a person may want to remember.
func Hint(w io.Writer, line string, color bool) {
	fmt.Fprintln(w, paint(color).dim(Clean(line)))
}
