// Package model is the contract between jig and a language model: one method that streams one
// reply. The dialects live in sub-packages; whatever cuts across them (retry, record, cost) wraps
// a Model. Nothing here knows a tool or a session.
package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"jig/internal/msg"
)

// Model streams one reply. tell gets what arrives while it arrives, for people to look at; the
// whole reply is the return value. On an error the reply holds what had come, and none of its
// calls may be run. Stream returns soon after ctx ends, with ctx's error.
type Model interface {
	Stream(ctx context.Context, r Request, tell func(Delta)) (Reply, error)
}

// Request is everything a dialect needs to make one request. It does not change it.
type Request struct {
	Model     string
	System    string // "" sends none
	Tools     []Tool // in the order they are sent
	Messages  []msg.Message
	MaxOutput int    // tokens; 0 leaves it to the dialect
	Reasoning string // none, minimal, low, medium, high, xhigh, max; "" leaves it to the provider

	Temperature, TopP *float64 // nil leaves it to the provider

	// More, where there is one, is asked before each further request that is made for the same reply,
	// as when the provider pauses it: with the reply so far, whose blocks and usage are in the whole one,
	// and how many bytes more than this request the further one holds. It gives the further one's
	// MaxOutput, or the error to end with.
	More func(soFar Reply, bytes int) (maxOutput int, err error)

	// Heard, where there is one, is told how the reply comes from a host: by the goroutine that reads it.
	Heard func(host string, p Progress)
}

// Progress is what came of a reply.
type Progress int

// Progress is made by what adds to the reply; what else comes only shows that somebody is there.
const (
	Asked Progress = iota // nothing yet: the request is being made
	Alive
	Grew
)

// Tool is what a model is told of a tool.
type Tool struct {
	Name, Doc string
	Input     json.RawMessage // a JSON Schema of type object
}

// Delta is a glimpse of a reply that is still coming. Reset says that what was told so far is void,
// because the request is made again.
type Delta struct {
	Text, Reasoning string
	Call            string // the name of a tool whose arguments are coming
	Reset           bool
}

// Reply is one whole answer.
type Reply struct {
	Blocks msg.Blocks // Call blocks have Given, Name and Args; their ID is the session's to give
	Usage  msg.Usage  // zero when the provider reported none
	Stop   Stop
	// CutBy names what lowered the output limit that cut the reply, "" when it was the model's own.
	CutBy string
}

// Stop says why a reply ended.
type Stop string

// Why a reply ended. A reply that was cut may end in the middle of a call's arguments.
const (
	StopEnd     Stop = "end"     // the model had said all it wanted
	StopCalls   Stop = "calls"   // it waits for the results of its calls
	StopLength  Stop = "length"  // the output limit cut it
	StopRefusal Stop = "refusal" // the provider or the model declined to answer
)

// Kind sorts what can go wrong at a provider by what can be done about it.
type Kind string

// The kinds of failure.
const (
	KindAuth     Kind = "auth"     // the key is missing, wrong or not allowed
	KindRequest  Kind = "request"  // the provider refuses this request; sending it again is no use
	KindOverflow Kind = "overflow" // the conversation is too long for the model
	KindQuota    Kind = "quota"    // the account has nothing left; waiting is no use
	KindLimit    Kind = "limit"    // too many requests for now
	KindServer   Kind = "server"   // the provider is overloaded or broken
	KindNetwork  Kind = "network"  // no answer came, or it broke off
	KindProtocol Kind = "protocol" // the answer is not what the dialect promises
)

// Error is a failed request, in words for a person: what happened, where, what to do.
type Error struct {
	Kind   Kind
	Status int           // HTTP status, 0 when there was none
	After  time.Duration // how long the provider asks to wait, 0 when it does not say
	Text   string        // one line
	What   string        // Text without its advice, for whoever follows that; "" when it is all of it
	Cause  error         // may be nil
	// Final says that sending the request again is no use, although its kind alone would not.
	Final bool
}

func (e *Error) Error() string { return e.Text }
func (e *Error) Unwrap() error { return e.Cause }

// ErrUnsent is the cause of an error that came before the request was made.
var ErrUnsent = errors.New("the request was not made")

// Errorf makes an Error of a kind; a final %w argument is not supported, set Cause instead.
func Errorf(k Kind, format string, a ...any) *Error {
	return &Error{Kind: k, Text: fmt.Sprintf(format, a...)}
}

// IDs are the ids under which calls cross the wire: the provider's own where it gave
// one that is well-formed and not yet taken in this conversation, ours otherwise. Some compatible
// servers only accept ids of their own making, and others repeat them; this serves both. The
// choice depends on the messages before a call alone, so it is stable from request to request; for
// that reason one of the form of ours is not taken either, as it may be that of a later call.
type IDs struct {
	wire  map[string]string
	taken map[string]bool
}

// WireIDs chooses the ids of the calls of a conversation.
func WireIDs(messages []msg.Message) IDs {
	ids := IDs{make(map[string]string, len(messages)/2), make(map[string]bool, len(messages)/2)}
	for _, m := range messages {
		ids.Add(m)
	}
	return ids
}

// Add chooses the ids of the calls of one more message.
func (i IDs) Add(m msg.Message) {
	for _, b := range m.Blocks {
		if c, ok := b.(msg.Call); ok {
			id := c.Given
			if !plainID(id) || i.taken[id] || likeOurs(id) {
				id = FreeID(c.ID, i.taken)
			}
			i.taken[id] = true
			i.wire[c.ID] = id
		}
	}
}

// Of is the id of the call that has this one of ours.
func (i IDs) Of(call string) string { return i.wire[call] }

// likeOurs says whether an id has the form of those that a session gives.
func likeOurs(id string) bool {
	digits, ok := strings.CutPrefix(id, "call")
	return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// FreeID is an id of ours, lengthened where a provider's own has come to be the same.
func FreeID(id string, taken map[string]bool) string {
	for taken[id] {
		id += "x"
	}
	return id
}

func plainID(s string) bool {
	if s == "" || len(s) > 40 { // OpenAI takes no longer ids; others take more
		return false
	}
	for i := range len(s) {
		if !plain(s[i]) {
			return false
		}
	}
	return true
}

// plain are the bytes every provider takes in ids and names.
func plain(c byte) bool {
	return c == '-' || c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

// NoOutput stands for a tool's empty result: providers refuse an empty text.
const NoOutput = "(no output)"

// NoWords stands for what the user's side said where it was nothing but blanks, or where a
// conversation has lost its beginning: some providers want the user to speak first and last.
const NoWords = "(nothing was said)"

// WireName makes the name of a call fit to be sent back: a model may have invented one that its
// provider would refuse to read again. Names of real tools pass unchanged.
func WireName(name string) string {
	b := []byte(name)
	if len(b) > 64 {
		b = b[:64]
	}
	for i := range b {
		if !plain(b[i]) {
			b[i] = '_'
		}
	}
	if len(b) == 0 {
		return "unnamed"
	}
	return string(b)
}

// WireArgs makes the arguments of a call fit to be sent back: a JSON object as the model wrote it,
// or {} in place of anything else, because one malformed call would make every later request fail.
// The call's result has told the model what was wrong.
func WireArgs(args string) string {
	// Of each request anew, of every call: so it is only looked at, and not taken apart.
	if !strings.HasPrefix(strings.TrimLeft(args, " \t\r\n"), "{") || !json.Valid([]byte(args)) {
		return "{}"
	}
	return mendSurrogates(strings.ToValidUTF8(args, "\ufffd"))
}

// mendSurrogates replaces the escapes of half a character in valid JSON, as a model cut in the
// middle of an emoji writes them: strict JSON readers refuse the whole request for one.
func mendSurrogates(s string) string {
	if !strings.Contains(s, `\u`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			i++
			continue
		}
		size := 2
		if s[i+1] == 'u' {
			size = 6
			switch u := unit(s[i:]); {
			case u >= 0xd800 && u < 0xdc00 && unit(s[i+6:]) >= 0xdc00 && unit(s[i+6:]) < 0xe000:
				size = 12
			case u >= 0xd800 && u < 0xe000:
				b.WriteString(`\ufffd`)
				i += size
				continue
			}
		}
		b.WriteString(s[i : i+size])
		i += size
	}
	return b.String()
}

// unit is the code unit of an escape at the start of s, -1 when there is none.
func unit(s string) int64 {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseInt(s[2:6], 16, 32)
	if err != nil {
		return -1
	}
	return n
}
