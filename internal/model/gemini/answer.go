package gemini

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"jig/internal/model"
	"jig/internal/model/endpoint"
	"jig/internal/msg"
)

// chunk is a piece of a reply, or all of it: https://ai.google.dev/api/generate-content#generatecontentresponse
type chunk struct {
	Candidates []candidate `json:"candidates"`
	Feedback   *struct {
		Reason  string `json:"blockReason"`
		Message string `json:"blockReasonMessage"`
	} `json:"promptFeedback"`
	Usage endpoint.Aside[counts] `json:"usageMetadata"`
	Error json.RawMessage        `json:"error"`
}

type candidate struct {
	Index   int `json:"index"`
	Content struct {
		Parts []json.RawMessage `json:"parts"`
	} `json:"content"`
	Finish  string `json:"finishReason"`
	Message string `json:"finishMessage"`
}

// counts are cumulative: a later chunk repeats or corrects an earlier one.
type counts struct {
	Prompt     endpoint.Count `json:"promptTokenCount"` // the cached ones too
	Cached     endpoint.Count `json:"cachedContentTokenCount"`
	Candidates endpoint.Count `json:"candidatesTokenCount"` // without the thoughts
	Thoughts   endpoint.Count `json:"thoughtsTokenCount"`
	ToolUse    endpoint.Count `json:"toolUsePromptTokenCount"`
}

func (c *counts) merge(d *counts) {
	if d == nil {
		return
	}
	c.Prompt.Merge(d.Prompt)
	c.Cached.Merge(d.Cached)
	c.Candidates.Merge(d.Candidates)
	c.Thoughts.Merge(d.Thoughts)
	c.ToolUse.Merge(d.ToolUse)
}

func (c *counts) usage() msg.Usage {
	return msg.Usage{Input: c.Prompt.N + c.ToolUse.N, Output: c.Candidates.N + c.Thoughts.N, CacheRead: c.Cached.N}
}

// answer puts a reply together.
type answer struct {
	endpoint.Size
	client *endpoint.Client
	tell   func(model.Delta)
	blocks []*block
	usage  counts
	calls  endpoint.Calls
	events map[endpoint.Mark]bool // those that brought calls

	finish  string
	why     string // what the provider says about the finish
	refused bool   // to read the prompt
}

// block is one part of the reply, or several parts of one text. Parts with a signature stay apart,
// as the signature belongs to its part alone:
// https://ai.google.dev/gemini-api/docs/function-calling#managing-conversation-history-manually
type block struct {
	kind      string // text, thought or call
	text      strings.Builder
	signature string
	id, name  string
	args      string
}

func newAnswer(c *endpoint.Client, tell func(model.Delta)) *answer {
	if tell == nil {
		tell = func(model.Delta) {}
	}
	return &answer{client: c, tell: tell}
}

// Ended is whether a finish reason has come.
func (a *answer) Ended() bool { return a.finish != "" }

// Event reads one chunk. The stream has no mark after the last one.
func (a *answer) Event(data []byte) (last bool, err error) {
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return false, a.client.Errorf(model.KindProtocol, "%s sent an event that is not of the generateContent dialect: %v; check the provider's url and type", a.client.Host(), err)
	}
	return false, a.read(data, c)
}

// Whole reads a reply in one piece, or the list of pieces that is sent where no events are.
func (a *answer) Whole(body []byte) error {
	var list []json.RawMessage
	if !bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")) {
		list = append(list, body)
	} else if json.Unmarshal(body, &list) != nil {
		return endpoint.ErrNoReply
	}
	some := false
	for _, raw := range list {
		var c chunk
		if json.Unmarshal(raw, &c) != nil || !some && len(c.Candidates) == 0 && c.Feedback == nil {
			return endpoint.ErrNoReply
		}
		some = true
		if err := a.read(raw, c); err != nil {
			return err
		}
	}
	if !some {
		return endpoint.ErrNoReply
	}
	return nil
}

func (a *answer) read(data []byte, c chunk) error {
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return a.client.Told(data)
	}
	a.usage.merge(c.Usage.Value)
	if f := c.Feedback; f != nil && f.Reason != "" {
		a.finish, a.why, a.refused = f.Reason, f.Message, true
	}
	// Calls may have no id, and a model may well ask twice for the same thing: within an event such
	// calls are two, and only an event that is the same to the letter has none that are new.
	var mark endpoint.Mark
	known := len(a.blocks)
	if bytes.Contains(data, []byte(`"functionCall"`)) { // few events have any, and a mark costs as much as reading one
		if mark = endpoint.MarkOf(string(data)); a.events[mark] {
			a.Repeat(len(data))
			return nil
		}
	}
	for _, x := range c.Candidates {
		if x.Index != 0 {
			continue // only one was asked for
		}
		for _, raw := range x.Content.Parts {
			if !a.add(raw) {
				return nil
			}
		}
		if x.Finish != "" {
			a.finish, a.why = x.Finish, x.Message
		}
	}
	if slices.ContainsFunc(a.blocks[known:], func(b *block) bool { return b.kind == "call" }) {
		if a.events == nil {
			a.events = map[endpoint.Mark]bool{}
		}
		a.events[mark] = true
	}
	return a.broken()
}

// broken is the error for a reply that ended because something went wrong with it. What it had of a
// call may be a piece of one: it must not be run.
func (a *answer) broken() error {
	kind, todo := model.KindServer, "try again"
	switch a.finish {
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MALFORMED_RESPONSE":
	case "OTHER":
		if a.refused {
			return nil
		}
	case "MISSING_THOUGHT_SIGNATURE":
		kind, todo = model.KindRequest, "start a new conversation"
	default:
		return nil
	}
	return a.client.Errorf(kind, "%s broke off its reply (%s); %s", a.client.Host(), a.reason(), todo)
}

// reason is why the reply ended, in the provider's words.
func (a *answer) reason() string {
	if a.why == "" {
		return a.finish
	}
	return a.finish + ": " + strings.TrimRight(a.why, ". \n")
}

// add takes one part; false says that there is no room for it. Parts of kinds that were not asked
// for, such as pictures, are passed over.
func (a *answer) add(raw []byte) bool {
	var p struct {
		Text      string `json:"text"`
		Thought   bool   `json:"thought"`
		Signature string `json:"thoughtSignature"`
		Call      *struct {
			ID   string          `json:"id"`
			Name string          `json:"name"`
			Args json.RawMessage `json:"args"`
		} `json:"functionCall"`
	}
	if json.Unmarshal(raw, &p) != nil {
		return true
	}
	var last *block
	if n := len(a.blocks); n > 0 {
		last = a.blocks[n-1]
	}
	kind := "text"
	switch {
	case p.Call != nil && a.again(p.Call.ID, p.Signature, p.Call.Name, p.Call.Args):
		return a.Repeat(len(raw)) // it must not make a second call
	case p.Call != nil:
		kind = "call"
	case p.Text == "" && p.Signature == "":
		return true
	case p.Thought:
		kind = "thought"
	}
	if kind == "call" || last == nil || last.kind != kind || last.signature != "" || p.Signature != "" {
		if !a.Part() || !a.Room(len(p.Signature)) {
			return false
		}
		last = &block{kind: kind, signature: p.Signature}
		a.blocks = append(a.blocks, last)
	}
	if kind == "call" {
		if !a.Room(len(p.Call.ID) + len(p.Call.Name) + len(p.Call.Args)) {
			return false
		}
		last.id, last.name, last.args = p.Call.ID, p.Call.Name, args(p.Call.Args)
		a.tell(model.Delta{Call: last.name})
		return true
	}
	if !a.Keep(&last.text, p.Text) {
		return false
	}
	switch {
	case p.Text == "":
	case p.Thought:
		a.tell(model.Delta{Reasoning: p.Text})
	default:
		a.tell(model.Delta{Text: p.Text})
	}
	return true
}

// again says whether a call came before. A signature tells as well as an id: it is one call's alone.
func (a *answer) again(id, signature, name string, raw json.RawMessage) bool {
	switch {
	case id != "":
		id = "id " + id
	case signature != "":
		id = "signature " + signature
	}
	return a.calls.Again(id, name, args(raw))
}

// args are the arguments as they came; a function without any is called without them.
func args(raw json.RawMessage) string {
	var b bytes.Buffer
	if len(raw) == 0 || string(raw) == "null" || json.Compact(&b, bytes.ToValidUTF8(raw, []byte("\ufffd"))) != nil {
		return "{}"
	}
	return b.String()
}

func (a *answer) reply() model.Reply {
	r := model.Reply{Usage: a.usage.usage()}
	calls, spoke := false, false
	for _, b := range a.blocks {
		var raw []byte
		if b.signature != "" {
			raw = encode(keep{Signature: b.signature})
		}
		s := b.text.String()
		switch b.kind {
		case "text":
			spoke = spoke || s != ""
			r.Blocks = append(r.Blocks, msg.Text{Text: s, Raw: raw})
		case "thought":
			r.Blocks = append(r.Blocks, msg.Reasoning{Text: s, Raw: encode(keep{&s, true, b.signature})})
		case "call":
			calls = true
			r.Blocks = append(r.Blocks, msg.Call{Given: b.id, Name: b.name, Args: b.args, Raw: raw})
		}
	}
	r.Stop = a.stop(calls)
	if r.Stop == model.StopRefusal && !spoke {
		// The service stops its model in the middle of a word and gives a reason in place of one.
		what := "reply"
		if a.refused {
			what = "prompt"
		}
		r.Blocks = append(r.Blocks, msg.Text{Text: "(the " + what + " was blocked: " + a.reason() + ")"})
	}
	return r
}

// stop sorts the finish reasons. One that is not known is a normal end: the API adds new ones.
// https://ai.google.dev/api/generate-content#FinishReason
func (a *answer) stop(calls bool) model.Stop {
	switch a.finish {
	case "":
		return ""
	case "MAX_TOKENS", "CONTINUATION":
		return model.StopLength
	case "SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR",
		"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "IMAGE_OTHER", "NO_IMAGE":
		return model.StopRefusal
	}
	switch {
	case a.refused:
		return model.StopRefusal
	case a.broken() != nil:
		return ""
	case calls:
		return model.StopCalls
	}
	return model.StopEnd
}
