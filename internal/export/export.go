// Package export writes sessions for others: as a page or as Markdown to be read, and as a file from
// which another jig makes the session again. Facts come in and bytes go out; it opens no file and knows
// no database. What it reads was written by a stranger until it is checked.
package export

import (
	"time"

	"jig/internal/msg"
	"jig/internal/proto"
	"jig/internal/tool"
)

// About is what is known of a session beside its facts.
type About struct {
	ID, Title, Agent, Provider, Model, Root string
	Created, Updated                        time.Time
}

// kind says what a part of a conversation is.
type kind int

const (
	person  kind = iota // a message of a person
	reply               // of the model, with its calls
	notice              // what jig told the model
	summary             // what stands in the place of all before it for the model
	remark              // a line about the session, which no model read
	problem             // the same of something that went wrong
)

// part is one piece of a conversation, in the order in which it is read.
type part struct {
	seq    uint64 // the fact that said it
	kind   kind
	blocks msg.Blocks
	text   string // of a remark
	model  string // of a reply: who wrote it
	calls  []*call
}

// call is one use of a tool with what came of it.
type call struct {
	tool, title, args string
	result            tool.Result
	choice            proto.Choice // a person's, "" where nobody was asked
	closed            bool
}

// talk is a session as it is read: what was taken back is left out, what was summed up is there whole.
type talk struct {
	parts []part
	calls map[string]*call
	began proto.Began
	cost  proto.Cost
	usage msg.Usage
	said  int // messages of a person
}

// read makes a talk of facts. Some may be missing.
func read(facts []proto.Event) *talk {
	t := &talk{calls: map[string]*call{}}
	for _, e := range facts {
		t.add(e.Seq, e.Fact)
	}
	for _, p := range t.parts {
		if p.kind == person {
			t.said++
		}
	}
	return t
}

func (t *talk) add(seq uint64, f proto.Fact) {
	switch f := f.(type) {
	case proto.Began:
		t.begin(seq, f)
	case proto.Said:
		t.say(seq, f)
	case proto.Opened:
		if c := t.calls[f.Call]; c != nil {
			c.title = f.Plan.Title
		}
	case proto.Answered:
		if c := t.calls[f.Call]; c != nil {
			c.choice = f.Choice
		}
	case proto.Closed:
		if c := t.calls[f.Call]; c != nil && !c.closed {
			c.result, c.closed = f.Result, true
		}
	case proto.Cost:
		t.cost = f
	case proto.Ended:
		t.end(seq, f)
	case proto.Goal:
		t.remark(seq, remark, goalLine(f))
	case proto.Titled:
		t.remark(seq, remark, "named "+f.Title)
	case proto.Forked:
		t.remark(seq, remark, "copied from session "+f.From)
	case proto.Compacted:
		t.sumUp(seq, f)
	case proto.Rewound:
		for len(t.parts) > 0 && t.parts[len(t.parts)-1].seq >= f.Before {
			t.parts = t.parts[:len(t.parts)-1]
		}
	}
}

func (t *talk) begin(seq uint64, f proto.Began) {
	if t.began.Agent != "" && (t.began.Agent != f.Agent || t.began.Provider != f.Provider || t.began.Model != f.Model) {
		t.remark(seq, remark, "from here on: "+f.Agent+", "+f.Provider+":"+f.Model)
	}
	if t.began.Root != "" && t.began.Root != f.Root {
		t.remark(seq, remark, "from here on in "+f.Root)
	}
	t.began = f
}

func (t *talk) say(seq uint64, f proto.Said) {
	p := part{seq: seq, kind: reply, blocks: f.Message.Blocks}
	switch {
	case f.Message.Role == msg.User && f.Notice == "":
		p.kind = person
	case f.Message.Role == msg.User:
		p.kind = notice
	default:
		p.model = f.Message.Model
	}
	if f.Usage != nil {
		t.usage = t.usage.Add(*f.Usage)
	}
	for _, c := range f.Message.Blocks.Calls() {
		x := &call{tool: c.Name, title: "[" + c.Name + "]", args: c.Args}
		t.calls[c.ID] = x
		p.calls = append(p.calls, x)
	}
	t.parts = append(t.parts, p)
}

func (t *talk) end(seq uint64, f proto.Ended) {
	switch {
	case f.Why == proto.Failed:
		t.remark(seq, problem, "the turn failed: "+f.Error)
	case f.Why == proto.Interrupted && f.Error != "":
		t.remark(seq, problem, "interrupted: "+f.Error)
	case f.Why == proto.Interrupted:
		t.remark(seq, problem, "interrupted")
	case f.Note != "":
		t.remark(seq, remark, f.Note)
	}
}

func goalLine(f proto.Goal) string {
	line := "goal " + string(f.Status) + ": " + f.Objective
	if f.Why != "" {
		line += " (" + f.Why + ")"
	}
	return line
}

func (t *talk) remark(seq uint64, k kind, text string) {
	t.parts = append(t.parts, part{seq: seq, kind: k, text: text})
}

// sumUp puts the mark where the summary stands for the model: behind the last message that it is of.
func (t *talk) sumUp(seq uint64, f proto.Compacted) {
	if f.Usage != nil {
		t.usage = t.usage.Add(*f.Usage)
	}
	at := len(t.parts)
	for at > 0 && t.parts[at-1].seq > f.Through {
		at--
	}
	t.parts = append(t.parts[:at:at], append([]part{{seq: seq, kind: summary, blocks: f.Summary.Blocks}}, t.parts[at:]...)...)
}

// price is what the session cost, "" where that is not known.
func (t *talk) price() string {
	if t.cost.Session == 0 {
		return ""
	}
	if t.cost.Estimated {
		return "~" + t.cost.Session.String()
	}
	return t.cost.Session.String()
}
