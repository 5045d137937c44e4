package openai

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"jig/internal/model"
	"jig/internal/msg"
)

// request is the body of one request, up to its tools and messages, which are written by themselves.
// The order of its fields is the order of the keys on the wire.
type request struct {
	Model               string         `json:"model"`
	Stream              bool           `json:"stream"`
	StreamOptions       *streamOptions `json:"stream_options,omitempty"`
	MaxTokens           int            `json:"max_tokens,omitempty"`
	MaxCompletionTokens int            `json:"max_completion_tokens,omitempty"`
	Temperature         *float64       `json:"temperature,omitempty"`
	TopP                *float64       `json:"top_p,omitempty"`
	ReasoningEffort     string         `json:"reasoning_effort,omitempty"`
	Reasoning           *effort        `json:"reasoning,omitempty"`
	Thinking            *kind          `json:"thinking,omitempty"`
	EnableThinking      *bool          `json:"enable_thinking,omitempty"`
	CacheKey            string         `json:"prompt_cache_key,omitempty"`
	Cache               *kind          `json:"cache_control,omitempty"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type tool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

// message is one entry of the conversation. Content is a string or a list of parts; it is left out
// where an assistant only called tools, because some servers refuse null there and others "".
type message struct {
	Role       string `json:"role"`
	Content    any    `json:"content,omitempty"`
	ToolCallID string `json:"tool_call_id,omitempty"`

	ReasoningContent *string         `json:"reasoning_content,omitempty"`
	Reasoning        *string         `json:"reasoning,omitempty"`
	ReasoningDetails json.RawMessage `json:"reasoning_details,omitempty"`
	ToolCalls        []call          `json:"tool_calls,omitempty"`
}

type call struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function callFunction `json:"function"`
	beside
}

// beside is what a provider wants back with its call.
type beside struct {
	Extra json.RawMessage `json:"extra_content,omitempty"`
}

type callFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type part struct {
	Type     string    `json:"type"`
	Text     string    `json:"text,omitempty"`
	Thinking []part    `json:"thinking,omitempty"`
	ImageURL *imageURL `json:"image_url,omitempty"`
	Cache    *kind     `json:"cache_control,omitempty"`
}

type imageURL struct {
	URL string `json:"url"`
}

// body writes the request. The same request gives the same bytes.
func (m *Model) body(r model.Request, w without) ([]byte, error) {
	q := request{
		Model: r.Model, Stream: true, StreamOptions: &streamOptions{IncludeUsage: true},
		Temperature: r.Temperature, TopP: r.TopP,
	}
	if w.usage {
		q.StreamOptions = nil
	}
	if m.at.newLimit != w.otherLimit {
		q.MaxCompletionTokens = r.MaxOutput
	} else {
		q.MaxTokens = r.MaxOutput
	}
	if w.effort != "" && r.Reasoning != "" {
		r.Reasoning = w.effort
	}
	m.at.think(&q, r.Reasoning)
	tools := m.conversation.toolset(r.Tools)
	c := m.conversation.of(form{m.provider, r.Model, r.System, w, len(r.Tools) > 0, m.at.marked(r.Model)}, r.Messages)
	defer m.conversation.keep(c)
	m.at.cache(&q, tools, c)
	b := c.after(q, tools)
	if b == nil {
		return nil, m.client.Errorf(model.KindRequest, "the request cannot be written as JSON; is a tool's schema malformed?")
	}
	return b, nil
}

// noAnswer stands between results and words of the user's side where a server wants the model to
// have spoken.
const noAnswer = "(no answer yet)"

// parts is content as parts.
func parts(content any) []part {
	if text, ok := content.(string); ok {
		return []part{{Type: "text", Text: text}}
	}
	list, _ := content.([]part)
	return list
}

// noThought stands for reasoning that is not there, at servers that want some with every message.
// Empty is not enough for all of them.
const noThought = "(none)"

func isResult(b msg.Block) bool { _, ok := b.(msg.Result); return ok }

// assistant writes what the model said. With think its reasoning goes back too. Servers that send
// it demand it of all turns when the request has tools, and ignore it or, of old, refuse it where
// there are none: https://api-docs.deepseek.com/guides/thinking_mode
func assistant(blocks msg.Blocks, ids model.IDs, own, think bool) (message, bool) {
	a := message{Role: "assistant"}
	for _, c := range blocks.Calls() {
		x := call{ID: ids.Of(c.ID), Type: "function", Function: callFunction{model.WireName(c.Name), model.WireArgs(c.Args)}}
		if own && len(c.Raw) > 0 {
			_ = json.Unmarshal(c.Raw, &x.beside) // another dialect's has nothing in it for this one
		}
		a.ToolCalls = append(a.ToolCalls, x)
	}
	if t := blocks.Text(); t != "" {
		a.Content = t
	}
	said := a.Content != nil || len(a.ToolCalls) > 0
	if think {
		for _, b := range blocks {
			if t, ok := b.(msg.Reasoning); ok {
				a.think(t)
			}
		}
	}
	return a, said
}

// think puts reasoning back in the form it came in. An empty one counts: a server that sent it
// misses it.
func (a *message) think(t msg.Reasoning) {
	var s struct {
		sent
		Type string `json:"type"` // another dialect's blocks have one
	}
	if json.Unmarshal(t.Raw, &s) != nil || s.Type != "" {
		return
	}
	a.ReasoningContent, a.Reasoning, a.ReasoningDetails = s.Content, s.Short, s.Details
	if s.Parts != nil && *s.Parts != "" {
		parts := []part{{Type: "thinking", Thinking: []part{{Type: "text", Text: *s.Parts}}}}
		if text, ok := a.Content.(string); ok {
			parts = append(parts, part{Type: "text", Text: text})
		}
		a.Content = parts
	}
}

// user writes results first, each a message of its own, because the answers to calls must follow
// them at once, and then what else the user's side said. A result can hold only text here, so its
// pictures are shown in a user message after the last result.
func user(blocks msg.Blocks, ids model.IDs, names map[string]string) []message {
	var out []message
	var rest []part
	for _, b := range blocks {
		if r, ok := b.(msg.Result); ok {
			text, pictures := result(r)
			out = append(out, message{Role: "tool", Content: text, ToolCallID: ids.Of(r.Call)})
			if len(pictures) > 0 {
				rest = append(rest, part{Type: "text", Text: "From the result of " + model.WireName(names[r.Call]) + " (" + ids.Of(r.Call) + "):"})
				rest = append(rest, pictures...)
			}
		}
	}
	for _, b := range blocks {
		switch b := b.(type) {
		case msg.Text:
			if b.Text != "" {
				rest = append(rest, part{Type: "text", Text: b.Text})
			}
		case msg.Image:
			rest = append(rest, image(b))
		}
	}
	switch {
	case len(rest) == 0 && len(out) == 0:
		rest = []part{{Type: "text", Text: model.NoWords}}
	case len(rest) == 0:
		return out
	}
	return append(out, message{Role: "user", Content: content(rest)})
}

func result(r msg.Result) (string, []part) {
	var texts []string
	var pictures []part
	for _, b := range r.Blocks {
		switch b := b.(type) {
		case msg.Text:
			if b.Text != "" {
				texts = append(texts, b.Text)
			}
		case msg.Image:
			pictures = append(pictures, image(b))
		}
	}
	switch {
	case len(texts) == 0 && len(pictures) > 0:
		texts = append(texts, "(the picture is in the next message)")
	case len(texts) == 0:
		texts = append(texts, model.NoOutput)
	}
	return strings.Join(texts, "\n"), pictures
}

// content is a plain string where there is only text: many compatible servers read nothing else.
func content(parts []part) any {
	texts := make([]string, 0, len(parts))
	for _, p := range parts {
		if p.Type != "text" {
			return parts
		}
		texts = append(texts, p.Text)
	}
	return strings.Join(texts, "\n\n")
}

func image(i msg.Image) part {
	return part{Type: "image_url", ImageURL: &imageURL{"data:" + i.MIME + ";base64," + base64.StdEncoding.EncodeToString(i.Data)}}
}
