package gemini

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"jig/internal/model"
	"jig/internal/msg"
)

// unsigned stands in for the signature of a call that has none, because another model made it or the
// one it had was refused: the API asks for one and takes this for "do not check".
// https://ai.google.dev/gemini-api/docs/thought-signatures#faqs
const unsigned = "skip_thought_signature_validator"

// made is a call of the conversation, as its result has to name it.
type made struct {
	id, name string
	at       int // its place among the calls of its turn
}

// contents writes the conversation. Neighbours of one role become one turn, and what a turn has no
// part for is left out. The user's side is first and never silent, as the API demands. Results are a turn of their own, as the API counts its parts against the
// calls: https://github.com/google-gemini/gemini-cli/pull/16137
func (m *Model) contents(r model.Request, g generation) []turn {
	out := []turn{}
	add := func(role string, parts []entry) {
		n := len(out)
		switch {
		case len(parts) == 0:
		case n > 0 && out[n-1].role == role && (out[n-1].parts[0].Response == nil) == (parts[0].Response == nil):
			out[n-1].parts = slices.Concat(out[n-1].parts, parts)
		default:
			out = append(out, turn{role, parts})
		}
	}
	nothing := []*part{text(model.NoWords)}
	for i, p := range m.write(r, g) {
		switch {
		case r.Messages[i].Role == msg.Assistant:
			if len(out) == 0 && len(p.rest) > 0 {
				add("user", entries(nothing))
			}
			add("model", p.rest)
		case len(p.results)+len(p.rest) == 0:
			add("user", entries(nothing))
		default:
			add("user", p.results)
			add("user", p.rest)
		}
	}
	if g.signs() {
		for i := range out {
			out[i].sign()
		}
	}
	return out
}

// write gives the parts of each message.
func (m *Model) write(r model.Request, g generation) []piece {
	calls := map[string]made{}
	return m.written.Each(r.Model, r.Messages, func(x msg.Message, known bool) piece {
		if x.Role == msg.Assistant {
			m.number(x, calls)
		}
		switch {
		case known:
			return piece{}
		case x.Role == msg.Assistant:
			return piece{rest: entries(said(x.Blocks, calls, x.Provider == m.provider && x.Model == r.Model))}
		}
		results, rest := g.heard(x.Blocks, calls)
		return piece{entries(results), entries(rest)}
	})
}

// number notes the calls of a message. A provider gets the ids back that it gave, unaltered beside a
// signature; they need only differ within the turn, as results follow their calls at once. Ids of
// other providers are left out: a server that gives none may know none.
func (m *Model) number(x msg.Message, calls map[string]made) {
	taken := map[string]bool{"": true}
	for i, b := range x.Blocks.Calls() {
		d := made{name: wireName(b.Name), at: i}
		if x.Provider == m.provider {
			d.id = b.Given
		}
		if d.id != "" && taken[d.id] {
			d.id = model.FreeID(b.ID, taken)
		}
		taken[d.id] = true
		calls[b.ID] = d
	}
}

// sign makes the first call of a turn of the model a signed one. It is done for the whole
// conversation and not only for the turn that is checked, so that old turns keep their bytes.
func (t *turn) sign() {
	for i, p := range t.parts {
		if p.Call != nil {
			if p.Signature == "" {
				signed := *p.part
				signed.Signature = unsigned
				t.parts = slices.Clone(t.parts)
				t.parts[i] = entry{&signed, encode(&signed)}
			}
			return
		}
	}
}

// said writes what the model said. Thoughts and signatures go back to the model that wrote them
// (own) and to no other, each signature with the part it came with. A turn of nothing but thoughts,
// as one that was cut leaves it, is no turn.
func said(blocks msg.Blocks, calls map[string]made, own bool) []*part {
	var out []*part
	spoke := false
	for _, b := range blocks {
		switch b := b.(type) {
		case msg.Text:
			p := text(b.Text)
			if own {
				p.Signature = kept(b.Raw).Signature
			}
			if b.Text != "" || p.Signature != "" {
				out = append(out, p)
				spoke = spoke || strings.TrimSpace(b.Text) != ""
			}
		case msg.Reasoning:
			if k := kept(b.Raw); own && k.Thought && k.Text != nil {
				out = append(out, &part{Text: k.Text, Thought: true, Signature: k.Signature})
			}
		case msg.Call:
			d := calls[b.ID]
			p := &part{Call: &call{d.id, d.name, json.RawMessage(model.WireArgs(b.Args))}}
			if own {
				p.Signature = kept(b.Raw).Signature
			}
			out = append(out, p)
			spoke = true
		}
	}
	if !spoke {
		return nil
	}
	return out
}

// keep is what a block holds of the provider's own: a whole thought, or what came beside a text or a
// call.
type keep struct {
	Text      *string `json:"text,omitempty"`
	Thought   bool    `json:"thought,omitempty"`
	Signature string  `json:"thoughtSignature,omitempty"`
}

func kept(raw []byte) keep {
	var k keep
	if json.Unmarshal(raw, &k) != nil {
		return keep{} // another dialect's
	}
	return k
}

// heard writes what the user's side said: the results, in the order of their calls, and the rest.
func (g generation) heard(blocks msg.Blocks, calls map[string]made) (out, rest []*part) {
	var results []msg.Result
	for _, b := range blocks {
		if r, ok := b.(msg.Result); ok {
			results = append(results, r)
		}
	}
	slices.SortStableFunc(results, func(a, b msg.Result) int { return cmp.Compare(calls[a.Call].at, calls[b.Call].at) })
	for _, r := range results {
		p, pictures := g.result(r, calls[r.Call])
		out = append(out, p)
		if len(pictures) > 0 {
			rest = append(rest, text(fmt.Sprintf("From the result of %s (call %d):", p.Response.Name, calls[r.Call].at+1)))
			rest = append(rest, pictures...)
		}
	}
	for _, b := range blocks {
		switch b := b.(type) {
		case msg.Text:
			if strings.TrimSpace(b.Text) != "" {
				rest = append(rest, text(b.Text))
			}
		case msg.Image:
			rest = append(rest, picture(b))
		}
	}
	return out, rest
}

// result writes the answer to a call. From 3 on its pictures are parts of it; older models refuse
// that, and see them after the results. https://ai.google.dev/gemini-api/docs/function-calling
func (g generation) result(r msg.Result, d made) (*part, []*part) {
	var texts []string
	var pictures []*part
	p := &response{ID: d.id, Name: d.name}
	for _, b := range r.Blocks {
		switch b := b.(type) {
		case msg.Text:
			if strings.TrimSpace(b.Text) != "" {
				texts = append(texts, b.Text)
			}
		case msg.Image:
			switch x := picture(b); {
			case x.Data == nil:
				texts = append(texts, *x.Text)
			case g.signs() && slices.Contains([]string{"image/png", "image/jpeg", "image/webp"}, b.MIME):
				p.Parts = append(p.Parts, responsePart{*x.Data})
			default:
				pictures = append(pictures, x)
			}
		}
	}
	said := strings.Join(texts, "\n")
	switch {
	case said != "":
	case len(p.Parts) > 0:
		said = "(a picture)"
	case len(pictures) > 0:
		said = "(the picture comes after the results)"
	default:
		said = model.NoOutput
	}
	if r.Failed {
		p.Response.Error = said
	} else {
		p.Response.Output = said
	}
	return &part{Response: p}, pictures
}

// picture writes a picture, or in words that it was one of a kind the API refuses a whole request
// for, GIF among them: https://ai.google.dev/gemini-api/docs/image-understanding#supported-formats
func picture(b msg.Image) *part {
	if !slices.Contains([]string{"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"}, b.MIME) {
		return text(fmt.Sprintf("(a picture of the type %s, which this model cannot see)", b.MIME))
	}
	return &part{Data: &blob{b.MIME, b.Data}}
}

// wireName is the name of a function as the API reads it: it has to begin with a letter or _.
func wireName(name string) string {
	name = model.WireName(name)
	if c := name[0]; c == '-' || c >= '0' && c <= '9' {
		name = "_" + name
	}
	return name[:min(len(name), 64)]
}
