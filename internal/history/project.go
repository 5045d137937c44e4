package history

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"jig/internal/msg"
	"jig/internal/proto"
)

// How much of a text an entry keeps, in bytes. What is longer loses its middle; the log has all of it.
const (
	MaxText   = 64 << 10 // of what was said
	MaxArgs   = 8 << 10
	MaxResult = 16 << 10
)

// Fact is a fact with its number and when it was kept.
type Fact struct {
	Seq  uint64
	Time time.Time
	Fact proto.Fact
}

// Projector makes changes of the facts of one session, which it is given in order.
type Projector struct {
	Session string
	// Attributes says what to keep of a session that runs in a project's root.
	Attributes func(root string) map[string]string

	upto   uint64
	known  Created
	calls  map[string]msg.Call // of the last reply that made any; all are closed before the next
	denied map[string]bool
	unless map[string]string // what the model reads of a call that nobody could be asked about
}

// Upto is the number of the last fact that it was given.
func (p *Projector) Upto() uint64 { return p.upto }

// Skip lets it begin behind facts whose entries are kept already. Before are those that may matter: all
// since the last reply that made calls.
func (p *Projector) Skip(upto uint64, before []Fact) {
	for _, f := range before {
		p.entry(f)
	}
	p.upto = upto
}

// Next makes one change of the facts that follow.
func (p *Projector) Next(facts []Fact) Change {
	c := Change{Session: p.Session, After: p.upto, Upto: p.upto}
	for _, f := range facts {
		if f.Seq != c.Upto+1 {
			continue
		}
		c.Upto = f.Seq
		if r, ok := f.Fact.(proto.Rewound); ok {
			c.cut(r.Before)
			continue
		}
		if e, ok := p.entry(f); ok {
			c.Append = append(c.Append, e)
		}
	}
	c.Created = p.known
	p.upto = c.Upto
	return c
}

func (c *Change) cut(at uint64) {
	kept := c.Append[:0]
	for _, e := range c.Append {
		if e.Fact < at {
			kept = append(kept, e)
		}
	}
	c.Append = kept
	if at <= c.After && (c.Cut == 0 || at < c.Cut) {
		c.Cut = at
	}
}

// entry makes an entry of a fact, if it is one that says something.
func (p *Projector) entry(f Fact) (Entry, bool) {
	e := Entry{Fact: f.Seq, Time: f.Time}
	if p.calls == nil {
		p.begin()
	}
	if p.known.Time.IsZero() {
		p.known.Time = f.Time
	}
	switch fact := f.Fact.(type) {
	case proto.Began:
		if p.known.Attributes == nil && p.Attributes != nil {
			p.known.Attributes = p.Attributes(fact.Root)
		}
		return e, false
	case proto.Said:
		e.Kind, e.Text = p.said(fact)
	case proto.Opened:
		if fact.Plan.Ask != nil {
			p.unless[fact.Call] = fact.Plan.Ask.Refusal
		}
		return e, false
	case proto.Answered:
		if fact.Choice == proto.Deny {
			p.denied[fact.Call] = true
		}
		return e, false
	case proto.Closed:
		p.closed(&e, fact)
		return e, e.Tool != ""
	case proto.Goal:
		e.Kind, e.Text = Notice, fmt.Sprintf("goal %s: %s", fact.Status, fact.Objective)
		if fact.Why != "" {
			e.Text += "\n" + fact.Why
		}
	}
	e.Text = Bound(e.Text, MaxText)
	return e, strings.TrimSpace(e.Text) != ""
}

// begin forgets the calls of the last reply.
func (p *Projector) begin() {
	p.calls, p.denied, p.unless = map[string]msg.Call{}, map[string]bool{}, map[string]string{}
}

func (p *Projector) said(f proto.Said) (Kind, string) {
	text := f.Message.Blocks.Text()
	switch {
	case f.Message.Role == msg.Assistant:
		p.begin()
		for _, c := range f.Message.Blocks.Calls() {
			p.calls[c.ID] = c
		}
		return Assistant, text
	case f.Notice == "":
		return User, text
	case f.Notice == proto.NoticeDate || f.Notice == proto.NoticeGoal || f.Notice == proto.NoticeRetry:
		return Notice, "" // the same words each time
	}
	return Notice, text
}

func (p *Projector) closed(e *Entry, f proto.Closed) {
	c, ok := p.calls[f.Call]
	if !ok {
		return
	}
	delete(p.calls, f.Call)
	e.Kind, e.Tool, e.Outcome = Tool, c.Name, Succeeded
	e.Args = Bound(flat(c.Args), MaxArgs)
	e.Text = Bound(f.Result.Blocks.Text(), MaxResult)
	if f.Result.Failed {
		e.Outcome = p.failure(f.Call, c.Name, e.Text)
	}
}

// failure tells the ways apart in which a call may fail, by what the model read of it.
func (p *Projector) failure(call, name, text string) Outcome {
	switch {
	case p.denied[call], text != "" && text == p.unless[call], strings.HasPrefix(text, name+" was not run"):
		return Blocked
	case text == name+" was cancelled", strings.HasSuffix(text, "[command cancelled]"):
		return Cancelled
	}
	return Failed
}

// flat writes arguments for people and for the index: a line each, texts as they are and not as JSON
// has them, where \n stands before a word as if it belonged to it.
func flat(args string) string {
	d := json.NewDecoder(strings.NewReader(args))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return args
	}
	var lines []string
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return args
		}
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			return args
		}
		var text string
		if json.Unmarshal(v, &text) != nil {
			text = string(v)
		}
		lines = append(lines, fmt.Sprintf("%s: %s", key, text))
	}
	return strings.Join(lines, "\n")
}

// Bound leaves the middle of a text out where it is longer than that many bytes, and says so.
func Bound(s string, most int) string {
	if len(s) <= most {
		return s
	}
	const note = "\n[… %d bytes are left out here …]\n"
	half := (most - len(note) - 20) / 2
	head, tail := half, len(s)-half
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return s[:head] + fmt.Sprintf(note, tail-head) + s[tail:]
}
