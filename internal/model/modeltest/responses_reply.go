package modeltest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
)

// sealed is reasoning in its encrypted form.
func (r Reply) sealed() string {
	if r.Signature != "" {
		return r.Signature
	}
	return base64.StdEncoding.EncodeToString([]byte("sealed:" + r.Reasoning))
}

// responsesState is a reply's last status, and why it is incomplete.
func (r Reply) responsesState() (status string, incomplete any) {
	if r.Stop != "" && r.Stop != "completed" {
		return "incomplete", object{"reason": r.Stop}
	}
	return "completed", nil
}

// responsesUsage has the shape of https://platform.openai.com/docs/api-reference/responses/object.
func (r Reply) responsesUsage() object {
	return object{
		"input_tokens": r.Usage.Input, "output_tokens": r.Usage.Output, "total_tokens": r.Usage.Total(),
		"input_tokens_details":  object{"cached_tokens": r.Usage.CacheRead, "cache_write_tokens": r.Usage.CacheWrite},
		"output_tokens_details": object{"reasoning_tokens": 0},
	}
}

// responsesItems are the output items, each whole. The last one is as incomplete as the reply.
func (r Reply) responsesItems(thoughts, own bool) list {
	var out list
	reason := func(id, text, sealed string) {
		item := object{"id": fmt.Sprintf("rs_%d%s", r.number, id), "type": "reasoning", "summary": list{}}
		if thoughts {
			item["encrypted_content"] = sealed
		}
		if text != "" {
			item["summary"] = list{object{"type": "summary_text", "text": text}}
		}
		out = append(out, item)
	}
	if r.Reasoning != "" || r.Signature != "" {
		reason("a", r.Reasoning, r.sealed())
	}
	if r.Redacted != "" {
		reason("b", "", r.Redacted)
	}
	if r.Text != "" || r.Refusal != "" {
		m := object{"id": fmt.Sprintf("msg_%d", r.number), "type": "message", "status": "completed", "role": "assistant"}
		var parts list
		if r.Text != "" {
			parts = append(parts, object{"type": "output_text", "annotations": list{}, "logprobs": list{}, "text": r.Text})
		}
		if r.Refusal != "" {
			parts = append(parts, object{"type": "refusal", "refusal": r.Refusal})
		}
		m["content"] = parts
		if r.Phase != "" {
			m["phase"] = r.Phase
		}
		out = append(out, m)
	}
	for i, c := range r.Calls {
		f := object{"id": fmt.Sprintf("fc_%d_%d", r.number, i), "type": "function_call", "status": "completed", "arguments": c.Args, "call_id": c.id(i), "name": c.Name}
		if own && r.Style == Object {
			f["arguments"] = json.RawMessage(c.Args)
		}
		out = append(out, f)
	}
	if status, _ := r.responsesState(); status == "incomplete" && len(out) > 0 {
		if last := out[len(out)-1].(object); last["status"] != nil {
			last["status"] = status
		}
	}
	if own && (r.Style == NoID || r.Style == Doubled) {
		for _, item := range out {
			delete(item.(object), "id")
		}
	}
	return out
}

func (r Reply) responsesWhole(q object) any {
	status, incomplete := r.responsesState()
	return r.response(q, status, incomplete, r.responsesItems(wantsThoughts(q), true), r.responsesUsage())
}

// response is the object of https://platform.openai.com/docs/api-reference/responses/object, without
// most of the settings that it repeats.
func (r Reply) response(q object, status string, incomplete any, output list, usage any) object {
	if output == nil {
		output = list{}
	}
	return object{
		"id": fmt.Sprintf("resp_%d", r.number), "object": "response", "created_at": 1741487325, "status": status, "background": false,
		"error": nil, "incomplete_details": incomplete, "instructions": q["instructions"], "max_output_tokens": q["max_output_tokens"],
		"model": q["model"], "output": output, "parallel_tool_calls": true, "previous_response_id": nil, "store": q["store"],
		"temperature": 1.0, "tool_choice": "auto", "top_p": 1.0, "truncation": "disabled", "usage": usage, "user": nil, "metadata": object{},
	}
}

// script writes the events of one reply.
type script struct {
	out   [][]byte
	reply Reply
}

func (s *script) event(name string, fields object) {
	fields["type"], fields["sequence_number"] = name, len(s.out)
	if _, placed := fields["output_index"]; placed {
		switch s.reply.Style {
		case NoIndex:
			delete(fields, "output_index")
		case ZeroOnly:
			fields["output_index"] = 0
		case From7:
			fields["output_index"] = fields["output_index"].(int) + 7
		}
	}
	if _, ok := fields["item_id"]; ok {
		switch s.reply.Style {
		case NoID, Doubled:
			delete(fields, "item_id")
		case Fleeting:
			fields["item_id"] = fmt.Sprintf("item_%d", len(s.out))
		}
	}
	s.out = append(s.out, []byte("event: "+name+"\ndata: "+string(encode(fields))+"\n\n"))
}

// responsesEvents is a reply as the examples show it: of texts and calls at
// https://platform.openai.com/docs/guides/streaming-responses and
// https://platform.openai.com/docs/guides/function-calling#streaming, of every type of event at
// https://platform.openai.com/docs/api-reference/responses-streaming. The order within an item is
// demanded by https://www.openresponses.org/specification#items-are-streamable.
func (r Reply) responsesEvents(q object) [][]byte {
	s := &script{reply: r}
	s.event("response.created", object{"response": r.response(q, "in_progress", nil, nil, nil)})
	s.event("response.in_progress", object{"response": r.response(q, "in_progress", nil, nil, nil)})
	items := r.responsesItems(wantsThoughts(q), true)
	for i, v := range items {
		if r.Style == Sparse {
			break
		}
		s.item(v.(object), i)
		if r.Noise {
			s.event("response.something_new", object{"output_index": i, "item_id": "x", "delta": object{"a": list{1}}})
		}
	}
	for i, v := range items {
		if r.Style == Doubled {
			s.event("response.output_item.done", object{"output_index": i, "item": v})
		}
	}
	status, incomplete := r.responsesState()
	s.event("response."+status, object{"response": r.response(q, status, incomplete, items, r.responsesUsage())})
	if r.Style == Marked {
		s.out = append(s.out, []byte("data: [DONE]\n\n"))
	}
	return s.out
}

func (s *script) item(item object, index int) {
	begun := object{}
	for k, v := range item {
		begun[k] = v
	}
	if item["status"] != nil {
		begun["status"] = "in_progress"
	}
	in := func(fields object) object {
		fields["item_id"], fields["output_index"] = item["id"], index
		return fields
	}
	switch item["type"] {
	case "reasoning":
		begun["summary"] = list{}
		if begun["encrypted_content"] != nil {
			begun["encrypted_content"] = "unfinished" // "may be incomplete" until the item is done
		}
		s.event("response.output_item.added", object{"output_index": index, "item": begun})
		for i, v := range item["summary"].(list) {
			s.stream(in, "response.reasoning_summary_part", "response.reasoning_summary_text", "summary_index", i, v.(object), "text", 6)
		}
	case "message":
		begun["content"] = list{}
		s.event("response.output_item.added", object{"output_index": index, "item": begun})
		for i, v := range item["content"].(list) {
			part := v.(object)
			name, key := "response.output_text", "text"
			if part["type"] == "refusal" {
				name, key = "response.refusal", "refusal"
			}
			s.stream(in, "response.content_part", name, "content_index", i, part, key, 6)
		}
	case "function_call":
		args := item["arguments"]
		begun["arguments"] = ""
		s.event("response.output_item.added", object{"output_index": index, "item": begun})
		if text, ok := args.(string); ok && s.reply.Style != Whole {
			for _, d := range pieces(text, 7) {
				s.event("response.function_call_arguments.delta", in(object{"delta": d, "obfuscation": "x"}))
			}
		}
		s.event("response.function_call_arguments.done", in(object{"arguments": args}))
	}
	if s.reply.Style == Fleeting {
		again := object{}
		for k, v := range item {
			again[k] = v
		}
		again["id"] = item["id"].(string) + "x"
		item = again
	}
	s.event("response.output_item.done", object{"output_index": index, "item": item})
}

// stream writes one part of an item: that it begins, its pieces, its whole text, and its end.
func (s *script) stream(in func(object) object, part, name, indexKey string, index int, whole object, key string, size int) {
	empty := object{}
	for k, v := range whole {
		empty[k] = v
	}
	empty[key] = ""
	s.event(part+".added", in(object{indexKey: index, "part": empty}))
	text := whole[key].(string)
	for _, d := range pieces(text, size) {
		fields := object{indexKey: index, "delta": d, "obfuscation": "x"}
		if name == "response.output_text" {
			fields["logprobs"] = list{}
		}
		s.event(name+".delta", in(fields))
	}
	done := object{indexKey: index, key: text}
	if name == "response.output_text" {
		done["logprobs"] = list{}
	}
	s.event(name+".done", in(done))
	s.event(part+".done", in(object{indexKey: index, "part": whole}))
}

// responsesFault is the end of a reply that went wrong: an event of its own, or the reply's failure.
func (r Reply) responsesFault(q object, number int) []byte {
	body := object{"code": "server_error", "message": "The server had an error processing your request. Sorry about that!"}
	s := &script{out: make([][]byte, number)}
	if r.Fault.Kind == FaultFailed {
		failed := r.response(q, "failed", nil, nil, nil)
		failed["error"] = body
		if r.Fault.Body != "" {
			failed["error"] = json.RawMessage(r.Fault.Body)
		}
		s.event("response.failed", object{"response": failed})
	} else {
		body["param"] = nil
		s.event("error", body)
	}
	return s.out[number]
}
