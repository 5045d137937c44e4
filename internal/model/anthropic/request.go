package anthropic

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"jig/internal/model"
	"jig/internal/msg"
)

// request is the body of one request. The order of its fields is the order of the keys on the
// wire; the messages come last so that a longer conversation begins with the same bytes.
type request struct {
	Model        string        `json:"model"`
	MaxTokens    int           `json:"max_tokens"`
	Stream       bool          `json:"stream"`
	Thinking     *thinking     `json:"thinking,omitempty"`
	OutputConfig *outputConfig `json:"output_config,omitempty"`
	Temperature  *float64      `json:"temperature,omitempty"`
	TopP         *float64      `json:"top_p,omitempty"`
	ToolChoice   *toolChoice   `json:"tool_choice,omitempty"`
	Tools        []tool        `json:"tools,omitempty"`
	System       []part        `json:"system,omitempty"`
	// The messages follow.
}

type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema"`
	Mark        *mark           `json:"cache_control,omitempty"`
}

// noInput is the schema of a tool that has none: the API demands one.
const noInput = `{"type":"object"}`

type toolChoice struct {
	Type string `json:"type"`
}

type turn struct {
	role    string
	content []entry
}

// entry is a block of a turn, and how it is written.
type entry struct {
	block any // part, use, outcome, or a raw block that is sent back as it came
	json  []byte
}

func entries(blocks []any) []entry {
	out := make([]entry, len(blocks))
	for i, b := range blocks {
		out[i] = entry{b, encode(b)}
	}
	return out
}

type part struct {
	Type   string  `json:"type"`
	Text   string  `json:"text,omitempty"`
	Source *source `json:"source,omitempty"`
	Mark   *mark   `json:"cache_control,omitempty"`
}

type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      string `json:"data"`
}

type use struct {
	Type  string          `json:"type"`
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

type outcome struct {
	Type    string `json:"type"`
	ID      string `json:"tool_use_id"`
	IsError bool   `json:"is_error,omitempty"`
	Content []part `json:"content"`
}

// body writes the request. The same request gives the same bytes. said is what the model has said of
// its reply so far.
func (m *Model) body(r model.Request, said []any) ([]byte, error) {
	v := parseModel(r.Model)
	q := request{
		Model: r.Model, MaxTokens: r.MaxOutput, Stream: true,
		Temperature: r.Temperature, TopP: r.TopP,
	}
	turns := m.turns(r)
	if q.MaxTokens <= 0 {
		q.MaxTokens = v.maxTokens()
	}
	q.Thinking, q.OutputConfig = v.reasoning(r.Reasoning, q.MaxTokens)
	if q.Thinking != nil && q.Thinking.Type == "enabled" && !resumable(turns) {
		q.Thinking = nil
	}
	for _, t := range r.Tools {
		if len(t.Input) == 0 {
			t.Input = json.RawMessage(noInput)
		}
		q.Tools = append(q.Tools, tool{Name: t.Name, Description: t.Doc, InputSchema: t.Input})
	}
	if len(q.Tools) == 0 {
		q.Tools, q.ToolChoice = formerTools(r.Messages)
	}
	if strings.TrimSpace(r.System) != "" {
		q.System = []part{{Type: "text", Text: r.System}}
	}
	if m.learnt.marks() {
		markCache(&q, turns)
	}
	if n := len(turns); n > 0 && len(said) > 0 && turns[n-1].role == "assistant" {
		turns[n-1].content = slices.Concat(turns[n-1].content, entries(said))
	} else if len(said) > 0 {
		turns = append(turns, turn{"assistant", entries(said)})
	}
	b := encode(q)
	if b == nil {
		return nil, m.client.Errorf(model.KindRequest, "the request cannot be written as JSON; is a tool's schema malformed?")
	}
	return join(b, turns), nil
}

// join puts the messages behind all else.
func join(head []byte, turns []turn) []byte {
	const around = len(`{"role":"assistant","content":[]},`)
	size := len(head) + around
	for _, t := range turns {
		size += around
		for _, e := range t.content {
			size += len(e.json) + 1
		}
	}
	b := append(make([]byte, 0, size), bytes.TrimSuffix(head, []byte("}"))...)
	b = append(b, `,"messages":[`...)
	for i, t := range turns {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, `{"role":"`...), t.role...), `","content":[`...)
		for n, e := range t.content {
			if n > 0 {
				b = append(b, ',')
			}
			b = append(b, e.json...)
		}
		b = append(b, "]}"...)
	}
	return append(b, "]}"...)
}

// resumable says whether a conversation may go on with a thinking budget: between calls and their
// results the API wants the reasoning that led to the calls, and it is not there when another
// model made them.
func resumable(turns []turn) bool {
	n := len(turns)
	if n < 2 || turns[n-2].role != "assistant" {
		return true
	}
	if _, ok := turns[n-1].content[0].block.(outcome); !ok {
		return true
	}
	_, ok := turns[n-2].content[0].block.(json.RawMessage)
	return ok
}

// formerTools declares the tools that were called before and are offered no more: the API refuses
// calls in a conversation without tools.
func formerTools(messages []msg.Message) ([]tool, *toolChoice) {
	var out []tool
	for _, m := range messages {
		for _, c := range m.Blocks.Calls() {
			name := model.WireName(c.Name)
			if !slices.ContainsFunc(out, func(t tool) bool { return t.Name == name }) {
				out = append(out, tool{Name: name, InputSchema: json.RawMessage(noInput)})
			}
		}
	}
	if out == nil {
		return nil, nil
	}
	return out, &toolChoice{"none"}
}

// turns writes the conversation. Neighbours of one role become one turn, and what a turn has no
// block for is left out. The user's side is first and never silent, as the API demands.
func (m *Model) turns(r model.Request) []turn {
	out := []turn{}
	add := func(role string, content []entry) {
		if n := len(out); n > 0 && out[n-1].role == role {
			out[n-1].content = slices.Concat(out[n-1].content, content)
			return
		}
		out = append(out, turn{role, content})
	}
	nothing := []any{part{Type: "text", Text: model.NoWords}}
	for i, content := range m.write(r) {
		switch {
		case r.Messages[i].Role != msg.Assistant:
			if len(content) == 0 {
				content = entries(nothing)
			}
			add("user", content)
		case len(content) > 0:
			if len(out) == 0 {
				add("user", entries(nothing))
			}
			add("assistant", content)
		}
	}
	for i := range out {
		if out[i].role == "user" {
			out[i].content = resultsFirst(out[i].content)
		}
	}
	return out
}

// write gives the blocks of each message.
func (m *Model) write(r model.Request) [][]entry {
	ids := model.WireIDs(nil)
	signed := parseModel(r.Model).claude
	return m.written.Each(r.Model, r.Messages, func(x msg.Message, known bool) []entry {
		ids.Add(x)
		switch {
		case known:
			return nil
		case x.Role == msg.Assistant:
			own := x.Provider == m.provider && x.Model == r.Model
			return entries(assistant(x.Blocks, ids, own, signed))
		}
		return entries(user(x.Blocks, ids))
	})
}

// assistant writes what the model said, in its order, because signed reasoning belongs where it
// was. Empty texts are left out, and so is reasoning of another author (own is false). Reasoning that
// led to nothing is no turn, as the API refuses one that ends with it.
func assistant(blocks msg.Blocks, ids model.IDs, own, signed bool) []any {
	var out []any
	spoke := false
	for _, b := range blocks {
		switch b := b.(type) {
		case msg.Text:
			if strings.TrimSpace(b.Text) != "" {
				out = append(out, part{Type: "text", Text: b.Text})
				spoke = true
			}
		case msg.Reasoning:
			if own && thought(b.Raw, signed) {
				out = append(out, json.RawMessage(b.Raw))
			}
		case msg.Call:
			spoke = true
			out = append(out, use{"tool_use", ids.Of(b.ID), model.WireName(b.Name), json.RawMessage(model.WireArgs(b.Args))})
		}
	}
	if !spoke {
		return nil
	}
	return out
}

// thought says whether a block is reasoning of this dialect, and whole: the same provider and model
// may have spoken another one before, and reasoning may have been cut before its signature came.
// Imitations sign nothing.
func thought(raw []byte, signed bool) bool {
	var b struct {
		Type      string  `json:"type"`
		Thinking  *string `json:"thinking"`
		Signature *string `json:"signature"`
		Data      string  `json:"data"`
	}
	if json.Unmarshal(raw, &b) != nil {
		return false
	}
	switch b.Type {
	case "thinking":
		return b.Thinking != nil && b.Signature != nil && (!signed || *b.Signature != "")
	case "redacted_thinking":
		return b.Data != ""
	}
	return false
}

// user writes what the user's side said. A failed result can only hold text, so its pictures come
// after the results.
func user(blocks msg.Blocks, ids model.IDs) []any {
	var out []any
	for _, b := range blocks {
		switch b := b.(type) {
		case msg.Result:
			content, pictures := parts(b.Blocks), []part(nil)
			if b.Failed {
				content, pictures = separate(content)
			}
			if len(content) == 0 {
				content = []part{{Type: "text", Text: model.NoOutput}}
			}
			out = append(out, outcome{Type: "tool_result", ID: ids.Of(b.Call), IsError: b.Failed, Content: content})
			for _, p := range pictures {
				out = append(out, p)
			}
		default:
			for _, p := range parts(msg.Blocks{b}) {
				out = append(out, p)
			}
		}
	}
	return out
}

func separate(content []part) (texts, pictures []part) {
	for _, p := range content {
		if p.Type == "text" {
			texts = append(texts, p)
		} else {
			pictures = append(pictures, p)
		}
	}
	return texts, pictures
}

// parts writes texts and images; an empty text is refused by the API and left out.
func parts(blocks msg.Blocks) []part {
	var out []part
	for _, b := range blocks {
		switch b := b.(type) {
		case msg.Text:
			if strings.TrimSpace(b.Text) != "" {
				out = append(out, part{Type: "text", Text: b.Text})
			}
		case msg.Image:
			out = append(out, part{Type: "image", Source: &source{"base64", b.MIME, base64.StdEncoding.EncodeToString(b.Data)}})
		}
	}
	return out
}

// resultsFirst is a user turn with the results before everything else, as the API demands.
func resultsFirst(content []entry) []entry {
	order := func(a, b entry) int { return cmp.Compare(rank(a), rank(b)) }
	if !slices.IsSortedFunc(content, order) {
		content = slices.Clone(content)
		slices.SortStableFunc(content, order)
	}
	return content
}

func rank(e entry) int {
	if _, ok := e.block.(outcome); ok {
		return 0
	}
	return 1
}
