// Package history is what can be found again of what was said and done in sessions: what an entry is,
// how entries follow from a session's facts, how a question is read, and the door to whatever keeps
// them. It keeps nothing itself; internal/store does, in one file. The log of facts is the truth: a
// history that is lost can be made again from it.
package history

import (
	"context"
	"time"
)

// Kind says who an entry comes from.
type Kind string

// The kinds of entry: a person's message, a model's text, a call with its result, and what jig itself
// said to the model.
const (
	User      Kind = "user"
	Assistant Kind = "assistant"
	Tool      Kind = "tool"
	Notice    Kind = "notice"
)

// Outcome says how a call ended.
type Outcome string

// The outcomes of a call. A blocked one was refused before it did anything.
const (
	Succeeded Outcome = "succeeded"
	Failed    Outcome = "failed"
	Blocked   Outcome = "blocked"
	Cancelled Outcome = "cancelled"
)

// Entry is one piece of a transcript. Its texts are bounded; see MaxText.
type Entry struct {
	Fact    uint64 // the number of the fact that completed it
	Kind    Kind
	Time    time.Time
	Tool    string  // of a call: the tool's name
	Outcome Outcome // of a call
	Args    string  // of a call: its arguments, a line each
	Text    string  // what was said; of a call: its result
}

// Created is what is known of a session from the start. It never changes.
type Created struct {
	Time       time.Time
	Attributes map[string]string
}

// Change is what a stretch of facts does to one session's transcript.
type Change struct {
	Session string
	// After is the number of the fact before the stretch and Upto that of its last. A change whose Upto
	// is not beyond what was applied already is applied once more by doing nothing.
	After, Upto uint64
	Created     Created // counts with the first change of a session
	// Cut drops the entries of that fact and all later ones, before Append; 0 drops none.
	Cut    uint64
	Append []Entry
}

// Collection keeps transcripts. Its changes are applied in the order of a session's facts, each at most
// once, so that whoever does not know whether one arrived sends it again.
type Collection interface {
	// Change applies all changes, or none. A *GapError says that facts before a change are missing.
	Change(ctx context.Context, changes ...Change) error
	// Search finds sessions, the one with the newest matching entry first.
	Search(ctx context.Context, q Query) (Found, error)
	// Read gives a session's entries, the oldest first.
	Read(ctx context.Context, r Reading) (Page, error)
}

// GapError says that a change cannot follow what is there.
type GapError struct {
	Session string
	Has     uint64 // the last fact that was applied
}

func (e *GapError) Error() string { return "history of session " + e.Session + ": facts are missing" }

// NoSessionError says that there is no session of that id.
type NoSessionError struct{ Session string }

func (e *NoSessionError) Error() string {
	return "no history of a session " + e.Session + "; a search gives the ids of those that there are"
}

// Bounds of searches and readings.
const (
	MaxQuery      = 1000 // characters
	MaxAttributes = 32
	MaxAttribute  = 1000 // characters of a key or value that is asked for
	MaxCursor     = 2048 // bytes
	MaxFound      = 75   // sessions of a page
	DefaultFound  = 10
	MaxEntries    = 100 // entries of a page
	DefaultRead   = 50
	MaxSnippets   = 3 // of a session
)

// Query is a search. Without words and attributes it gives the sessions that were active last.
type Query struct {
	Text       string // all words, "phrases" and prefix* must be in one entry
	Attributes map[string]Filter
	Limit      int // sessions, at most MaxFound; 0 is DefaultFound
	Cursor     string
}

// Filter is what a session's attribute must be.
type Filter struct {
	Exact    string
	Contains string // counts where it is not "": the attribute contains this text, as it stands
}

// Found is a page of a search. It may hold fewer sessions than asked for, even none, while there are
// more: a page is bounded by the work it takes. Next then goes on; it is "" at the end.
type Found struct {
	Sessions []Hit
	Next     string
}

// Hit is a session that was found.
type Hit struct {
	Session string
	Created
	Snippets []Snippet // its newest matching entries, the newest first
}

// Snippet is a piece of an entry that matches.
type Snippet struct {
	Kind    Kind
	Tool    string
	Outcome Outcome
	Time    time.Time
	Text    string // one line
	Cursor  string // reads the session from shortly before this entry
}

// Reading asks for a session's entries.
type Reading struct {
	Session string
	Limit   int // entries, at most MaxEntries; 0 is DefaultRead
	Cursor  string
}

// Page is a part of a transcript.
type Page struct {
	Session string
	Created
	Entries []Entry
	Next    string // "" at the end
}

// InputError says what is wrong with a search or a reading, in a sentence for whoever asked.
type InputError string

func (e InputError) Error() string { return string(e) }
