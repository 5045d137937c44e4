package modeltest

import (
	"encoding/json"
	"fmt"
	"strings"
)

// id is a call's id; one is made where the script has none, as the vendors do.
func (c Call) id(i int) string {
	if c.ID != "" {
		return c.ID
	}
	return fmt.Sprintf("call_%d%s", i, c.Name)
}

func (r Reply) chatFinish() string {
	switch {
	case r.Stop != "":
		return r.Stop
	case len(r.Calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

// chatUsage has the shape of https://github.com/openai/openai-openapi, schema CompletionUsage.
func (r Reply) chatUsage() object {
	return object{
		"prompt_tokens": r.Usage.Input, "completion_tokens": r.Usage.Output, "total_tokens": r.Usage.Total(),
		"prompt_tokens_details":     object{"cached_tokens": r.Usage.CacheRead, "cache_write_tokens": r.Usage.CacheWrite},
		"completion_tokens_details": object{"reasoning_tokens": 0},
	}
}

func (r Reply) chatWhole(q object) any {
	m := object{"role": "assistant", "content": orNull(r.Text), "refusal": orNull(r.Refusal)}
	if r.Reasoning != "" {
		m["reasoning_content"] = r.Reasoning
	}
	if len(r.Details) > 0 {
		m["reasoning_details"] = json.RawMessage("[" + strings.Join(r.Details, ",") + "]")
	}
	var calls list
	for i, c := range r.Calls {
		calls = append(calls, r.fragment(i, c, c.Args, true))
	}
	for _, c := range calls {
		delete(c.(object), "index")
	}
	if calls != nil {
		m["tool_calls"] = calls
	}
	return object{
		"id": "chatcmpl-test", "object": "chat.completion", "created": 1700000000, "model": q["model"],
		"choices": list{object{"index": 0, "message": m, "logprobs": nil, "finish_reason": r.chatFinish()}},
		"usage":   r.chatUsage(),
	}
}

// fragment is a piece of a call. The first piece brings id and name.
func (r Reply) fragment(i int, c Call, args string, first bool) object {
	f := object{"arguments": args}
	if r.Style == Object {
		f["arguments"] = json.RawMessage(args)
	}
	out := object{"index": i, "function": f}
	if first || r.Style == Named {
		f["name"] = c.Name
		out["id"], out["type"] = c.id(i), "function"
	}
	if first && c.Extra != "" {
		out["extra_content"] = json.RawMessage(c.Extra)
	}
	switch r.Style {
	case NoIndex:
		delete(out, "index")
	case ZeroOnly:
		out["index"] = 0
	case From7:
		out["index"] = 7 + i
	case NoID:
		delete(out, "id")
	}
	return out
}

// chatEvents is a reply as https://platform.openai.com/docs/api-reference/chat-streaming shows it:
// the role first, then the parts, the finish reason, the usage where it was asked for, [DONE].
func (r Reply) chatEvents(q object) [][]byte {
	var out [][]byte
	options, _ := q["stream_options"].(object)
	usage, _ := options["include_usage"].(bool)
	chunk := func(choices list, u any) {
		c := object{"id": "chatcmpl-test", "object": "chat.completion.chunk", "created": 1700000000, "model": q["model"], "choices": choices}
		if usage {
			c["usage"] = u
		}
		out = append(out, []byte("data: "+string(encode(c))+"\n\n"))
	}
	delta := func(d object) {
		chunk(list{object{"index": 0, "delta": d, "logprobs": nil, "finish_reason": nil}}, nil)
	}
	delta(object{"role": "assistant", "content": "", "refusal": nil})
	for _, s := range pieces(r.Reasoning, 6) {
		delta(object{"reasoning_content": s, "content": nil})
	}
	for _, d := range r.detailDeltas() {
		delta(d)
	}
	for _, s := range pieces(r.Text, 6) {
		delta(object{"content": s})
	}
	for _, s := range pieces(r.Refusal, 6) {
		delta(object{"refusal": s})
	}
	var whole list
	for i, c := range r.Calls {
		whole = append(whole, r.fragment(i, c, c.Args, true))
	}
	for i, c := range r.Calls {
		if r.Style == Doubled {
			break
		}
		args := pieces(c.Args, 7)
		if r.Style == Whole || r.Style == Object {
			args = []string{c.Args}
		} else if r.Style == "" || len(args) == 0 {
			args = append([]string{""}, args...)
		}
		for n, a := range args {
			delta(object{"tool_calls": list{r.fragment(i, c, a, n == 0)}})
		}
	}
	last := object{"index": 0, "delta": object{}, "logprobs": nil, "finish_reason": r.chatFinish()}
	switch {
	case whole == nil:
	case r.Style == Doubled:
		delta(object{"tool_calls": whole})
		delta(object{"tool_calls": whole})
	case r.Style == Summed:
		last["delta"] = object{"tool_calls": whole}
	case r.Style == Moved:
		for i, f := range whole {
			f.(object)["index"] = len(whole) + i
			delta(object{"tool_calls": list{f}})
		}
	case r.Style == Closed:
		last["message"] = r.chatWhole(q).(object)["choices"].(list)[0].(object)["message"]
	}
	chunk(list{last}, nil)
	if usage {
		chunk(list{}, r.chatUsage())
	}
	return append(out, []byte("data: [DONE]\n\n"))
}
