package anthropic

import (
	"bytes"
	"encoding/json"
	"strings"

	"jig/internal/model"
	"jig/internal/model/endpoint"
	"jig/internal/msg"
)

// event is one event of the stream. Types that are not known, ping among them, are passed over: the
// API says that it adds new ones.
type event struct {
	Type    string          `json:"type"`
	Index   int             `json:"index"`
	Message *message        `json:"message"`
	Block   json.RawMessage `json:"content_block"`
	Delta   struct {
		Type       string `json:"type"`
		Text       string `json:"text"`
		Thinking   string `json:"thinking"`
		Signature  string `json:"signature"`
		JSON       string `json:"partial_json"`
		StopReason string `json:"stop_reason"`
		Stop       *why   `json:"stop_details"`
	} `json:"delta"`
	Usage endpoint.Aside[counts] `json:"usage"`
	Error json.RawMessage        `json:"error"`
}

type message struct {
	Type       string                 `json:"type"`
	Content    []json.RawMessage      `json:"content"`
	StopReason string                 `json:"stop_reason"`
	Stop       *why                   `json:"stop_details"`
	Usage      endpoint.Aside[counts] `json:"usage"`
}

// why says more of a refusal.
type why struct {
	Explanation string `json:"explanation"`
}

// counts are cumulative: a later event repeats or corrects an earlier one, and leaves out what it
// does not know.
type counts struct {
	Input      endpoint.Count `json:"input_tokens"`
	Output     endpoint.Count `json:"output_tokens"`
	CacheRead  endpoint.Count `json:"cache_read_input_tokens"`
	CacheWrite endpoint.Count `json:"cache_creation_input_tokens"`
}

func (c *counts) merge(d *counts) {
	if d == nil {
		return
	}
	c.Input.Merge(d.Input)
	c.Output.Merge(d.Output)
	c.CacheRead.Merge(d.CacheRead)
	c.CacheWrite.Merge(d.CacheWrite)
}

// usage adds the cached tokens to the input: the API counts them apart.
func (c *counts) usage() msg.Usage {
	read, written := c.CacheRead.N, c.CacheWrite.N
	return msg.Usage{Input: c.Input.N + read + written, Output: c.Output.N, CacheRead: read, CacheWrite: written}
}

// answer puts a reply together.
type answer struct {
	endpoint.Size
	client *endpoint.Client
	tell   func(model.Delta)
	blocks []*block
	stop   string
	why    string // the provider's words for a refusal
	usage  counts
}

// block is one content block that is coming or has come.
type block struct {
	index     int
	kind      string
	raw       json.RawMessage // of what is not rebuilt from its pieces, as it came
	id, name  string
	input     json.RawMessage // of a call that came whole
	text      strings.Builder // text, thinking or arguments
	signature strings.Builder
}

func newAnswer(c *endpoint.Client, tell func(model.Delta)) *answer {
	if tell == nil {
		tell = func(model.Delta) {}
	}
	return &answer{client: c, tell: tell}
}

// Ended is whether a stop reason has come.
func (a *answer) Ended() bool { return a.stop != "" }

// Event reads one event of the stream.
func (a *answer) Event(data []byte) (last bool, err error) {
	var ev event
	if err := json.Unmarshal(data, &ev); err != nil {
		return false, a.client.Errorf(model.KindProtocol, "%s sent an event that is not of the messages dialect: %v; check the provider's url and type", a.client.Host(), err)
	}
	switch ev.Type {
	case "error":
		return false, a.client.Told(data)
	case "": // gateways leave the type out of theirs
		if len(ev.Error) > 0 && string(ev.Error) != "null" {
			return false, a.client.Told(data)
		}
	case "message_stop":
		return true, nil
	case "message_start":
		if ev.Message != nil {
			a.usage.merge(ev.Message.Usage.Value)
		}
	case "content_block_start":
		a.begin(ev.Index, ev.Block)
	case "content_block_delta":
		a.delta(ev)
	case "message_delta":
		a.usage.merge(ev.Usage.Value)
		if ev.Delta.StopReason != "" {
			a.stop = ev.Delta.StopReason
		}
		a.explain(ev.Delta.Stop)
	}
	return false, nil
}

// Whole reads a reply in one piece.
func (a *answer) Whole(body []byte) error {
	var w message
	if json.Unmarshal(body, &w) != nil || w.Type != "message" {
		return endpoint.ErrNoReply
	}
	a.usage.merge(w.Usage.Value)
	for i, raw := range w.Content {
		if !a.begin(i, raw) {
			break
		}
	}
	a.stop = w.StopReason
	a.explain(w.Stop)
	return nil
}

func (a *answer) explain(w *why) {
	if w != nil && a.Room(len(w.Explanation)) {
		a.why = w.Explanation
	}
}

// begin opens a block; false says that there is no room for it.
func (a *answer) begin(index int, raw json.RawMessage) bool {
	if !a.Part() || !a.Room(len(raw)) {
		return false
	}
	raw = bytes.ToValidUTF8(raw, []byte("\ufffd"))
	var head struct {
		Type      string          `json:"type"`
		Text      string          `json:"text"`
		Thinking  string          `json:"thinking"`
		Signature string          `json:"signature"`
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Input     json.RawMessage `json:"input"`
	}
	_ = json.Unmarshal(raw, &head) // a block that cannot be read has no type and is passed over
	if n := len(a.blocks); n > 0 && head.ID != "" && a.blocks[n-1].index == index && a.blocks[n-1].id == head.ID {
		return true // the same event a second time: it must not make a second call
	}
	b := &block{index: index, kind: head.Type, id: head.ID, name: head.Name, input: head.Input}
	if b.kind != "text" && b.kind != "thinking" && b.kind != "tool_use" {
		b.raw = raw
	}
	a.blocks = append(a.blocks, b)
	b.text.WriteString(head.Text + head.Thinking)
	b.signature.WriteString(head.Signature)
	switch {
	case head.Type == "tool_use":
		a.tell(model.Delta{Call: head.Name})
	case head.Text != "" || head.Thinking != "":
		a.tell(model.Delta{Text: head.Text, Reasoning: head.Thinking})
	}
	return true
}

func (a *answer) delta(ev event) {
	var b *block
	for _, x := range a.blocks {
		if x.index == ev.Index {
			b = x
		}
	}
	if b == nil {
		return
	}
	d := ev.Delta
	switch d.Type {
	case "text_delta":
		if a.Keep(&b.text, d.Text) {
			a.tell(model.Delta{Text: d.Text})
		}
	case "thinking_delta":
		if a.Keep(&b.text, d.Thinking) {
			a.tell(model.Delta{Reasoning: d.Thinking})
		}
	case "signature_delta":
		a.Keep(&b.signature, d.Signature)
	case "input_json_delta":
		a.Keep(&b.text, d.JSON)
	}
}

func (a *answer) reply() model.Reply {
	r := model.Reply{Usage: a.usage.usage()}
	calls := false
	var once endpoint.Calls
	for _, b := range a.blocks {
		switch b.kind {
		case "text":
			if b.text.Len() > 0 {
				r.Blocks = append(r.Blocks, msg.Text{Text: b.text.String()})
			}
		case "thinking":
			r.Blocks = append(r.Blocks, msg.Reasoning{Text: b.text.String(), Raw: b.thinking()})
		case "redacted_thinking":
			r.Blocks = append(r.Blocks, msg.Reasoning{Raw: b.raw})
		case "tool_use":
			if once.Again(b.id, b.name, b.args()) {
				continue // its events came twice
			}
			calls = true
			r.Blocks = append(r.Blocks, msg.Call{Given: b.id, Name: b.name, Args: b.args()})
		}
	}
	switch a.stop {
	case "max_tokens", "model_context_window_exceeded":
		r.Stop = model.StopLength
	case "refusal":
		r.Stop = model.StopRefusal
		if r.Blocks.Text() == "" && a.why != "" {
			r.Blocks = append(r.Blocks, msg.Text{Text: a.why})
		}
	case "", pauseTurn: // there is more to come
	default:
		r.Stop = model.StopEnd
		if calls {
			r.Stop = model.StopCalls
		}
	}
	return r
}

// thinking rebuilds the block from its pieces. Text and signature are carried over exactly; the
// signature covers them and not the spelling of the JSON around them.
func (b *block) thinking() []byte {
	return encode(struct {
		Type      string `json:"type"`
		Thinking  string `json:"thinking"`
		Signature string `json:"signature"`
	}{"thinking", b.text.String(), b.signature.String()})
}

// args are the arguments as the model wrote them: in pieces, or whole in the block's beginning.
func (b *block) args() string {
	if b.text.Len() > 0 {
		return b.text.String()
	}
	if len(b.input) > 0 && string(b.input) != "null" {
		var c bytes.Buffer
		if json.Compact(&c, b.input) == nil {
			return c.String()
		}
	}
	return "{}"
}

func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return nil
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}
