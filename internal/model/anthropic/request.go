package anthropic

import (
	"encoding/base64"
	"encoding/json"
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
	Tools        []tool        `json:"tools,omitempty"`
	System       []part        `json:"system,omitempty"`
	Messages     []turn        `json:"messages"`
}

type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema"`
}

type turn struct {
	Role    string `json:"role"`
	Content []any  `json:"content"` // part, use, outcome, or a raw block that is sent back as it came
}

type part struct {
	Type   string  `json:"type"`
	Text   string  `json:"text,omitempty"`
	Source *source `json:"source,omitempty"`
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

// body writes the request. The same request gives the same bytes.
func (m *Model) body(r model.Request) ([]byte, error) {
	v := parseModel(r.Model)
	q := request{
		Model: r.Model, MaxTokens: r.MaxOutput, Stream: true,
		Temperature: r.Temperature, TopP: r.TopP, Messages: m.turns(r),
	}
	if q.MaxTokens <= 0 {
		q.MaxTokens = v.maxTokens()
	}
	q.Thinking, q.OutputConfig = v.reasoning(r.Reasoning, q.MaxTokens)
	for _, t := range r.Tools {
		q.Tools = append(q.Tools, tool{t.Name, t.Doc, t.Input})
	}
	if strings.TrimSpace(r.System) != "" {
		q.System = []part{{Type: "text", Text: r.System}}
	}
	b := encode(q)
	if b == nil {
		return nil, m.client.Errorf(model.KindRequest, "the request cannot be written as JSON; is a tool's schema malformed?")
	}
	return b, nil
}

// turns writes the conversation. Neighbours of one role become one turn, and what a turn has no
// block for is left out.
func (m *Model) turns(r model.Request) []turn {
	out := []turn{}
	ids := model.WireIDs(r.Messages)
	for _, x := range r.Messages {
		var t turn
		if x.Role == msg.Assistant {
			t = turn{"assistant", assistant(x.Blocks, ids, x.Provider == m.provider && x.Model == r.Model)}
		} else {
			t = turn{"user", user(x.Blocks, ids)}
		}
		if len(t.Content) == 0 {
			continue
		}
		if n := len(out); n > 0 && out[n-1].Role == t.Role {
			out[n-1].Content = append(out[n-1].Content, t.Content...)
			continue
		}
		out = append(out, t)
	}
	for i := range out {
		if out[i].Role == "user" {
			out[i].Content = resultsFirst(out[i].Content)
		}
	}
	return out
}

// assistant writes what the model said, in its order, because signed reasoning belongs where it
// was. Reasoning of another author (own is false) and empty texts are left out.
func assistant(blocks msg.Blocks, ids map[string]string, own bool) []any {
	var out []any
	last := 0 // what comes after it is reasoning that led to nothing, which the API refuses at the end
	for _, b := range blocks {
		switch b := b.(type) {
		case msg.Text:
			if strings.TrimSpace(b.Text) != "" {
				out = append(out, part{Type: "text", Text: b.Text})
				last = len(out)
			}
		case msg.Reasoning:
			if own && json.Valid(b.Raw) {
				out = append(out, json.RawMessage(b.Raw))
			}
		case msg.Call:
			out = append(out, use{"tool_use", ids[b.ID], model.WireName(b.Name), json.RawMessage(model.WireArgs(b.Args))})
			last = len(out)
		}
	}
	return out[:last]
}

func user(blocks msg.Blocks, ids map[string]string) []any {
	var out []any
	for _, b := range blocks {
		switch b := b.(type) {
		case msg.Result:
			content := parts(b.Blocks)
			if len(content) == 0 {
				content = []part{{Type: "text", Text: model.NoOutput}}
			}
			out = append(out, outcome{"tool_result", ids[b.Call], b.Failed, content})
		default:
			for _, p := range parts(msg.Blocks{b}) {
				out = append(out, p)
			}
		}
	}
	return out
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

// resultsFirst moves the results before everything else in a user turn, as the API demands.
func resultsFirst(content []any) []any {
	var results, rest []any
	for _, c := range content {
		if _, ok := c.(outcome); ok {
			results = append(results, c)
		} else {
			rest = append(rest, c)
		}
	}
	return append(results, rest...)
}
