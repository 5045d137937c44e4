package modeltest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Variant is in what way a server that speaks chat completions differs from the vendor's.
type Variant struct {
	// Thinks is a server in thinking mode: a request with tools brings the reasoning_content of every
	// earlier message of the model, or is refused: https://api-docs.deepseek.com/guides/thinking_mode
	Thinks bool
	// Lacks are fields the server does not know: of the request, of the model's messages, and
	// image_url. It refuses them in the words of the services that do so:
	// https://github.com/NousResearch/hermes-agent/issues/11089 for the fields of messages,
	// https://github.com/1jehuang/jcode/issues/848 for pictures.
	Lacks []string
	// Efforts are the grades of reasoning that it takes; none means all.
	Efforts []string
	// Largest is how many bytes a picture may have; 0 means any number.
	Largest int

	// Nine takes only ids of calls of nine letters and digits, and Turns no words of the user between
	// results and the model's next message nor two messages of the user in a row, as servers do that
	// check with https://github.com/mistralai/mistral-common or with a model's own template.
	Nine, Turns bool

	// Signs is a gateway to services that sign their reasoning, as Claude's and Google's: it takes only
	// signatures that it gave.
	// https://github.com/linanwx/nagobot/issues/21 and
	// https://github.com/anomalyco/opencode/issues/4832
	Signs bool

	signed map[string]bool  // the signatures that were given
	given  map[string]given // what came with a call and has to come back, by the call's id
}

// given is what came with a call.
type given struct {
	details list // https://openrouter.ai/docs/use-cases/reasoning-tokens#preserving-reasoning-blocks
	extra   any  // https://ai.google.dev/gemini-api/docs/thought-signatures
}

// give remembers what has to come back.
func (v *Variant) give(r Reply) {
	if v.given == nil {
		v.given, v.signed = map[string]given{}, map[string]bool{}
	}
	var details list
	for _, d := range r.Details {
		details = append(details, value(d))
		if s, ok := signature(value(d)); ok {
			v.signed[s] = true
		}
	}
	for i, c := range r.Calls {
		v.given[c.id(i)] = given{details, value(c.Extra)}
		if s, ok := callSignature(value(c.Extra)); ok {
			v.signed[s] = true
		}
	}
}

// signature is that of a block of reasoning.
func signature(detail any) (string, bool) {
	d, _ := detail.(object)
	s, ok := d["signature"].(string)
	return s, ok
}

// callSignature is that in the extra_content of a call.
func callSignature(extra any) (string, bool) {
	e, _ := extra.(object)
	g, _ := e["google"].(object)
	s, ok := g["thought_signature"].(string)
	return s, ok
}

// signatures checks those of one message of the model.
func (v *Variant) signatures(m object, i int) *problem {
	details, _ := m["reasoning_details"].(list)
	for n, d := range details {
		if s, ok := signature(d); ok && !v.signed[s] {
			return chatProblem("", "", "messages.%d.content.%d: Invalid `signature` in `thinking` block", i, n)
		}
	}
	calls, _ := m["tool_calls"].(list)
	for _, c := range calls {
		if s, ok := callSignature(c.(object)["extra_content"]); ok && !v.signed[s] && !slices.Contains(anySignature, s) {
			return chatProblem("", "", "Corrupted thought signature.")
		}
	}
	return nil
}

// value is the JSON in a string, nil when there is none.
func value(s string) any {
	v, _ := decode([]byte(s))
	return v
}

// check refuses what the vendor would take.
func (v *Variant) check(q object) *problem {
	for _, k := range v.Lacks {
		if _, ok := q[k]; ok {
			return chatProblem(k, "", "Unrecognized request argument supplied: %s", k)
		}
	}
	if e, ok := q["reasoning_effort"].(string); ok && len(v.Efforts) > 0 && !slices.Contains(v.Efforts, e) {
		return chatProblem("reasoning_effort", "unsupported_value", "Unsupported value: 'reasoning_effort' does not support '%s' with this model. Supported values are: '%s'.", e, strings.Join(v.Efforts, "', '"))
	}
	role := any("")
	for i, x := range q["messages"].(list) {
		m := x.(object)
		switch before := role; {
		case !v.Turns:
		case m["role"] == "user" && before == "tool":
			return chatProblem("", "3230", "Unexpected role 'user' after role 'tool'")
		case m["role"] == "user" && before == "user":
			return chatProblem("", "", "Conversation roles must alternate user/assistant/user/assistant/...")
		}
		role = m["role"]
		if p := v.message(m, i, q["tools"] != nil); p != nil {
			return p
		}
		parts, _ := m["content"].(list)
		for n, x := range parts {
			image, ok := x.(object)["image_url"].(object)
			url, _ := image["url"].(string)
			switch {
			case !ok:
			case slices.Contains(v.Lacks, "image_url"):
				return chatProblem("", "", "Failed to deserialize the JSON body into the target type: messages[%d]: unknown variant `image_url`, expected `text` at line 1 column 9", i)
			case v.Largest > 0 && len(url) > v.Largest:
				return chatProblem(fmt.Sprintf("messages[%d].content[%d].image_url.url", i, n), "image_too_large", "Image too large: the image is larger than the %d bytes that are allowed.", v.Largest)
			}
		}
	}
	return nil
}

// message checks one message of the model.
func (v *Variant) message(m object, i int, tools bool) *problem {
	if m["role"] != "assistant" {
		return nil
	}
	for _, k := range v.Lacks {
		if _, ok := m[k]; ok {
			return chatProblem("", "", "'messages.%d' : for 'role:assistant' the following must be satisfied[('messages.%d' : property '%s' is unsupported)]", i, i, k)
		}
	}
	if _, ok := m["reasoning_content"].(string); v.Thinks && tools && !ok {
		return chatProblem("", "invalid_request_error", "The `reasoning_content` in the thinking mode must be passed back to the API.")
	}
	if p := v.signatures(m, i); v.Signs && p != nil {
		return p
	}
	calls, _ := m["tool_calls"].(list)
	for _, x := range calls {
		c := x.(object)
		if id := c["id"].(string); v.Nine && (len(id) != 9 || strings.ContainsAny(id, "_-")) {
			return chatProblem("", "3280", "Tool call id was %s but must be a-z, A-Z, 0-9, with a length of 9.", id)
		}
		g, ok := v.given[c["id"].(string)]
		if !ok {
			continue
		}
		if want := encode(g.details); g.details != nil && string(encode(m["reasoning_details"])) != string(want) {
			return chatProblem("", "", "Invalid `signature` in `thinking` block: the reasoning_details of message %d are not those that were given", i)
		}
		if g.extra != nil && string(encode(c["extra_content"])) != string(encode(g.extra)) {
			return chatProblem("", "", "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance.")
		}
	}
	return nil
}

// detailDeltas are the blocks of reasoning as they are streamed: a text in pieces, each a block with
// all its fields but the signature, which comes with an empty text at the end.
func (r Reply) detailDeltas() []object {
	var out []object
	for _, raw := range r.Details {
		d, _ := value(raw).(object)
		text, ok := d["text"].(string)
		if !ok {
			out = append(out, object{"reasoning_details": list{json.RawMessage(raw)}})
			continue
		}
		for _, s := range pieces(text, 6) {
			piece := object{"text": s}
			for k, v := range d {
				if k != "text" && k != "signature" {
					piece[k] = v
				}
			}
			out = append(out, object{"content": "", "reasoning": s, "reasoning_details": list{piece}})
		}
		if d["signature"] != nil {
			out = append(out, object{"reasoning_details": list{object{"type": d["type"], "index": d["index"], "signature": d["signature"]}}})
		}
	}
	return out
}
