package gemini

import (
	"bytes"
	"encoding/json"
	"strings"

	"jig/internal/model"
)

// request is the body of one request. The order of its fields is the order of the keys on the
// wire; the contents come last so that a longer conversation begins with the same bytes.
type request struct {
	Generation *generationConfig `json:"generationConfig,omitempty"`
	Tools      []tools           `json:"tools,omitempty"`
	System     *content          `json:"systemInstruction,omitempty"`
	// The contents follow.
}

type generationConfig struct {
	Temperature     *float64  `json:"temperature,omitempty"`
	TopP            *float64  `json:"topP,omitempty"`
	MaxOutputTokens int       `json:"maxOutputTokens,omitempty"`
	ThinkingConfig  *thinking `json:"thinkingConfig,omitempty"`
}

type tools struct {
	Functions []function `json:"functionDeclarations"`
}

// function declares a tool. Its schema goes under the key that takes JSON Schema; parameters knows
// a part of OpenAPI only, and refuses a request for a word such as additionalProperties.
// https://ai.google.dev/api/caching#FunctionDeclaration
type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"parametersJsonSchema,omitempty"`
}

// content is the system prompt.
type content struct {
	Parts []*part `json:"parts"`
}

// turn is one content, the user's or the model's.
type turn struct {
	role  string
	parts []entry
}

// entry is a part of a turn, and how it is written. It is not changed.
type entry struct {
	*part
	json []byte
}

func entries(parts []*part) []entry {
	out := make([]entry, len(parts))
	for i, p := range parts {
		out[i] = entry{p, encode(p)}
	}
	return out
}

// piece is what a message says: the results, and the rest.
type piece struct{ results, rest []entry }

type part struct {
	Text      *string   `json:"text,omitempty"`
	Thought   bool      `json:"thought,omitempty"`
	Data      *blob     `json:"inlineData,omitempty"`
	Call      *call     `json:"functionCall,omitempty"`
	Response  *response `json:"functionResponse,omitempty"`
	Signature string    `json:"thoughtSignature,omitempty"`
}

type blob struct {
	MIME string `json:"mimeType"`
	Data []byte `json:"data"`
}

type call struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

type response struct {
	ID       string         `json:"id,omitempty"`
	Name     string         `json:"name"`
	Response outcome        `json:"response"`
	Parts    []responsePart `json:"parts,omitempty"`
}

// outcome uses the two keys the API gives a meaning to: https://ai.google.dev/api/caching#FunctionResponse
type outcome struct {
	Output string `json:"output,omitempty"`
	Error  string `json:"error,omitempty"`
}

type responsePart struct {
	Data blob `json:"inlineData"`
}

// body writes the request. The same request gives the same bytes.
func (m *Model) body(r model.Request) ([]byte, error) {
	g := parseModel(r.Model)
	q := request{}
	c := generationConfig{Temperature: r.Temperature, TopP: r.TopP, MaxOutputTokens: r.MaxOutput, ThinkingConfig: g.reasoning(r.Reasoning, r.MaxOutput)}
	if c != (generationConfig{}) {
		q.Generation = &c
	}
	if len(r.Tools) > 0 {
		q.Tools = []tools{{}}
	}
	for _, t := range r.Tools {
		q.Tools[0].Functions = append(q.Tools[0].Functions, function{t.Name, t.Doc, t.Input})
	}
	if strings.TrimSpace(r.System) != "" {
		q.System = &content{Parts: []*part{text(r.System)}}
	}
	b := encode(q)
	if b == nil {
		return nil, m.client.Errorf(model.KindRequest, "the request cannot be written as JSON; is a tool's schema malformed?")
	}
	return join(b, m.contents(r, g)), nil
}

// join puts the contents behind all else.
func join(head []byte, turns []turn) []byte {
	const around = len(`{"role":"model","parts":[]},`)
	size := len(head) + around
	for _, t := range turns {
		size += around
		for _, e := range t.parts {
			size += len(e.json) + 1
		}
	}
	b := append(make([]byte, 0, size), bytes.TrimSuffix(head, []byte("}"))...)
	if len(b) > len("{") {
		b = append(b, ',')
	}
	b = append(b, `"contents":[`...)
	for i, t := range turns {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, `{"role":"`...), t.role...), `","parts":[`...)
		for n, e := range t.parts {
			if n > 0 {
				b = append(b, ',')
			}
			b = append(b, e.json...)
		}
		b = append(b, "]}"...)
	}
	return append(b, "]}"...)
}

func text(s string) *part { return &part{Text: &s} }

func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // the escapes mean the same and are three times as long
	if e.Encode(v) != nil {
		return nil
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}
