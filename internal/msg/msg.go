// Package msg holds the words of a conversation: messages, the blocks they are made of, and what
// they cost. It knows no provider's wire and no tool.
package msg

import "strings"

// Role says who speaks.
type Role string

// The two voices of a conversation. Notices and tool results are spoken by the user's side.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// Message is one utterance. An assistant message is answered, call by call, by the Result blocks
// of the user message after it.
type Message struct {
	Role   Role   `json:"role"`
	Blocks Blocks `json:"blocks"`
	// Provider and Model say who wrote an assistant message. Reasoning is only ever replayed to
	// the model that wrote it.
	Provider string `json:"provider,omitempty"`
	Model    string `json:"model,omitempty"`
}

// Block is one part of a message: Text, Image, Reasoning, Call or Result.
type Block interface{ block() }

// Blocks is a message's parts in order. It is a type of its own so that it can be written as JSON.
type Blocks []Block

// Text is plain text, always valid UTF-8.
type Text struct {
	Text string `json:"text"`
	// Raw is what else the provider wants back with it, such as its own id of the text.
	Raw []byte `json:"raw,omitempty"`
}

// Image is a picture for a model that can see.
type Image struct {
	MIME string `json:"mime"`
	Data []byte `json:"data"`
}

// Reasoning is what a model thought. Raw is the provider's own block, kept byte for byte, because
// a signed or encrypted block that is altered makes the next request fail.
type Reasoning struct {
	Text string `json:"text,omitempty"`
	Raw  []byte `json:"raw,omitempty"`
}

// Call is a model's wish to use a tool.
type Call struct {
	// ID is ours: unique in the session, nine letters and digits, which every provider accepts.
	ID string `json:"id"`
	// Given is the provider's id, which may be missing or repeat.
	Given string `json:"given,omitempty"`
	Name  string `json:"name"`
	// Args is what the model wrote. It is a string and not JSON because it may be malformed.
	Args string `json:"args"`
	// Raw is the provider's own form of the block where it must be replayed as it was.
	Raw []byte `json:"raw,omitempty"`
}

// Result answers the call with the same ID.
type Result struct {
	Call   string `json:"call"`
	Blocks Blocks `json:"blocks"`
	Failed bool   `json:"failed,omitempty"`
}

func (Text) block()      {}
func (Image) block()     {}
func (Reasoning) block() {}
func (Call) block()      {}
func (Result) block()    {}

// Say makes a message of one text.
func Say(r Role, text string) Message { return Message{Role: r, Blocks: Blocks{Text{Text: text}}} }

// Text joins the text blocks, without a separator: a provider may split one text into several.
func (b Blocks) Text() string {
	var s strings.Builder
	for _, x := range b {
		if t, ok := x.(Text); ok {
			s.WriteString(t.Text)
		}
	}
	return s.String()
}

// Calls are the calls among the blocks, in order.
func (b Blocks) Calls() []Call {
	var out []Call
	for _, x := range b {
		if c, ok := x.(Call); ok {
			out = append(out, c)
		}
	}
	return out
}

// Usage counts tokens as the provider reported them. Input is everything that was sent; the two
// cache figures say how much of it was read from and written to the provider's cache.
type Usage struct {
	Input      int `json:"input_tokens"`
	Output     int `json:"output_tokens"`
	CacheRead  int `json:"cache_read_tokens"`
	CacheWrite int `json:"cache_write_tokens"`
}

// Total is input and output together.
func (u Usage) Total() int { return u.Input + u.Output }

// Add sums two usages.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.Input + v.Input, u.Output + v.Output, u.CacheRead + v.CacheRead, u.CacheWrite + v.CacheWrite}
}
