// Package modeltest is a scripted provider for tests: one loopback server that speaks the wire
// formats of chat completions, of messages and of generateContent, streamed and whole, plays scripted
// replies with scripted faults, and records every request.
//
// It is strict. What the published API reference refuses, it refuses, in the provider's own error
// shape, so that a client which only works against itself does not pass. Every rule names where it
// is written down; where the reference gives no wording, the wording is one that was reported from
// the live service. It is not a simulation of a model and counts no tokens.
package modeltest

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"jig/internal/msg"
)

// Key is the secret the server accepts, in either dialect's header.
const Key = "sk-test-0123456789abcdef"

// Reply is one scripted answer. Its parts are sent in the order of the fields.
type Reply struct {
	For string // only for a request that has this in its body; such requests get no other reply while there is one

	Reasoning string   // thinking, or reasoning_content
	Signature string   // of the thinking; "" gives one made from it
	Redacted  string   // the data of a redacted_thinking block; messages dialect only
	Details   []string // reasoning_details, each a block of JSON; chat completions only
	Hosted    []string // blocks of the server's own tools, each of JSON; messages dialect only
	Text      string
	Refusal   string // the words of a refusal, which also sets the stop reason
	Calls     []Call
	Phase     string // commentary or final_answer; responses dialect only
	Usage     msg.Usage
	Explained string // what the provider says of a refusal; messages dialect only
	Stop      string // in the dialect's own words; "" follows from the parts

	hourWrites int // tokens that a cache keeps for an hour

	Fault Fault
	// Bytes cuts the stream into writes of so many bytes; 0 writes event by event.
	Bytes int
	// Style is how chat completions stream calls, and responses their items; "" is as the vendor does.
	Style Style
	// Noise puts keep-alives, comments and unknown events between the events.
	Noise bool

	number int // how many replies there have been, for the ids of the responses dialect
}

// Call is a scripted tool call. Args is sent as it is, so it may be malformed.
type Call struct {
	ID, Name, Args string
	Extra          string // JSON that comes with the call as its extra_content; chat completions only
}

// Style is a way in which compatible servers stream tool calls.
type Style string

// The ways.
const (
	Whole    Style = "whole"     // each call in one piece, arguments and all
	NoIndex  Style = "no-index"  // the index is left out
	ZeroOnly Style = "zero-only" // every call has index 0
	From7    Style = "from-7"    // the first index is 7
	NoID     Style = "no-id"     // ids are left out
	Named    Style = "named"     // every fragment repeats id and name
	Object   Style = "object"    // the arguments are an object and not a string

	// Doubled sends calls twice: all in one event, which comes twice; over messages all events of every
	// call; over responses the end of every item, and no ids of items.
	Doubled Style = "doubled"
	Summed  Style = "summed" // chat completions: the last event has all calls once more, whole
	Moved   Style = "moved"  // chat completions: every call comes once more, whole, under another index
	Closed  Style = "closed" // chat completions: the last event has the whole message beside its delta

	Fleeting Style = "fleeting" // responses: an item has another id in every event
	Sparse   Style = "sparse"   // responses: nothing but the last event has the items
	Marked   Style = "marked"   // responses: [DONE] is the last line, as openresponses.org asks
)

// Dialect names a wire format.
type Dialect string

// The dialects.
const (
	Chat      Dialect = "chat"      // chat completions
	Messages  Dialect = "messages"  // the messages API
	Responses Dialect = "responses" // the responses API
	Gemini    Dialect = "gemini"    // generateContent
)

// Request is one request as it came.
type Request struct {
	Dialect Dialect
	Method  string
	Path    string
	Header  http.Header
	Body    []byte
	At      time.Time // when it had come
	Refused string    // why it was refused, "" when it was answered
}

// Server plays a script. The zero values of its options are the vendors' behaviour; set them
// before the first request.
type Server struct {
	URL string // without a path

	// Models are the names the server knows; none means any.
	Models []string
	// ReasoningBack refuses a request that leaves out reasoning_content where the server gave one
	// with a tool call, as https://api-docs.deepseek.com/guides/thinking_mode describes.
	ReasoningBack bool
	// NoReasoning refuses reasoning_content in a request, as deepseek-reasoner did:
	// https://api-docs.deepseek.com/zh-cn/guides/reasoning_model
	NoReasoning bool
	// Keyless accepts requests without a key, as a server on the own machine does.
	Keyless bool
	// IgnoreStream answers whole although a stream was asked for.
	IgnoreStream bool
	// Unmarked is a server of the messages dialect that does not know cache_control.
	Unmarked bool
	// Chat is how it differs from the vendor's where it speaks chat completions.
	Chat Variant
	// Cache, where there is one, decides the usage that is reported of the input.
	Cache *Cache
	// Window is how many tokens a request may have, four bytes of it being one; 0 is no limit.
	Window int
	// Unverified writes no summaries of reasoning:
	// https://help.openai.com/en/articles/10910291-api-organization-verification
	Unverified bool
	// Forgetful cannot read its own encrypted reasoning any more:
	// https://github.com/openai/codex/issues/8128
	Forgetful bool

	mu       sync.Mutex
	script   []Reply
	requests []Request
	paused   *Reply            // the reply that waits to be continued
	thoughts map[string]string // signature or redacted data → the text it was given with
	reasoned map[string]bool   // ids of calls that came with reasoning_content
	said     spoken            // over the responses API
	close    chan struct{}
}

// New starts a server that answers with the replies of a script, one per accepted request, and
// stops it when the test ends.
func New(t testing.TB, script ...Reply) *Server {
	t.Helper()
	s := &Server{script: slices.Clone(script), thoughts: map[string]string{}, reasoned: map[string]bool{}, close: make(chan struct{})}
	h := httptest.NewServer(http.HandlerFunc(s.serve))
	s.URL = h.URL
	t.Cleanup(func() {
		close(s.close)
		h.CloseClientConnections()
		h.Close()
	})
	return s
}

// Add appends replies to the script.
func (s *Server) Add(replies ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = append(s.script, replies...)
}

// Left is how many replies have not been asked for.
func (s *Server) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.script)
}

// Requests are all requests so far, refused ones too.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Refused are the reasons for which requests were refused.
func (s *Server) Refused() []string {
	var out []string
	for _, r := range s.Requests() {
		if r.Refused != "" {
			out = append(out, r.Refused)
		}
	}
	return out
}

// problem is a refusal on its way to the client.
type problem struct {
	status  int
	kind    string // the error's type
	code    string // chat completions only
	param   string // chat completions only
	message string
}

const maxBody = 32 << 20 // https://platform.claude.com/docs/en/api/errors#request-size-limits

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	d := Chat
	if bytes.HasSuffix([]byte(r.URL.Path), []byte("/messages")) || r.Header.Get("anthropic-version") != "" {
		d = Messages
	}
	if bytes.HasSuffix([]byte(r.URL.Path), []byte("enerateContent")) {
		d = Gemini
	}
	if bytes.HasSuffix([]byte(r.URL.Path), []byte("/responses")) {
		d = Responses
	}
	q := Request{Dialect: d, Method: r.Method, Path: r.URL.RequestURI(), Header: r.Header.Clone(), Body: body, At: time.Now()}
	var p *problem
	var fields object
	s.mu.Lock()
	switch d {
	case Chat:
		fields, p = s.checkChat(r, body)
	case Gemini:
		fields, p = s.checkGemini(r, body)
	case Responses:
		fields, p = s.checkResponses(r, body)
	default:
		fields, p = s.checkMessages(r, body)
	}
	if p == nil {
		p = s.tooLong(d, body)
	}
	var reply Reply
	if p == nil {
		var ok bool
		if reply, ok = s.take(body); !ok {
			p = &problem{status: 500, kind: "api_error", message: "modeltest: the script has no reply left"}
		} else {
			switch d {
			case Gemini:
				s.geminiSign(fields, &reply)
			case Responses:
				s.said.give(&reply)
			default:
				s.remember(d, reply)
			}
			reply = s.cached(d, r.URL.Path, body, s.counted(body, reply))
		}
	}
	if p != nil {
		q.Refused = p.message
	}
	s.requests = append(s.requests, q)
	s.mu.Unlock()
	switch {
	case p != nil:
		refuse(w, d, p)
	case reply.Fault.Kind == FaultStatus:
		s.status(w, d, reply.Fault)
	case reply.Fault.Kind == FaultMute:
		s.wait(r, patience, nil)
	default:
		s.answer(w, r, d, fields, reply)
	}
}

// remember keeps what a later request must bring back unaltered.
func (s *Server) remember(d Dialect, r Reply) {
	if d == Messages {
		if s.paused = nil; r.Stop == "pause_turn" {
			s.paused = &r
		}
		if r.Reasoning != "" || r.Signature != "" {
			s.thoughts[r.signature()] = r.Reasoning
		}
		if r.Redacted != "" {
			s.thoughts[r.Redacted] = ""
		}
		return
	}
	s.Chat.give(r)
	if r.Reasoning != "" {
		for i, c := range r.Calls {
			s.reasoned[c.id(i)] = true
		}
	}
}

func (s *Server) status(w http.ResponseWriter, d Dialect, f Fault) {
	f.headers(w.Header())
	if f.Body == "" {
		p := overload(d)
		p.status = f.Status
		refuse(w, d, p)
		return
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(f.Status)
	_, _ = io.WriteString(w, f.Body)
}

// answer sends a reply.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, d Dialect, q object, reply Reply) {
	stream, _ := q["stream"].(bool)
	if !stream || s.IgnoreStream {
		w.Header().Set("Content-Type", "application/json")
		switch d {
		case Chat:
			_, _ = w.Write(encode(reply.chatWhole(q)))
		case Gemini:
			_, _ = w.Write(encode(reply.geminiWhole(q)))
		case Responses:
			_, _ = w.Write(encode(reply.responsesWhole(q)))
		default:
			_, _ = w.Write(encode(reply.messageWhole(q)))
		}
		return
	}
	s.play(w, r, d, q, reply)
}

func send(w http.ResponseWriter, b []byte) {
	if len(b) > 0 {
		_, _ = w.Write(b)
		w.(http.Flusher).Flush()
	}
}
