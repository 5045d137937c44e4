package openai_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"jig/internal/model"
	"jig/internal/msg"
)

// What follows is transcribed from the examples that services give, spaces and missing fields
// included. Where an example shows a part of each event, the rest stands around it as the same
// service gives it elsewhere.

// https://platform.openai.com/docs/api-reference/chat-streaming
const hello = `{"id":"chatcmpl-123","object":"chat.completion.chunk","created":1694268190,"model":"gpt-4o-mini", "system_fingerprint": "fp_44709d6fcb", "choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]}
{"id":"chatcmpl-123","object":"chat.completion.chunk","created":1694268190,"model":"gpt-4o-mini", "system_fingerprint": "fp_44709d6fcb", "choices":[{"index":0,"delta":{"content":"Hello"},"logprobs":null,"finish_reason":null}]}
{"id":"chatcmpl-123","object":"chat.completion.chunk","created":1694268190,"model":"gpt-4o-mini", "system_fingerprint": "fp_44709d6fcb", "choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}]}
[DONE]`

// https://platform.openai.com/docs/guides/function-calling?api-mode=chat#streaming, which shows the
// delta's tool_calls alone.
const weather = `[{"index": 0, "id": "call_DdmO9pD3xa9XTPNJ32zg2hcA", "function": {"arguments": "", "name": "get_weather"}, "type": "function"}]
[{"index": 0, "id": null, "function": {"arguments": "{\"", "name": null}, "type": null}]
[{"index": 0, "id": null, "function": {"arguments": "location", "name": null}, "type": null}]
[{"index": 0, "id": null, "function": {"arguments": "\":\"", "name": null}, "type": null}]
[{"index": 0, "id": null, "function": {"arguments": "Paris", "name": null}, "type": null}]
[{"index": 0, "id": null, "function": {"arguments": ",", "name": null}, "type": null}]
[{"index": 0, "id": null, "function": {"arguments": " France", "name": null}, "type": null}]
[{"index": 0, "id": null, "function": {"arguments": "\"}", "name": null}, "type": null}]
null`

// https://api-docs.deepseek.com/api/create-chat-completion
const deepseek = `{"id": "1f633d8bfc032625086f14113c411638", "choices": [{"index": 0, "delta": {"content": "", "role": "assistant"}, "finish_reason": null, "logprobs": null}], "created": 1718345013, "model": "deepseek-v4-pro", "system_fingerprint": "fp_a49d71b8a1", "object": "chat.completion.chunk", "usage": null}
{"choices": [{"delta": {"content": "Hello", "role": "assistant"}, "finish_reason": null, "index": 0, "logprobs": null}], "created": 1718345013, "id": "1f633d8bfc032625086f14113c411638", "model": "deepseek-v4-pro", "object": "chat.completion.chunk", "system_fingerprint": "fp_a49d71b8a1"}
{"choices": [{"delta": {"content": "!", "role": "assistant"}, "finish_reason": null, "index": 0, "logprobs": null}], "created": 1718345013, "id": "1f633d8bfc032625086f14113c411638", "model": "deepseek-v4-pro", "object": "chat.completion.chunk", "system_fingerprint": "fp_a49d71b8a1"}
{"choices": [{"delta": {"content": "", "role": null}, "finish_reason": "stop", "index": 0, "logprobs": null}], "created": 1718345013, "id": "1f633d8bfc032625086f14113c411638", "model": "deepseek-v4-pro", "object": "chat.completion.chunk", "system_fingerprint": "fp_a49d71b8a1", "usage": {"completion_tokens": 9, "prompt_tokens": 17, "total_tokens": 26}}
[DONE]`

// https://openrouter.ai/docs/guides/best-practices/prompt-caching, its usage around the first example's
// chunk.
const openrouter = `{"id":"chatcmpl-123","choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":"stop"}]}
{"choices":[],
  "usage": {
    "prompt_tokens": 10339,
    "completion_tokens": 60,
    "total_tokens": 10399,
    "prompt_tokens_details": {
      "cached_tokens": 10318,
      "cache_write_tokens": 0
    }
  }
}
[DONE]`

func TestThePublishedExamplesAreRead(t *testing.T) {
	said := func(text string, u msg.Usage) model.Reply {
		return model.Reply{Usage: u, Stop: model.StopEnd, Blocks: msg.Blocks{msg.Text{Text: text}}}
	}
	lines := func(s string) []string { return strings.Split(s, "\n") }
	var asked []string
	for _, l := range lines(weather) {
		asked = append(asked, strings.Replace(lines(hello)[1], `"content":"Hello"`, `"tool_calls":`+l, 1))
	}
	asked = append(asked, strings.Replace(lines(hello)[2], `"stop"`, `"tool_calls"`, 1), "[DONE]")
	first, rest, _ := strings.Cut(openrouter, "\n")
	used := strings.TrimSuffix(rest, "\n[DONE]")
	for name, c := range map[string]struct {
		events []string
		want   model.Reply
	}{
		"text":       {lines(hello), said("Hello", msg.Usage{})},
		"a call":     {asked, model.Reply{Stop: model.StopCalls, Blocks: msg.Blocks{msg.Call{Given: "call_DdmO9pD3xa9XTPNJ32zg2hcA", Name: "get_weather", Args: `{"location":"Paris, France"}`}}}},
		"deepseek":   {lines(deepseek), said("Hello!", msg.Usage{Input: 17, Output: 9})},
		"openrouter": {[]string{first, strings.ReplaceAll(used, "\n", "\ndata: "), "[DONE]"}, said("Hello", msg.Usage{Input: 10339, Output: 60, CacheRead: 10318})},
	} {
		got, err := stream(t, c.events...)
		if d := cmp.Diff(c.want, got); err != nil || d != "" {
			t.Errorf("%s: %v\n%s", name, err, d)
		}
	}
}
