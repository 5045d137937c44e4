package openai

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
// wire; the messages come last so that a longer conversation begins with the same bytes.
type request struct {
	Model               string         `json:"model"`
	Stream              bool           `json:"stream"`
	StreamOptions       *streamOptions `json:"stream_options,omitempty"`
	MaxTokens           int            `json:"max_tokens,omitempty"`
	MaxCompletionTokens int            `json:"max_completion_tokens,omitempty"`
	Temperature         *float64       `json:"temperature,omitempty"`
	TopP                *float64       `json:"top_p,omitempty"`
	ReasoningEffort     string         `json:"reasoning_effort,omitempty"`
	Tools               []tool         `json:"tools,omitempty"`
	Messages            []message      `json:"messages"`
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

	ReasoningContent *string `json:"reasoning_content,omitempty"`
	Reasoning        *string `json:"reasoning,omitempty"`
	ToolCalls        []call  `json:"tool_calls,omitempty"`
}

type call struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function callFunction `json:"function"`
}

type callFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type part struct {
	Type     string    `json:"type"`
	Text     string    `json:"text,omitempty"`
	ImageURL *imageURL `json:"image_url,omitempty"`
}

type imageURL struct {
	URL string `json:"url"`
}

// body writes the request. The same request gives the same bytes.
func (m *Model) body(r model.Request) ([]byte, error) {
	q := request{
		Model: r.Model, Stream: true, StreamOptions: &streamOptions{IncludeUsage: true},
		Temperature: r.Temperature, TopP: r.TopP, ReasoningEffort: r.Reasoning,
	}
	// The vendor deprecates max_tokens and its reasoning models refuse it; most compatible servers
	// know nothing else.
	if strings.HasSuffix(m.client.Host(), "api.openai.com") || strings.HasSuffix(m.client.Host(), ".openai.azure.com") {
		q.MaxCompletionTokens = r.MaxOutput
	} else {
		q.MaxTokens = r.MaxOutput
	}
	for _, t := range r.Tools {
		q.Tools = append(q.Tools, tool{"function", function{t.Name, t.Doc, t.Input}})
	}
	q.Messages = m.messages(r)
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // the escapes mean the same and are three times as long
	if err := e.Encode(q); err != nil {
		return nil, m.client.Errorf(model.KindRequest, "the request cannot be written as JSON: %v", err)
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

func (m *Model) messages(r model.Request) []message {
	out := []message{}
	if r.System != "" {
		out = append(out, message{Role: "system", Content: r.System})
	}
	ids := model.WireIDs(r.Messages)
	names := map[string]string{}
	tools := false // whether this turn has called tools
	for _, x := range r.Messages {
		if x.Role != msg.Assistant {
			tools = tools && slices.ContainsFunc(x.Blocks, isResult)
			out = append(out, user(x.Blocks, ids, names)...)
			continue
		}
		for _, c := range x.Blocks.Calls() {
			tools = true
			names[c.ID] = c.Name
		}
		own := x.Provider == m.provider && x.Model == r.Model
		if a, ok := assistant(x.Blocks, ids, own && tools); ok {
			out = append(out, a)
		}
	}
	return out
}

func isResult(b msg.Block) bool { _, ok := b.(msg.Result); return ok }

// assistant writes what the model said. With think its reasoning goes back too: servers that send
// it demand it in a turn that called tools, ignore it in other turns, and one of them refuses it
// there: https://api-docs.deepseek.com/guides/thinking_mode
func assistant(blocks msg.Blocks, ids map[string]string, think bool) (message, bool) {
	a := message{Role: "assistant"}
	for _, c := range blocks.Calls() {
		a.ToolCalls = append(a.ToolCalls, call{ids[c.ID], "function", callFunction{model.WireName(c.Name), model.WireArgs(c.Args)}})
	}
	if t := blocks.Text(); t != "" {
		a.Content = t
	}
	if think {
		for _, b := range blocks {
			if t, ok := b.(msg.Reasoning); ok {
				a.think(t)
			}
		}
	}
	return a, a.Content != nil || len(a.ToolCalls) > 0
}

// think puts reasoning back under the key it came in. An empty one counts: a server that sent it
// misses it.
func (a *message) think(t msg.Reasoning) {
	var raw struct {
		Content *string `json:"reasoning_content"`
		Short   *string `json:"reasoning"`
	}
	if json.Unmarshal(t.Raw, &raw) == nil {
		a.ReasoningContent, a.Reasoning = raw.Content, raw.Short
	}
}

// user writes results first, each a message of its own, because the answers to calls must follow
// them at once, and then what else the user's side said. A result can hold only text here, so its
// pictures are shown in a user message after the last result.
func user(blocks msg.Blocks, ids, names map[string]string) []message {
	var out []message
	var rest []part
	for _, b := range blocks {
		if r, ok := b.(msg.Result); ok {
			text, pictures := result(r)
			out = append(out, message{Role: "tool", Content: text, ToolCallID: ids[r.Call]})
			if len(pictures) > 0 {
				rest = append(rest, part{Type: "text", Text: "From the result of " + model.WireName(names[r.Call]) + " (" + ids[r.Call] + "):"})
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
	if len(rest) == 0 {
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
