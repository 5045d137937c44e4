package store

import (
	"cmp"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"jig/internal/msg"
	"jig/internal/proto"
)

// Running is the state of a session whose turn has not ended. Where nobody holds the session the
// process that ran it is gone.
const Running = "running"

// index is a session's row, as its facts make it.
type index struct {
	updated                      int64
	agent, provider, model, root string
	title                        string
	named                        bool
	state, goal                  string
	turns                        int
	holder                       string
}

// read finds a session's row. It gives ErrTaken where there is none.
func (x *index) read(w *writer, id string, num *int64, parent *string) error {
	err := w.row("SELECT num, updated, agent, provider, model, root, title, named, state, goal, turns, parent, holder FROM session WHERE id = ?", []any{id},
		num, &x.updated, &x.agent, &x.provider, &x.model, &x.root, &x.title, &x.named, &x.state, &x.goal, &x.turns, parent, &x.holder)
	if errors.Is(err, sql.ErrNoRows) {
		return ErrTaken
	}
	return err
}

// mark is how a session stood before a message of a person, which can be gone back to.
type mark struct {
	seq    uint64
	before index
}

// tell takes in a fact, and reports whether that changes the row. Most facts do not: writing it each time
// would cost more than the fact.
func (s *Session) tell(seq uint64, f proto.Fact, at time.Time) bool {
	switch f := f.(type) {
	case proto.Said:
		if byPerson(f) {
			s.marks = append(s.marks, mark{seq, s.index})
		}
	case proto.Rewound:
		for i, m := range s.marks {
			if m.seq == f.Before {
				s.marks = slices.Clip(s.marks[:i])
				return s.index.goBack(m.before, at)
			}
		}
	}
	return s.index.add(f, at)
}

func byPerson(f proto.Said) bool { return f.Message.Role == msg.User && f.Notice == "" }

// goBack makes of the row what whoever goes on with the session will find. A goal and a name that was given
// outlast a rewind; a title that was taken from a message does so for as long as there is no other.
func (x *index) goBack(before index, at time.Time) bool {
	before.goal, before.holder = x.goal, x.holder
	if x.named || before.title == "" {
		before.title, before.named = x.title, x.named
	}
	before.updated = at.UnixMilli()
	*x = before
	return true
}

func (x *index) add(f proto.Fact, at time.Time) bool {
	old := *x
	switch f := f.(type) {
	case proto.Began:
		x.agent, x.provider, x.model, x.root = f.Agent, f.Provider, f.Model, cmp.Or(f.Real, f.Root)
	case proto.Said:
		x.state = Running
		if byPerson(f) {
			x.turns++
			if x.title == "" || x.turns == 1 && !x.named && x.goal == "" { // all others were taken back
				x.title = titleOf(f.Message.Blocks.Text())
			}
		}
	case proto.Titled: // that is no use of the session, which keeps its age and its place
		x.title, x.named = titleOf(f.Title), true
		return *x != old
	case proto.Compacted:
		x.updated = at.UnixMilli()
	case proto.Goal:
		x.goal = string(f.Status)
		if x.title == "" { // it began without a message
			x.title = titleOf(f.Objective)
		}
	case proto.Ended:
		x.state = string(f.Why)
	}
	if *x == old {
		return false
	}
	x.updated = at.UnixMilli()
	return true
}

// longTitle is how many characters of a message make a title.
const longTitle = 80

// titleOf is the first line of a text that says something, in one row. A title of the model's own would
// cost a request that nobody asked for.
func titleOf(text string) string {
	const enough = 4 << 10 // a first line may be a whole file
	text = text[:min(len(text), enough)]
	for line := range strings.Lines(text) {
		line = strings.Join(strings.FieldsFunc(line, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || r == utf8.RuneError }), " ")
		if line == "" {
			continue
		}
		if utf8.RuneCountInString(line) > longTitle {
			line = strings.TrimSpace(string([]rune(line)[:longTitle-1])) + "…"
		}
		return line
	}
	return ""
}
