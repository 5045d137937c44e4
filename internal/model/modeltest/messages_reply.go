package modeltest

import (
	"encoding/base64"
	"encoding/json"
)

func (r Reply) signature() string {
	if r.Signature != "" {
		return r.Signature
	}
	return base64.StdEncoding.EncodeToString([]byte("signed:" + r.Reasoning))
}

func (r Reply) messageStop() string {
	switch {
	case r.Stop != "":
		return r.Stop
	case r.Refusal != "":
		return "refusal"
	case len(r.Calls) > 0:
		return "tool_use"
	}
	return "end_turn"
}

// stopDetails: https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons
func (r Reply) stopDetails() any {
	if r.Explained == "" {
		return nil
	}
	return object{"type": "refusal", "category": nil, "explanation": r.Explained}
}

// messageUsage counts cached tokens apart from the others:
// https://platform.claude.com/docs/en/build-with-claude/prompt-caching#tracking-cache-performance
func (r Reply) messageUsage(output int) object {
	return object{
		"input_tokens":                r.Usage.Input - r.Usage.CacheRead - r.Usage.CacheWrite,
		"cache_read_input_tokens":     r.Usage.CacheRead,
		"cache_creation_input_tokens": r.Usage.CacheWrite,
		"cache_creation":              object{"ephemeral_5m_input_tokens": r.Usage.CacheWrite - r.hourWrites, "ephemeral_1h_input_tokens": r.hourWrites},
		"output_tokens":               output,
	}
}

func (r Reply) messageBlocks() list {
	var out list
	if r.Reasoning != "" || r.Signature != "" {
		out = append(out, object{"type": "thinking", "thinking": r.Reasoning, "signature": r.signature()})
	}
	if r.Redacted != "" {
		out = append(out, object{"type": "redacted_thinking", "data": r.Redacted})
	}
	for _, h := range r.Hosted {
		out = append(out, value(h))
	}
	if t := r.Text + r.Refusal; t != "" {
		out = append(out, object{"type": "text", "text": t, "citations": nil})
	}
	for i, c := range r.Calls {
		input := json.RawMessage(c.Args)
		if !json.Valid(input) {
			input = json.RawMessage("{}")
		}
		out = append(out, object{"type": "tool_use", "id": c.id(i), "name": c.Name, "input": input})
	}
	return out
}

func (r Reply) messageWhole(q object) any {
	return object{
		"id": "msg_test", "type": "message", "role": "assistant", "model": q["model"], "content": r.messageBlocks(),
		"stop_reason": r.messageStop(), "stop_sequence": nil, "stop_details": r.stopDetails(), "usage": r.messageUsage(r.Usage.Output),
	}
}

// messageEvents is a reply as https://platform.claude.com/docs/en/build-with-claude/streaming
// shows it.
func (r Reply) messageEvents(q object) [][]byte {
	var out [][]byte
	event := func(name string, fields object) {
		fields["type"] = name
		out = append(out, []byte("event: "+name+"\ndata: "+string(encode(fields))+"\n\n"))
	}
	event("message_start", object{"message": object{
		"id": "msg_test", "type": "message", "role": "assistant", "model": q["model"], "content": list{},
		"stop_reason": nil, "stop_sequence": nil, "usage": r.messageUsage(1),
	}})
	event("ping", object{})
	calls := 0
	var again [][]byte
	for i, b := range r.messageBlocks() {
		block, from := b.(object), len(out)
		delta := func(d object) { event("content_block_delta", object{"index": i, "delta": d}) }
		start := func(b object) { event("content_block_start", object{"index": i, "content_block": b}) }
		switch block["type"] {
		case "thinking":
			start(object{"type": "thinking", "thinking": "", "signature": ""})
			for _, s := range pieces(r.Reasoning, 6) {
				delta(object{"type": "thinking_delta", "thinking": s})
			}
			delta(object{"type": "signature_delta", "signature": block["signature"]})
		case "redacted_thinking":
			start(block)
		case "text":
			start(object{"type": "text", "text": ""})
			for _, s := range pieces(block["text"].(string), 6) {
				delta(object{"type": "text_delta", "text": s})
			}
		case "server_tool_use":
			start(object{"type": block["type"], "id": block["id"], "name": block["name"], "input": object{}})
			for _, s := range pieces(string(encode(block["input"])), 7) {
				delta(object{"type": "input_json_delta", "partial_json": s})
			}
		case "web_search_tool_result":
			start(block)
		case "tool_use":
			start(object{"type": "tool_use", "id": block["id"], "name": block["name"], "input": object{}})
			delta(object{"type": "input_json_delta", "partial_json": ""})
			// Not the block's input: the script may want malformed arguments.
			for _, s := range pieces(r.Calls[calls].Args, 7) {
				delta(object{"type": "input_json_delta", "partial_json": s})
			}
			calls++
		}
		event("content_block_stop", object{"index": i})
		if block["type"] == "tool_use" && r.Style == Doubled {
			again = append(again, out[from:]...)
		}
		if r.Noise {
			event("ping", object{})
			event("something_new", object{"index": i, "delta": object{"type": "what_delta"}})
		}
	}
	out = append(out, again...)
	event("message_delta", object{
		"delta": object{"stop_reason": r.messageStop(), "stop_sequence": nil, "stop_details": r.stopDetails()},
		"usage": object{"output_tokens": r.Usage.Output},
	})
	event("message_stop", object{})
	return out
}
