package openai

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"jig/internal/model"
	"jig/internal/model/endpoint"
	"jig/internal/msg"
)

// chunk is one piece of a streamed reply, or a whole reply that was not streamed.
type chunk struct {
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type choice struct {
	Index        int    `json:"index"`
	Delta        *delta `json:"delta"`
	Message      *delta `json:"message"`
	FinishReason string `json:"finish_reason"`
	Usage        *usage `json:"usage"` // as Moonshot streams it
}

type delta struct {
	Content          prose             `json:"content"`
	ReasoningContent *string           `json:"reasoning_content"`
	Reasoning        *string           `json:"reasoning"`
	Details          []json.RawMessage `json:"reasoning_details"`
	Refusal          string            `json:"refusal"`
	ToolCalls        []fragment        `json:"tool_calls"`
}

// fragment is a piece of a tool call.
type fragment struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string    `json:"name"`
		Arguments arguments `json:"arguments"`
	} `json:"function"`
	// Extra is what Google's models want back with their calls, in the form in which they are
	// reached through this dialect: https://ai.google.dev/gemini-api/docs/thought-signatures
	Extra json.RawMessage `json:"extra_content"`
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
		Text     string `json:"text"`
		Thinking *prose `json:"thinking"`
	}
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		c.text += p.Text
		if p.Thinking != nil {
			if c.thought == nil {
				c.thought = new(string)
			}
			*c.thought += p.Thinking.text
		}
	}
	return nil
}

// arguments are JSON in a string; some servers send the JSON itself.
type arguments string

func (a *arguments) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '{' {
		*a = arguments(bytes.ToValidUTF8(b, []byte("\ufffd")))
		return nil
	}
	return json.Unmarshal(b, (*string)(a))
}

// answer puts a reply together.
type answer struct {
	endpoint.Size
	client  *endpoint.Client
	tell    func(model.Delta)
	text    strings.Builder
	refusal strings.Builder
	think   thoughts
	calls   []*open
	finish  string
	usage   msg.Usage
}

// open is a tool call that is still coming.
type open struct {
	index *int
	id    string
	name  string
	args  strings.Builder
	extra json.RawMessage
}

// Ended is whether a finish reason has come.
func (a *answer) Ended() bool { return a.finish != "" }

// Event reads one chunk, or the mark after the last one.
func (a *answer) Event(data []byte) (last bool, err error) {
	if string(data) == "[DONE]" {
		return true, nil
	}
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
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return a.client.Told(data)
	}
	a.add(c)
	switch a.finish {
	case "error", "insufficient_system_resource", "network_error", "aborted":
		return a.client.Errorf(model.KindServer, "%s broke off its reply (%s); try again", a.client.Host(), a.finish)
	}
	return nil
}

func (a *answer) add(c chunk) {
	if c.Usage != nil {
		a.usage = c.Usage.counted()
	}
	for _, ch := range c.Choices {
		if ch.Index != 0 {
			continue // only one was asked for
		}
		for _, d := range []*delta{ch.Delta, ch.Message} {
			if d != nil {
				a.delta(d)
			}
		}
		if ch.Usage != nil && c.Usage == nil {
			a.usage = ch.Usage.counted()
		}
		if ch.FinishReason != "" {
			a.finish = ch.FinishReason
		}
	}
}

func (a *answer) delta(d *delta) {
	thought, key := "", ""
	switch {
	case d.ReasoningContent != nil:
		thought, key = *d.ReasoningContent, keyContent
	case d.Reasoning != nil:
		thought, key = *d.Reasoning, keyShort
	case d.Content.thought != nil:
		thought, key = *d.Content.thought, keyParts
	}
	if key != "" {
		a.think.key = key
	}
	if !a.Keep(&a.think.text, thought) || !a.Keep(&a.text, d.Content.text) || !a.Keep(&a.refusal, d.Refusal) {
		return
	}
	detailed, ok := a.think.take(&a.Size, d.Details)
	if !ok {
		return
	}
	if key == "" {
		thought = detailed // it is told of in one form or in both
	}
	if said := d.Content.text + d.Refusal; said != "" || thought != "" {
		a.say(model.Delta{Text: said, Reasoning: thought})
	}
	for i := range d.ToolCalls {
		if !a.call(&d.ToolCalls[i]) {
			return
		}
	}
}

// call adds a fragment to the call it belongs to; false says that there is no room for it.
func (a *answer) call(f *fragment) bool {
	c := a.find(f)
	if c == nil {
		if !a.Part() {
			return false
		}
		c = &open{index: f.Index}
		a.calls = append(a.calls, c)
	}
	if c.id == "" {
		if !a.Room(len(f.ID)) {
			return false
		}
		c.id = f.ID
	}
	if c.name == "" && f.Function.Name != "" {
		if !a.Room(len(f.Function.Name)) {
			return false
		}
		c.name = f.Function.Name
		a.say(model.Delta{Call: c.name})
	}
	if len(f.Extra) > 0 && string(f.Extra) != "null" {
		if !a.Room(len(f.Extra)) {
			return false
		}
		c.extra = bytes.Clone(bytes.ToValidUTF8(f.Extra, []byte("\ufffd")))
	}
	return a.Keep(&c.args, string(f.Function.Arguments))
}

func (a *answer) say(d model.Delta) {
	if a.tell != nil {
		a.tell(d)
	}
}

// find tells which call a fragment continues; nil says that it begins a new one. The index decides
// where there is one, but imitations leave it out, or send 0 for every call, so a name after
// arguments that are already whole begins a new call, and so does a name with another id.
func (a *answer) find(f *fragment) *open {
	var last *open
	name := f.Function.Name
	for _, c := range a.calls {
		if f.Index == nil && name == "" && f.ID != "" && f.ID == c.id {
			return c
		}
		if f.Index == nil || c.index == nil || *c.index == *f.Index {
			last = c
		}
	}
	switch {
	case last == nil, name == "", last.name == "":
		return last
	case f.ID != "" && last.id != "" && f.ID != last.id:
		return nil
	case name != last.name, f.Function.Arguments != "" && complete(last.args.String()):
		return nil
	}
	return last
}

// complete says whether arguments are whole. Most that are not show it by their end: they are asked
// at every piece, and reading them each time would take minutes for a file of a megabyte.
func complete(args string) bool {
	if strings.HasPrefix(args, "{") && !strings.HasSuffix(strings.TrimRight(args, " \t\r\n"), "}") {
		return false
	}
	return json.Valid([]byte(args))
}

func (a *answer) reply() model.Reply {
	var r model.Reply
	r.Usage = a.usage
	// Reasoning of which nothing came counts where there are calls: the server misses the key.
	if kept := a.think.kept(); kept != nil && (len(a.calls) > 0 || a.think.text.Len() > 0 || len(a.think.details) > 0) {
		r.Blocks = append(r.Blocks, msg.Reasoning{Text: a.think.words(), Raw: kept})
	}
	if s := a.text.String() + a.refusal.String(); s != "" {
		r.Blocks = append(r.Blocks, msg.Text{Text: s})
	}
	for _, c := range a.calls {
		call := msg.Call{Given: c.id, Name: c.name, Args: c.args.String()}
		if c.extra != nil {
			call.Raw = encode(beside{c.extra})
		}
		r.Blocks = append(r.Blocks, call)
	}
	switch {
	case a.finish == "":
	case slices.Contains([]string{"length", "model_length", "max_tokens", "model_context_window_exceeded"}, a.finish):
		r.Stop = model.StopLength
	case a.finish == "content_filter", a.finish == "sensitive", a.refusal.Len() > 0:
		r.Stop = model.StopRefusal
	case len(a.calls) > 0:
		r.Stop = model.StopCalls
	default:
		r.Stop = model.StopEnd
	}
	return r
}
