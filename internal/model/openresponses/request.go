package openresponses

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"jig/internal/model"
	"jig/internal/msg"
)

// request is the body of one request. The order of its fields is the order of the keys on the
// wire; the conversation comes last so that a longer one begins with the same bytes.
type request struct {
	Model           string     `json:"model"`
	Stream          bool       `json:"stream"`
	Store           bool       `json:"store"`
	Include         []string   `json:"include,omitempty"`
	MaxOutputTokens int        `json:"max_output_tokens,omitempty"`
	Temperature     *float64   `json:"temperature,omitempty"`
	TopP            *float64   `json:"top_p,omitempty"`
	Reasoning       *reasoning `json:"reasoning,omitempty"`
	Tools           []tool     `json:"tools,omitempty"`
	Instructions    string     `json:"instructions,omitempty"`
	// The input follows: message, call, outcome, or reasoning that is sent back as it came.
}

type reasoning struct {
	Effort  string `json:"effort"`
	Summary string `json:"summary,omitempty"`
}

// tool is a function. Strict is said because its default here is true, which refuses schemas with
// optional properties or changes them.
type tool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"`
}

// noInput is the schema of a tool that has none: the API demands one, properties and all.
const noInput = `{"type":"object","properties":{}}`

// encrypted asks for reasoning in a form that can be sent back.
const encrypted = "reasoning.encrypted_content"

// leastOutput is the lowest output limit that the API takes, in tokens.
const leastOutput = 16

// head is what an item of the model's own is known by. It goes back with the item.
type head struct {
	Type   string `json:"type"`
	ID     string `json:"id,omitempty"`
	Status string `json:"status,omitempty"`
	Phase  string `json:"phase,omitempty"` // of a message: commentary or the answer
	Part   string `json:"part,omitempty"`  // of a text: refusal, or nothing
}

type message struct {
	Type    string `json:"type"`
	ID      string `json:"id,omitempty"`
	Status  string `json:"status,omitempty"`
	Phase   string `json:"phase,omitempty"`
	Role    string `json:"role"`
	Content any    `json:"content"` // a string or a list of part
}

type part struct {
	Type        string `json:"type"`
	Text        string `json:"text,omitempty"`
	Refusal     string `json:"refusal,omitempty"`
	Annotations *[]any `json:"annotations,omitempty"`
	Detail      string `json:"detail,omitempty"`
	ImageURL    string `json:"image_url,omitempty"`
}

type call struct {
	Type      string `json:"type"`
	ID        string `json:"id,omitempty"`
	Status    string `json:"status,omitempty"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type outcome struct {
	Type   string `json:"type"`
	CallID string `json:"call_id"`
	Output any    `json:"output"` // a string or a list of part
}

// body writes the request. The same request gives the same bytes.
func (m *Model) body(r model.Request, terse bool) ([]byte, error) {
	n := parseModel(r.Model)
	q := request{
		Model: r.Model, Stream: true, MaxOutputTokens: r.MaxOutput,
		Temperature: r.Temperature, TopP: r.TopP,
	}
	if q.MaxOutputTokens > 0 {
		q.MaxOutputTokens = max(q.MaxOutputTokens, leastOutput)
	}
	if !n.plain {
		q.Include = []string{encrypted}
	}
	if r.Reasoning != "" {
		q.Reasoning = &reasoning{Effort: n.effort(r.Reasoning)}
		if q.Reasoning.Effort != "none" && !terse {
			q.Reasoning.Summary = "auto" // without it nothing is told of the reasoning
		}
	}
	if strings.TrimSpace(r.System) != "" {
		q.Instructions = r.System
	}
	for _, t := range r.Tools {
		if len(t.Input) == 0 {
			t.Input = json.RawMessage(noInput)
		}
		q.Tools = append(q.Tools, tool{Type: "function", Name: t.Name, Description: t.Doc, Parameters: t.Input})
	}
	b := encode(q)
	if b == nil {
		return nil, m.client.Errorf(model.KindRequest, "the request cannot be written as JSON; is a tool's schema malformed?")
	}
	b = append(bytes.TrimSuffix(b, []byte("}")), `,"input":[`...)
	return slices.Concat(b, bytes.TrimPrefix(slices.Concat(m.input(r)...), []byte(",")), []byte("]}")), nil
}

// input writes the items of each message of the conversation, each item behind a comma. What has no
// item is left out.
func (m *Model) input(r model.Request) [][]byte {
	ids := model.WireIDs(nil)
	return m.written.Each(r.Model, r.Messages, func(x msg.Message, known bool) []byte {
		ids.Add(x)
		switch {
		case known:
			return nil
		case x.Role == msg.Assistant:
			own := x.Provider == m.provider && x.Model == r.Model
			return items(assistant(x.Blocks, ids, own && complete(x.Blocks)))
		}
		return items(user(x.Blocks, ids))
	})
}

func items(all []any) []byte {
	var b []byte
	for _, item := range all {
		b = append(b, ',')
		// Not through the encoder, which would take the spaces out of what is sent back as it came.
		if raw, ok := item.(json.RawMessage); ok {
			b = append(b, raw...)
		} else {
			b = append(b, encode(item)...)
		}
	}
	return b
}

// complete says whether a reply can be sent back as it came: all its items came to their end, and
// its reasoning holds its thoughts, encrypted or open. Without them there is only the id of something
// that the provider has not kept.
func complete(blocks msg.Blocks) bool {
	for _, b := range blocks {
		var item struct {
			Type      string            `json:"type"`
			Encrypted string            `json:"encrypted_content"`
			Content   []json.RawMessage `json:"content"`
		}
		ok := true
		switch b := b.(type) {
		case msg.Reasoning:
			ok = json.Unmarshal(b.Raw, &item) == nil && item.Type == "reasoning" && (item.Encrypted != "" || len(item.Content) > 0)
		case msg.Text:
			ok = json.Unmarshal(b.Raw, &item) == nil && item.Type == "message"
		case msg.Call:
			ok = json.Unmarshal(b.Raw, &item) == nil && item.Type == "function_call"
		}
		if !ok {
			return false
		}
	}
	return true
}

// assistant writes what the model said, in its order. With own its reasoning goes back untouched,
// and so do the ids that tie the other items to it; otherwise neither does, because the one is
// refused without the other. Reasoning that led to nothing is left out, as the API refuses it.
func assistant(blocks msg.Blocks, ids model.IDs, own bool) []any {
	var out []any
	var thoughts []any // not yet followed by an item
	for _, b := range blocks {
		var item any
		switch b := b.(type) {
		case msg.Reasoning:
			if own {
				thoughts = append(thoughts, json.RawMessage(b.Raw))
			}
			continue
		case msg.Text:
			if b.Text == "" {
				continue
			}
			h := known(b.Raw, "message", "msg", own)
			p := said(b.Text, h)
			if last, ok := lastMessage(out); ok && len(thoughts) == 0 && h.ID != "" && last.ID == h.ID {
				last.Content = append(last.Content.([]part), p)
				out[len(out)-1] = last
				continue
			}
			item = message{Type: "message", Role: "assistant", Content: b.Text}
			if h.ID != "" {
				item = message{"message", h.ID, h.Status, h.Phase, "assistant", []part{p}}
			}
		case msg.Call:
			h := known(b.Raw, "function_call", "fc", own)
			item = call{"function_call", h.ID, h.Status, ids.Of(b.ID), model.WireName(b.Name), model.WireArgs(b.Args)}
		default:
			continue
		}
		out = append(append(out, thoughts...), item)
		thoughts = nil
	}
	return out
}

// lastMessage is the last item when it is a message.
func lastMessage(items []any) (message, bool) {
	if len(items) == 0 {
		return message{}, false
	}
	m, ok := items[len(items)-1].(message)
	return m, ok
}

// known reads the head of an item. It is empty where there is none, and where its id is not of the
// form that the vendor's service checks: those are fleeting ones that imitations make up.
func known(raw []byte, kind, prefix string, own bool) head {
	var h head
	if !own || json.Unmarshal(raw, &h) != nil || h.Type != kind || !strings.HasPrefix(h.ID, prefix) {
		return head{}
	}
	return h
}

// said is a part of a message of the model's own.
func said(text string, h head) part {
	if h.Part == "refusal" {
		return part{Type: "refusal", Refusal: text}
	}
	return part{Type: "output_text", Text: text, Annotations: &[]any{}}
}

// user writes results first, each an item of its own, and then what else the user's side said.
func user(blocks msg.Blocks, ids model.IDs) []any {
	var out []any
	var rest msg.Blocks
	for _, b := range blocks {
		r, ok := b.(msg.Result)
		if !ok {
			rest = append(rest, b)
			continue
		}
		parts := parts(r.Blocks)
		if len(parts) == 0 {
			parts = []part{{Type: "input_text", Text: model.NoOutput}}
		}
		out = append(out, outcome{"function_call_output", ids.Of(r.Call), content(parts, "\n")})
	}
	p := parts(rest)
	if len(p) == 0 && len(out) == 0 {
		p = []part{{Type: "input_text", Text: model.NoWords}}
	}
	if len(p) > 0 {
		out = append(out, message{Type: "message", Role: "user", Content: content(p, "\n\n")})
	}
	return out
}

func parts(blocks msg.Blocks) []part {
	var out []part
	for _, b := range blocks {
		switch b := b.(type) {
		case msg.Text:
			if b.Text != "" {
				out = append(out, part{Type: "input_text", Text: b.Text})
			}
		case msg.Image:
			out = append(out, part{Type: "input_image", Detail: "auto", ImageURL: "data:" + b.MIME + ";base64," + base64.StdEncoding.EncodeToString(b.Data)})
		}
	}
	return out
}

// content is a plain string where there is only text: some imitations read nothing else.
func content(parts []part, between string) any {
	texts := make([]string, 0, len(parts))
	for _, p := range parts {
		if p.Type != "input_text" {
			return parts
		}
		texts = append(texts, p.Text)
	}
	return strings.Join(texts, between)
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
