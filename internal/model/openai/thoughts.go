package openai

import (
	"bytes"
	"encoding/json"
	"strings"

	"jig/internal/model/endpoint"
)

// thoughts is reasoning as it comes and as it goes back: under the key it came in, and in the pieces
// it came in. What came is what goes back, because most servers that send reasoning miss it, or
// think worse, when a later request leaves it out:
// https://api-docs.deepseek.com/guides/thinking_mode
// https://openrouter.ai/docs/use-cases/reasoning-tokens#preserving-reasoning-blocks
// https://docs.mistral.ai/capabilities/reasoning/
type thoughts struct {
	key     string // reasoning_content, reasoning, or thinking for parts of the content; "" when none came
	text    strings.Builder
	details []*detail
}

// The keys under which reasoning comes.
const (
	keyContent = "reasoning_content"
	keyShort   = "reasoning"
	keyParts   = "thinking" // not a key of the message: a kind of part of its content
)

// sent is reasoning on its way back, and the form in which it is kept.
type sent struct {
	Content *string         `json:"reasoning_content,omitempty"`
	Short   *string         `json:"reasoning,omitempty"`
	Parts   *string         `json:"thinking,omitempty"`
	Details json.RawMessage `json:"reasoning_details,omitempty"`
}

// detail is one block of reasoning. Pieces of a text come as blocks of their own with the same
// index; a signature may come with the last. Fields that are not known here are kept.
type detail struct {
	raw    json.RawMessage // as it came, while nothing has been added to it
	fields map[string]json.RawMessage
	added  map[string]*strings.Builder
}

// grows are the fields of a detail whose pieces make one text. The data of encrypted reasoning is
// none of them: it comes whole.
func grows() []string { return []string{"text", "summary"} }

// take adds the blocks of one event and returns the text in them, for people. false says that there
// is no room.
func (t *thoughts) take(size *endpoint.Size, blocks []json.RawMessage) (said string, ok bool) {
	var all strings.Builder
	for _, raw := range blocks {
		d := &detail{raw: bytes.Clone(bytes.ToValidUTF8(raw, []byte("\ufffd")))}
		if json.Unmarshal(d.raw, &d.fields) != nil || d.fields == nil {
			continue
		}
		if !size.Room(len(raw)) {
			return all.String(), false
		}
		for _, k := range grows() {
			all.WriteString(d.string(k))
		}
		if n := len(t.details); n > 0 && t.details[n-1].continues(d) {
			t.details[n-1].add(d)
			continue
		}
		if !size.Part() {
			return all.String(), false
		}
		t.details = append(t.details, d)
	}
	return all.String(), true
}

func (d *detail) string(key string) string {
	var s string
	_ = json.Unmarshal(d.fields[key], &s) // null, and what is no string, is nothing
	return s
}

// lacks says whether there is nothing under a key, without reading what is there: it may be long,
// and every further piece is asked.
func (d *detail) lacks(key string) bool {
	v := d.fields[key]
	return len(v) == 0 || string(v) == "null" || string(v) == `""`
}

func (d *detail) same(e *detail, key string) bool {
	return bytes.Equal(d.fields[key], e.fields[key])
}

// continues says whether e is a further piece of d.
func (d *detail) continues(e *detail) bool {
	kind := d.string("type")
	if kind != "reasoning.text" && kind != "reasoning.summary" {
		return false
	}
	return d.same(e, "type") && d.same(e, "index") && (d.same(e, "id") || d.lacks("id") || e.lacks("id"))
}

func (d *detail) add(e *detail) {
	if d.raw != nil {
		d.raw, d.added = nil, map[string]*strings.Builder{}
	}
	for _, k := range grows() {
		piece := e.string(k)
		if piece == "" {
			continue
		}
		if d.added[k] == nil {
			d.added[k] = &strings.Builder{}
			d.added[k].WriteString(d.string(k))
		}
		d.added[k].WriteString(piece)
	}
	for k, v := range e.fields {
		if old, ok := d.fields[k]; k != "text" && k != "summary" && string(v) != "null" && (!ok || string(old) == "null") {
			d.fields[k] = v // such as a signature at the end
		}
	}
}

func (d *detail) whole() json.RawMessage {
	if d.raw != nil {
		return d.raw
	}
	for k, b := range d.added {
		d.fields[k] = encode(b.String())
	}
	return encode(d.fields) // whose keys are in order
}

// words is the reasoning as people read it.
func (t *thoughts) words() string {
	if t.key != "" {
		return t.text.String()
	}
	var all strings.Builder
	for _, d := range t.details {
		for _, k := range grows() {
			if b := d.added[k]; b != nil {
				all.WriteString(b.String())
			} else {
				all.WriteString(d.string(k))
			}
		}
	}
	return all.String()
}

// kept is what is to be sent back, nil when nothing came.
func (t *thoughts) kept() []byte {
	text := t.text.String()
	var s sent
	switch t.key {
	case keyContent:
		s.Content = &text
	case keyShort:
		s.Short = &text
	case keyParts:
		s.Parts = &text
	}
	if len(t.details) > 0 {
		var list []json.RawMessage
		for _, d := range t.details {
			list = append(list, d.whole())
		}
		s.Details = encode(list)
	}
	if s.Content == nil && s.Short == nil && s.Parts == nil && s.Details == nil {
		return nil
	}
	return encode(s)
}

// encode leaves <, > and & as they are: the escapes mean the same and are longer.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return nil
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}
