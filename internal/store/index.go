package store

import (
	"cmp"
	"database/sql"
	"errors"
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

// add takes in a fact, and reports whether that changes the row. Most facts do not: writing it each time
// would cost more than the fact.
func (x *index) add(f proto.Fact, at time.Time) bool {
	old := *x
	switch f := f.(type) {
	case proto.Began:
		x.agent, x.provider, x.model, x.root = f.Agent, f.Provider, f.Model, cmp.Or(f.Real, f.Root)
	case proto.Said:
		x.state = Running
		if f.Message.Role == msg.User && f.Notice == "" {
			x.turns++
			if x.title == "" {
				x.title = titleOf(f.Message.Blocks.Text())
			}
		}
	case proto.Titled:
		x.title, x.named = titleOf(f.Title), true
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
