// Package tool says what a tool is: what is known of it before a call's arguments are known (Spec),
// what is known after and before anything happens (Plan), and what it leaves (Result). All of it is
// plain data that can be sent to a client or come from another machine. It is not where tools live
// (see internal/tools) and decides nothing (see internal/agent).
package tool

import (
	"context"
	"encoding/json"

	"jig/internal/msg"
)

// Show is how a call is presented to people.
type Show string

// Group folds a call into the activity panel, Expanded gives it a block of its own, Surface lets it
// put its own widget in front of a person.
const (
	Group    Show = "group"
	Expanded Show = "expanded"
	Surface  Show = "surface"
)

// Spec is what is true of a tool before the arguments are known.
type Spec struct {
	Name, Doc string
	Input     json.RawMessage // JSON Schema of the arguments, type object
	Show      Show
	Asks      []string   // scopes a plan may ask about; empty: it never asks
	Together  string     // when calls may overlap their neighbours, in words: "always", "never", "asked calls run alone"
	Cap       int        // backstop in bytes of result text; a tool cuts its own result in its own words
	Failures  []*Failure // every sentence the model may read
	Private   bool       // for host and client tools; no model sees it
}

// Call is one use of a tool. Args is valid JSON; the pipeline refuses anything else before an owner
// sees it.
type Call struct {
	ID, Name string
	Args     json.RawMessage
}

// Plan is what is true of a call once its arguments are known and before anything happens.
type Plan struct {
	Title    string    `json:"title"`              // for people, such as [read_file src/main.rs]
	Together bool      `json:"together,omitempty"` // it may overlap its neighbours of the same round
	Ask      *Question `json:"ask,omitempty"`      // nil: nothing to ask
}

// Question is put to a person before a call runs.
type Question struct {
	Scope   string `json:"scope"`   // what "for this session" will cover
	Text    string `json:"text"`    // one line: what would happen
	Covers  string `json:"covers"`  // in words, what "for this session" will cover
	Refusal string `json:"refusal"` // what the model reads when nobody can be asked
	Card    *Card  `json:"card,omitempty"`
}

// Prepared is a decoded, checked call. Run is called at most once; tell shows progress and may be
// dropped. An error that is not a Failure is ours: the model reads one neutral sentence for it.
type Prepared struct {
	Plan
	Run func(ctx context.Context, tell func(Card)) (Result, error)
}

// Result is what a call leaves: blocks for the model, a card for people.
type Result struct {
	Blocks msg.Blocks `json:"blocks"`
	Failed bool       `json:"failed,omitempty"`
	Card   *Card      `json:"card,omitempty"`
	Job    string     `json:"job,omitempty"`   // the background job it left running
	Label  string     `json:"label,omitempty"` // that job's command in one line
}

// Text is a result of one text.
func Text(s string) Result { return Result{Blocks: msg.Blocks{msg.Text{Text: s}}} }

// Kind says how a card is drawn.
type Kind string

// The kinds of card. A client that does not know one shows its text.
const (
	CardText Kind = "text"
	CardDiff Kind = "diff"
	CardList Kind = "list"
)

// Card is what people see of a call. It never holds what the model should have read.
type Card struct {
	Kind    Kind   `json:"kind"`
	Title   string `json:"title,omitempty"` // a file's path, for a diff
	Text    string `json:"text"`            // for a diff: hunks in unified form, without file header lines
	Added   int    `json:"added,omitempty"` // lines, for a diff
	Removed int    `json:"removed,omitempty"`
}

// Notice is news without a call, such as the end of a background job. Call is the call that caused
// it and makes delivery idempotent.
type Notice struct {
	Call, Job string
	Blocks    msg.Blocks
}

// Owner offers tools and prepares their calls: an environment, the host, a client, an MCP server.
type Owner interface {
	// Specs does not change during the owner's life.
	Specs() []Spec
	// Prepare decodes and checks a call and says the plan. It has no effect and may be repeated and
	// thrown away. An error is a Failure, or ours.
	Prepare(context.Context, Call) (Prepared, error)
}
