package export

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"jig/internal/msg"
	"jig/internal/proto"
)

// UnknownError says that a file has a fact that this jig does not know.
type UnknownError struct {
	Line int
	Type string
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("has a fact of the kind %q in line %d, which this jig does not know: a newer jig wrote it; update jig", e.Type, e.Line)
}

// known are the kinds of fact that may come from elsewhere.
var known = []string{"began", "said", "opened", "asked", "answered", "closed", "cost", "ended", "rewound", "compacted", "goal", "titled", "forked"}

// maxAgain bounds the work that facts make which go over others again: a rewind, a summary, the end of
// a job. A file of nothing else would keep jig busy for days.
const maxAgain = 50_000_000

// checker holds what the facts so far allow the next one to say.
type checker struct {
	open   map[string]uint64 // calls without a result, with the number of the reply that made them
	done   map[string]bool
	people map[uint64]bool // the numbers of people's messages
	jobs   uint64          // how many were left running
	asked  uint64          // how many questions there were
	again  uint64
	begun  bool
}

func newChecker() *checker {
	return &checker{open: map[string]uint64{}, done: map[string]bool{}, people: map[uint64]bool{}}
}

// fact reads one fact and refuses what jig would not have written. What makes a conversation invalid
// to send, or could choose something on this machine, is either.
func (c *checker) fact(seq uint64, line []byte) (proto.Fact, error) {
	var h struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(line, &h); err != nil {
		return nil, errors.New("there is no fact")
	}
	if !slices.Contains(known, h.Type) {
		return nil, &UnknownError{int(seq) + 1, h.Type}
	}
	n, f, err := proto.Decode(line)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the fact cannot be read (%s)", strings.Join(strings.Fields(err.Error()), " "))
	case n != seq:
		return nil, fmt.Errorf("fact %d stands where fact %d belongs", n, seq)
	}
	return c.allow(seq, f)
}

func (c *checker) allow(seq uint64, f proto.Fact) (proto.Fact, error) {
	if c.again > maxAgain {
		return nil, errors.New("too many rewinds and summaries")
	}
	b, isBegan := f.(proto.Began)
	if !c.begun && !isBegan {
		return nil, errors.New("a session begins with what it runs on, and this one does not")
	}
	switch f := f.(type) {
	case proto.Began:
		c.begun = true
		return elsewhere(b), nil
	case proto.Said:
		return f, c.said(seq, f)
	case proto.Asked:
		c.asked++
	case proto.Answered:
		c.again += c.asked
	case proto.Closed:
		if _, ok := c.open[f.Call]; !ok {
			return nil, fmt.Errorf("a result for no call (%q)", f.Call)
		}
		delete(c.open, f.Call)
		c.done[f.Call] = true
		if f.Result.Job != "" {
			c.jobs++
		}
		return f, blocks(f.Result.Blocks, inResult)
	case proto.Cost:
		if f.Children > f.Session {
			return nil, errors.New("a part costs more than the whole")
		}
		f.Limit = nil // it was another machine's
		return f, nil
	case proto.Goal: // it is said to the model again and again
		f.Objective, f.Why = bounded(f.Objective), bounded(f.Why)
		return f, nil
	case proto.Rewound:
		if f.Before >= seq || !c.people[f.Before] {
			return nil, fmt.Errorf("a rewind to fact %d, which is no message of a person", f.Before)
		}
		c.again += seq
		c.forget(f.Before, seq)
	case proto.Compacted:
		c.again += seq
		return c.compacted(seq, f)
	}
	return f, nil
}

// bounded is a text of a goal that is no longer than jig lets one become, without the signs that some
// providers refuse for the rest of a conversation.
func bounded(s string) string {
	const most = 4 << 10
	s = strings.TrimSpace(strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) {
			return -1
		}
		return r
	}, s))
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most-len("…")], "") + "…"
	}
	return s
}

// forget drops the open calls that a rewind takes back.
func (c *checker) forget(from, to uint64) {
	for id, at := range c.open {
		if at >= from && at < to {
			delete(c.open, id)
			c.done[id] = true
		}
	}
}

// compacted refuses a summary that would part a call from its result.
func (c *checker) compacted(seq uint64, f proto.Compacted) (proto.Fact, error) {
	if f.Through >= seq || f.Summary.Role != msg.User {
		return nil, errors.New("a summary of nothing")
	}
	for id, at := range c.open {
		if at <= f.Through {
			return nil, fmt.Errorf("a summary of the open call %q", id)
		}
	}
	f.Archive = "" // it lies elsewhere
	return f, blocks(f.Summary.Blocks, inPerson)
}

// elsewhere takes out of the beginning of a session all that chooses something on a machine: folders, a
// config file, a model by name, and the system prompt, which the importer's own agent has.
func elsewhere(b proto.Began) proto.Began {
	return proto.Began{Agent: b.Agent, Provider: b.Provider, Model: b.Model, Tools: b.Tools, Root: b.Root}
}

func (c *checker) said(seq uint64, f proto.Said) error {
	switch f.Message.Role {
	case msg.User:
		if f.Notice == "" {
			c.people[seq] = true
		} else {
			c.again += c.jobs
		}
		return blocks(f.Message.Blocks, inPerson)
	case msg.Assistant:
		for _, x := range f.Message.Blocks.Calls() {
			if _, open := c.open[x.ID]; open || c.done[x.ID] || x.ID == "" || strings.Trim(x.ID, idSigns) != "" || len(x.ID) > 64 {
				return fmt.Errorf("a call with the id %q", x.ID)
			}
			c.open[x.ID] = seq
		}
		return blocks(f.Message.Blocks, inReply)
	}
	return fmt.Errorf("a message of %q", f.Message.Role)
}

const idSigns = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

// Where a block may stand.
type place int

const (
	inPerson place = iota
	inReply
	inResult
)

func blocks(all msg.Blocks, at place) error {
	for _, b := range all {
		var raw []byte
		ok := false
		switch b := b.(type) {
		case msg.Text:
			raw, ok = b.Raw, true
		case msg.Image:
			ok = at != inReply && strings.HasPrefix(b.MIME, "image/")
		case msg.Reasoning:
			raw, ok = b.Raw, at == inReply
		case msg.Call:
			raw, ok = b.Raw, at == inReply
		}
		switch {
		case !ok:
			return fmt.Errorf("a block of type %T where it cannot stand", b)
		case len(raw) > 0 && !json.Valid(raw):
			return errors.New("a block that is no JSON")
		}
	}
	return nil
}
