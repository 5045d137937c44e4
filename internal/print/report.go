package print

import (
	"bytes"
	"encoding/json"
	"io"

	"jig/internal/msg"
	"jig/internal/proto"
)

// Report is what a run came to, in the form scripts read. Its keys and their order are a promise.
type Report struct {
	Type     string  `json:"type"` // "result"
	Provider string  `json:"provider"`
	Model    string  `json:"model"`
	Reply    string  `json:"reply"` // "" when the run failed
	Error    string  `json:"error,omitempty"`
	Rounds   int     `json:"rounds"`
	Duration int64   `json:"duration_ms"`
	Usage    usage   `json:"usage"`
	PerRound []round `json:"round_usage"`

	// Note is one line for a person although all went well.
	Note string `json:"-"`
	// Why says how the turn ended; it decides the exit code.
	Why proto.Why `json:"-"`

	goal   proto.Goal // as it was said last
	driven bool       // it was active in this run
}

type usage struct {
	msg.Usage
	Total int `json:"total_tokens"`
}

type round struct {
	Round int      `json:"round"`
	Tools []string `json:"tools,omitempty"` // in call order, with repeats
	Usage usage    `json:"usage"`
}

func newReport() Report {
	return Report{Type: "result", Why: proto.Failed, PerRound: []round{}}
}

// FailedBefore is the report of a run that failed before it had a session.
func FailedBefore(provider, model, why string) Report {
	r := newReport()
	r.Provider, r.Model, r.Error = provider, model, why
	return r
}

func (r *Report) add(f proto.Fact) {
	switch f := f.(type) {
	case proto.Began:
		r.Provider, r.Model = f.Provider, f.Model
	case proto.Goal:
		r.goal = f
		r.driven = r.driven || f.Active()
	case proto.Compacted: // paid for, but no round
		if f.Usage != nil {
			sum := r.Usage.Add(*f.Usage)
			r.Usage = usage{sum, sum.Total()}
		}
	case proto.Said:
		if f.Message.Role == msg.Assistant {
			r.reply(f)
		}
	}
}

func (r *Report) reply(f proto.Said) {
	x := round{Round: r.Rounds + f.Round} // turns that a goal started count on
	for _, c := range f.Message.Blocks.Calls() {
		x.Tools = append(x.Tools, c.Name)
	}
	if f.Usage != nil {
		x.Usage = usage{*f.Usage, f.Usage.Total()}
	}
	r.PerRound = append(r.PerRound, x)
	sum := r.Usage.Add(x.Usage.Usage)
	r.Usage = usage{sum, sum.Total()}
	r.Reply = f.Message.Blocks.Text()
}

// end takes a turn's end. A run is over well when its goal is complete, and not when it is blocked.
func (r *Report) end(f proto.Ended) {
	r.Why, r.Error, r.Note = f.Why, f.Error, f.Note
	r.Rounds += f.Rounds
	if f.Why == proto.Done && r.driven && r.goal.Status == proto.GoalBlocked {
		r.Why, r.Error = proto.Failed, "the goal is blocked: "+r.goal.Why
	}
	if r.Why != proto.Done {
		r.Reply = ""
	}
}

func (r Report) writeJSON(w io.Writer, indent string) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(r); err != nil {
		return err
	}
	_, err := w.Write(escaped(b.Bytes()))
	return err
}
