package modeltest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
)

// geminiSign puts the signature on a reply that gets one and remembers it. From 3 on it is on the
// first call, or where there is none on the last part when the model thought; 2.5 signs the first
// part of a reply with calls. https://ai.google.dev/gemini-api/docs/thought-signatures
func (s *Server) geminiSign(q object, r *Reply) {
	at := r.geminiSigned(geminiVersion(q["model"].(string)))
	if at < 0 {
		r.Signature = ""
		return
	}
	if r.Signature == "" {
		r.Signature = base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "signed:%d:%s", len(s.thoughts), r.Reasoning))
	}
	s.thoughts[r.Signature] = signedPart(r.geminiParts(q)[at].(object))
}

func (r Reply) geminiSigned(version int) int {
	before := 0
	for _, text := range []string{r.Reasoning, r.Text + r.Refusal} {
		if text != "" {
			before++
		}
	}
	calls := len(r.geminiCalls()) > 0
	switch {
	case version >= 30 && calls:
		return before
	case version >= 30 && r.Reasoning != "":
		return before - 1
	case version >= 25 && calls && r.Reasoning != "":
		return 0
	}
	return -1
}

// signedPart says of a part what its signature was given for. Only calls are held to it.
func signedPart(p object) string {
	if c, ok := p["functionCall"].(object); ok {
		args, _ := decode(encode(c["args"])) // in one order of keys
		return fmt.Sprintf("call %v %v %s", c["id"], c["name"], encode(args))
	}
	return ""
}

// geminiCalls are the calls as the service can send them: its arguments are an object, and a model
// that wrote none ends its reply with a reason of its own.
func (r Reply) geminiCalls() []Call {
	for _, c := range r.Calls {
		if v, err := decode([]byte(c.Args)); err != nil || v == nil {
			return nil
		}
	}
	return r.Calls
}

func (r Reply) geminiFinish() string {
	switch {
	case r.Stop != "":
		return r.Stop
	case r.Refusal != "":
		return "SAFETY"
	case len(r.Calls) != len(r.geminiCalls()):
		return "MALFORMED_FUNCTION_CALL"
	}
	return "STOP" // with calls too
}

func (r Reply) geminiParts(q object) list {
	var out list
	if r.Reasoning != "" {
		out = append(out, object{"text": r.Reasoning, "thought": true})
	}
	if t := r.Text + r.Refusal; t != "" {
		out = append(out, object{"text": t})
	}
	for i, c := range r.geminiCalls() {
		call := object{"name": c.Name, "args": json.RawMessage(c.Args)}
		if geminiVersion(q["model"].(string)) >= 30 && r.Style != NoID { // older models give no ids
			call["id"] = c.id(i)
		}
		out = append(out, object{"functionCall": call})
	}
	return out
}

// geminiChunk is one GenerateContentResponse: https://ai.google.dev/api/generate-content#generatecontentresponse
func (r Reply) geminiChunk(q object, usage object, parts ...any) object {
	candidate := object{"index": 0}
	if len(parts) > 0 {
		candidate["content"] = object{"role": "model", "parts": parts}
	}
	return object{"candidates": list{candidate}, "usageMetadata": usage, "modelVersion": q["model"], "responseId": "resp_test"}
}

// geminiUsage counts the thoughts apart from the rest of the output, and the cached tokens with the
// rest of the prompt.
func (r Reply) geminiUsage(whole bool) object {
	u := object{"promptTokenCount": r.Usage.Input, "totalTokenCount": r.Usage.Input}
	if r.Usage.CacheRead > 0 {
		u["cachedContentTokenCount"] = r.Usage.CacheRead
	}
	if !whole {
		return u
	}
	thoughts := 0
	if r.Reasoning != "" {
		thoughts = r.Usage.Output / 3
		u["thoughtsTokenCount"] = thoughts
	}
	u["candidatesTokenCount"] = r.Usage.Output - thoughts
	u["totalTokenCount"] = r.Usage.Input + r.Usage.Output
	return u
}

// geminiBlocked is the reason the prompt is refused for, which a script writes as prompt:SAFETY.
func (r Reply) geminiBlocked() (string, bool) { return strings.CutPrefix(r.Stop, "prompt:") }

func (r Reply) geminiWhole(q object) any {
	if reason, ok := r.geminiBlocked(); ok {
		return object{"promptFeedback": object{"blockReason": reason}, "usageMetadata": r.geminiUsage(false)}
	}
	parts := r.geminiParts(q)
	if at := r.geminiSigned(geminiVersion(q["model"].(string))); at >= 0 {
		parts[at].(object)["thoughtSignature"] = r.Signature
	}
	c := r.geminiChunk(q, r.geminiUsage(true), parts...)
	c["candidates"].(list)[0].(object)["finishReason"] = r.geminiFinish()
	return c
}

// geminiEvents is a reply as alt=sse streams it: events without names, and none after the one with
// the finish reason. A text is signed in a part of its own that is empty, as the last one:
// https://ai.google.dev/gemini-api/docs/thought-signatures#faqs
func (r Reply) geminiEvents(q object) [][]byte {
	var out [][]byte
	event := func(v object) { out = append(out, []byte("data: "+string(encode(v))+"\r\n\r\n")) }
	send := func(parts ...any) {
		event(r.geminiChunk(q, r.geminiUsage(false), parts...))
		if r.Noise {
			event(object{"usageMetadata": r.geminiUsage(false)})
			event(r.geminiChunk(q, nil, object{"hologram": object{"data": 1}}, object{"text": ""}))
		}
	}
	if reason, ok := r.geminiBlocked(); ok {
		event(object{"promptFeedback": object{"blockReason": reason}, "usageMetadata": r.geminiUsage(false)})
		return out
	}
	signed := r.geminiSigned(geminiVersion(q["model"].(string)))
	last := list{object{"text": ""}}
	var calls list
	for i, x := range r.geminiParts(q) {
		p := x.(object)
		text, _ := p["text"].(string)
		switch {
		case p["functionCall"] != nil:
			if i == signed {
				p["thoughtSignature"] = r.Signature
			}
			if r.Style == Whole || r.Style == Doubled {
				calls = append(calls, p)
			} else {
				send(p)
			}
		case p["thought"] != nil:
			for n, s := range pieces(text, 2) {
				p := object{"text": s, "thought": true}
				if i == signed && n == 0 {
					p["thoughtSignature"] = r.Signature
				}
				send(p)
			}
		default:
			for _, s := range pieces(text, 2) {
				send(object{"text": s})
			}
			if i == signed {
				last = list{object{"text": "", "thoughtSignature": r.Signature}}
			}
		}
	}
	if calls != nil {
		send(calls...)
	}
	if calls != nil && r.Style == Doubled {
		send(calls...)
	}
	end := r.geminiChunk(q, r.geminiUsage(true), last...)
	c := end["candidates"].(list)[0].(object)
	if c["finishReason"] = r.geminiFinish(); c["finishReason"] == "MALFORMED_FUNCTION_CALL" {
		c["finishMessage"] = "Malformed function call: print(default_api." + r.Calls[0].Name + "("
		delete(c, "content") // https://github.com/pydantic/pydantic-ai/pull/3300
	}
	event(end)
	return out
}
