package openai

import (
	"encoding/json"
	"slices"
	"strings"

	"jig/internal/model"
	"jig/internal/model/endpoint"
	"jig/internal/msg"
)

// chunk is one piece of a streamed reply, or a whole reply that was not streamed.
type chunk struct {
	Choices []choice              `json:"choices"`
	Usage   endpoint.Aside[usage] `json:"usage"`
	Error   json.RawMessage       `json:"error"`
	Message any                   `json:"message"` // of an error, a text
}

// failed says whether a chunk tells of an error. Some servers tell of it without the key for it.
func (c *chunk) failed() bool {
	said, _ := c.Message.(string)
	return len(c.Error) > 0 && string(c.Error) != "null" || said != "" && c.Choices == nil
}

// wholeCalls says whether there are calls in a chunk, each with its id and name and with arguments. Pieces
// of calls can well be the same one after another, as can those without an id.
func (c *chunk) wholeCalls() bool {
	some := false
	for _, ch := range c.Choices {
		for _, d := range []*delta{ch.Delta, ch.Message} {
			if d == nil {
				continue
			}
			for _, f := range d.ToolCalls {
				if f.ID == "" || f.Function.Name == "" || !f.whole() {
					return false
				}
				some = true
			}
		}
	}
	return some
}

type choice struct {
	Index        ordinal               `json:"index"`
	Delta        *delta                `json:"delta"`
	Message      *delta                `json:"message"`
	FinishReason string                `json:"finish_reason"`
	Usage        endpoint.Aside[usage] `json:"usage"` // as Moonshot streams it
}

type delta struct {
	Content          prose             `json:"content"`
	ReasoningContent *string           `json:"reasoning_content"`
	Reasoning        *string           `json:"reasoning"`
	Details          []json.RawMessage `json:"reasoning_details"`
	Refusal          string            `json:"refusal"`
	ToolCalls        []fragment        `json:"tool_calls"`
}

// prose is a text that is normally a string; some servers send null or a list of parts, in which
// reasoning can be as well.
type prose struct {
	text    string
	thought *string
}

func (c *prose) UnmarshalJSON(b []byte) error {
	if len(b) == 0 || b[0] != '[' {
		return json.Unmarshal(b, &c.text)
	}
	var parts []struct {
		Text     string   `json:"text"`
		Thinking thinking `json:"thinking"`
	}
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	var text, thought strings.Builder
	for _, p := range parts {
		text.WriteString(p.Text)
		if p.Thinking.some {
			thought.WriteString(p.Thinking.text)
			c.thought = new(string)
		}
	}
	c.text = text.String()
	if c.thought != nil {
		*c.thought = thought.String()
	}
	return nil
}

// thinking is reasoning within a part: a string or a list of parts. It is not read as prose is,
// because what nests without end is gone through again at every level.
type thinking struct {
	text string
	some bool
}

func (t *thinking) UnmarshalJSON(b []byte) error {
	if t.some = string(b) != "null"; !t.some {
		return nil
	}
	if len(b) == 0 || b[0] != '[' {
		return json.Unmarshal(b, &t.text)
	}
	var parts []struct {
		Text string `json:"text"`
	}
	err := json.Unmarshal(b, &parts)
	var text strings.Builder
	for _, p := range parts {
		text.WriteString(p.Text)
	}
	t.text = text.String()
	return err
}

// answer puts a reply together.
type answer struct {
	endpoint.Size
	client  *endpoint.Client
	tell    func(model.Delta)
	text    strings.Builder
	refusal strings.Builder
	think   thoughts
	calls   calls
	events  map[endpoint.Mark]bool // those that brought whole calls
	// streamed is whether something came in pieces, and not as a message.
	streamed bool
	finish   string
	usage    msg.Usage
}

// Ended is whether a finish reason has come.
func (a *answer) Ended() bool { return a.finish != "" }

// Event reads one chunk.
func (a *answer) Event(data []byte) (last bool, err error) {
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return false, a.client.Errorf(model.KindProtocol, "%s sent an event that is not a chat completion: %v; check the provider's url and type", a.client.Host(), err)
	}
	return false, a.read(data, c)
}

// Whole reads a reply in one piece.
func (a *answer) Whole(body []byte) error {
	var c chunk
	if json.Unmarshal(body, &c) != nil || len(c.Choices) == 0 {
		return endpoint.ErrNoReply
	}
	return a.read(body, c)
}

func (a *answer) read(data []byte, c chunk) error {
	if c.failed() {
		return a.client.Told(data)
	}
	kept, mark := a.Kept(), endpoint.Mark{}
	if c.wholeCalls() {
		if mark = endpoint.MarkOf(string(data)); a.events[mark] {
			a.Repeat(len(data))
			return nil // sent twice, words and all
		}
	}
	a.add(c)
	if mark != (endpoint.Mark{}) && a.Kept() > kept {
		if a.events == nil {
			a.events = map[endpoint.Mark]bool{}
		}
		a.events[mark] = true
	}
	switch a.finish {
	case "error", "insufficient_system_resource", "network_error", "aborted":
		return a.client.Errorf(model.KindServer, "%s broke off its reply (%s); try again", a.client.Host(), a.finish)
	}
	return nil
}

func (a *answer) add(c chunk) {
	if u := c.Usage.Value; u != nil {
		a.usage = u.counted()
	}
	for _, ch := range c.Choices {
		if n := ch.Index.n; n != nil && *n != 0 {
			continue // only one was asked for
		}
		if ch.Delta != nil {
			kept := a.Kept()
			a.delta(ch.Delta, false)
			a.streamed = a.streamed || a.Kept() > kept
		}
		if ch.Message != nil {
			a.delta(ch.Message, a.streamed)
		}
		if u := ch.Usage.Value; u != nil && c.Usage.Value == nil {
			a.usage = u.counted()
		}
		if ch.FinishReason != "" {
			a.finish = ch.FinishReason
		}
	}
}

// delta adds what came. A message that closes a stream of pieces may have all of them again.
func (a *answer) delta(d *delta, closing bool) {
	thought, key := "", ""
	switch {
	case d.ReasoningContent != nil:
		thought, key = *d.ReasoningContent, keyContent
	case d.Reasoning != nil:
		thought, key = *d.Reasoning, keyShort
	case d.Content.thought != nil:
		thought, key = *d.Content.thought, keyParts
	}
	said, refused, details := d.Content.text, d.Refusal, d.Details
	if closing {
		if !a.Repeat(len(thought) + len(said) + len(refused)) {
			return
		}
		if a.think.key != "" || len(a.think.details) > 0 {
			key = a.think.key
		}
		if key == "" {
			thought = ""
		}
		thought, said, refused = beyond(&a.think.text, thought), beyond(&a.text, said), beyond(&a.refusal, refused)
		if len(a.think.details) > 0 {
			details = nil
		}
	}
	if key != "" {
		a.think.key = key
	}
	if !a.Keep(&a.think.text, thought) || !a.Keep(&a.text, said) || !a.Keep(&a.refusal, refused) {
		return
	}
	detailed, ok := a.think.take(&a.Size, details)
	if !ok {
		return
	}
	if key == "" {
		thought = detailed // it is told of in one form or in both
	}
	if said += refused; said != "" || thought != "" {
		a.say(model.Delta{Text: said, Reasoning: thought})
	}
	for i := range d.ToolCalls {
		if !a.call(&d.ToolCalls[i], closing) {
			return
		}
	}
}

// beyond is what a whole text has that has not come in pieces. Another text than theirs is all new.
func beyond(had *strings.Builder, whole string) string {
	more, _ := strings.CutPrefix(whole, had.String())
	return more
}

func (a *answer) say(d model.Delta) {
	if a.tell != nil {
		a.tell(d)
	}
}

func (a *answer) reply() model.Reply {
	var r model.Reply
	r.Usage = a.usage
	// Reasoning of which nothing came counts where there are calls: the server misses the key.
	if kept := a.think.kept(); kept != nil && (len(a.calls.all) > 0 || a.think.text.Len() > 0 || len(a.think.details) > 0) {
		r.Blocks = append(r.Blocks, msg.Reasoning{Text: a.think.words(), Raw: kept})
	}
	if s := a.text.String() + a.refusal.String(); s != "" {
		r.Blocks = append(r.Blocks, msg.Text{Text: s})
	}
	r.Blocks = append(r.Blocks, a.calls.blocks()...)
	switch {
	case a.finish == "":
	case slices.Contains([]string{"length", "model_length", "max_tokens", "model_context_window_exceeded"}, a.finish):
		r.Stop = model.StopLength
	case a.finish == "content_filter", a.finish == "sensitive", a.refusal.Len() > 0:
		r.Stop = model.StopRefusal
	case len(a.calls.all) > 0:
		r.Stop = model.StopCalls
	default:
		r.Stop = model.StopEnd
	}
	return r
}
