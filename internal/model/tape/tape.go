// Package tape is how a recording writes requests and replies down: exactly where a model spoke, and
// with names in the place of what changes from run to run where its surroundings did. Whoever records
// and whoever plays makes the same of the same conversation, so that a difference between two of them
// is a difference between two runs. It opens no file and plays nothing.
package tape

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"unicode/utf8"

	"jig/internal/model"
	"jig/internal/msg"
)

// Request is what a model was sent. In a file, what is as it was in the request before is left out.
type Request struct {
	System   *string   `json:"system,omitempty"`
	Tools    []Tool    `json:"tools,omitzero"`
	Settings *Settings `json:"settings,omitempty"`
	// Afresh says that the conversation was rewritten: Messages are then all of it, and otherwise what
	// came after the reply before.
	Afresh   bool      `json:"afresh,omitempty"`
	Messages []Message `json:"messages"`
}

// Tool is what a model was told of a tool.
type Tool struct {
	Name  string `json:"name"`
	Doc   string `json:"doc"`
	Input Args   `json:"input"` // a JSON Schema
}

// Settings are what else a request asks for.
type Settings struct {
	MaxOutput   int      `json:"max_output,omitempty"`
	Reasoning   string   `json:"reasoning,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"top_p,omitempty"`
}

// Message is one message of a request.
type Message struct {
	Role   msg.Role `json:"role"`
	Notice bool     `json:"notice,omitempty"` // a job's report, which nobody wrote
	Blocks []Part   `json:"blocks"`
}

// Part is one block. Which of Text, Reasoning, Call, Result and Image is there says what it is.
type Part struct {
	Text      *Exact `json:"text,omitempty"`
	Reasoning *Exact `json:"reasoning,omitempty"`
	Call      *Exact `json:"call,omitempty"`   // the name of the tool
	Result    *Exact `json:"result,omitempty"` // likewise
	Image     string `json:"image,omitempty"`  // its type

	ID     string   `json:"id,omitempty"`     // of a call: the provider's; of a result: that of its call in the session
	Args   *Args    `json:"args,omitempty"`   // of a call
	Values []string `json:"values,omitempty"` // names that stand in the args for what they are in a run
	Failed bool     `json:"failed,omitempty"` // of a result
	Blocks []Part   `json:"blocks,omitempty"` // of a result
	Data   []byte   `json:"data,omitempty"`   // of an image
	SHA256 string   `json:"sha256,omitempty"` // of an image that a model was sent
	Raw    *Exact   `json:"raw,omitempty"`    // the provider's own form of the block
}

func exact(s string) *Exact { e := Exact(s); return &e }

func raw(b []byte) *Exact {
	if b == nil {
		return nil
	}
	return exact(string(b))
}

func unraw(e *Exact) []byte {
	if e == nil {
		return nil
	}
	return []byte(*e)
}

// Said writes down what a model said. Nothing of it is changed but what is secret, and in the
// arguments of calls what Values can put back.
func (v *Values) Said(blocks msg.Blocks) []Part {
	var out []Part
	for _, b := range blocks {
		switch b := b.(type) {
		case msg.Text:
			out = append(out, Part{Text: exact(v.Mask(b.Text)), Raw: raw(v.maskRaw(b.Raw))})
		case msg.Reasoning:
			out = append(out, Part{Reasoning: exact(v.Mask(b.Text)), Raw: raw(v.maskRaw(b.Raw))})
		case msg.Call:
			args, names := v.lift(v.Mask(b.Args))
			a := Args(args)
			out = append(out, Part{Call: exact(v.Mask(b.Name)), ID: v.Mask(b.Given), Args: &a, Values: names, Raw: raw(v.maskRaw(b.Raw))})
		case msg.Image:
			out = append(out, Part{Image: b.MIME, Data: b.Data})
		}
	}
	return out
}

// Speak is what Said wrote down, as a model says it.
func (v *Values) Speak(parts []Part) msg.Blocks {
	var out msg.Blocks
	for _, p := range parts {
		switch {
		case p.Text != nil:
			out = append(out, msg.Text{Text: string(*p.Text), Raw: unraw(p.Raw)})
		case p.Reasoning != nil:
			out = append(out, msg.Reasoning{Text: string(*p.Reasoning), Raw: unraw(p.Raw)})
		case p.Call != nil:
			c := msg.Call{Name: string(*p.Call), Given: p.ID, Raw: unraw(p.Raw)}
			if p.Args != nil {
				c.Args = v.drop(string(*p.Args), p.Values)
			}
			out = append(out, c)
		case p.Image != "":
			out = append(out, msg.Image{MIME: p.Image, Data: p.Data})
		}
	}
	return out
}

// Unknown is the first name in the calls of a reply that stands for nothing in this run, "" when there
// is none. Such a call must not be made: a shell takes an unknown name for nothing at all.
func (v *Values) Unknown(parts []Part) string {
	for _, p := range parts {
		for _, name := range p.Values {
			if !slices.ContainsFunc(v.acting, func(x Place) bool { return x.Name == name }) {
				return name
			}
		}
	}
	return ""
}

// Check says what is wrong with the parts of a reply that somebody wrote.
func Check(parts []Part) error {
	for i, p := range parts {
		n := 0
		for _, there := range []bool{p.Text != nil, p.Reasoning != nil, p.Call != nil, p.Image != ""} {
			if there {
				n++
			}
		}
		if n != 1 || p.Result != nil {
			return fmt.Errorf("block %d must have one of text, reasoning, call and image", i+1)
		}
		for _, e := range []*Exact{p.Text, p.Reasoning, p.Call} {
			if e != nil && !utf8.ValidString(string(*e)) {
				return fmt.Errorf("block %d is not UTF-8 text: only args and raw may be any bytes", i+1)
			}
		}
	}
	return nil
}

// heard writes down what a model was sent: names stand for all that differs from run to run. In what
// a person typed, only for where the run is.
func (v *Values) heard(blocks msg.Blocks, tools map[string]string, typed bool) []Part {
	take := v.Take
	if typed {
		take = v.typed
	}
	out := []Part{}
	for _, b := range blocks {
		switch b := b.(type) {
		case msg.Text:
			out = append(out, Part{Text: exact(take(b.Text)), Raw: raw(v.maskRaw(b.Raw))})
		case msg.Reasoning:
			out = append(out, Part{Reasoning: exact(v.Take(b.Text)), Raw: raw(v.maskRaw(b.Raw))})
		case msg.Call:
			a := Args(v.Take(b.Args))
			out = append(out, Part{Call: exact(v.Mask(b.Name)), ID: v.Mask(b.Given), Args: &a, Raw: raw(v.maskRaw(b.Raw))})
		case msg.Image:
			out = append(out, Part{Image: b.MIME, SHA256: fmt.Sprintf("%x", sha256.Sum256(b.Data))})
		case msg.Result:
			out = append(out, Part{Result: exact(v.Mask(tools[b.Call])), ID: b.Call, Failed: b.Failed, Blocks: v.heard(b.Blocks, tools, false)})
		}
	}
	return out
}

func settings(r model.Request) *Settings {
	return &Settings{MaxOutput: r.MaxOutput, Reasoning: r.Reasoning, Temperature: r.Temperature, TopP: r.TopP}
}
