package cost_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"jig/internal/model"
	"jig/internal/model/anthropic"
	"jig/internal/model/cost"
	"jig/internal/model/endpoint"
	"jig/internal/model/gemini"
	"jig/internal/model/openai"
	"jig/internal/model/openresponses"
	"jig/internal/money"
	"jig/internal/msg"
)

// What each provider says of one and the same request: 1,000 tokens sent, of which 600 were read from
// the cache and 100 written to it where there is such a count, and 50 written, 30 of them thoughts.
var counts = []struct {
	what   string
	open   func(endpoint.Options) model.Model
	answer string
	want   msg.Usage
}{
	{ // https://platform.openai.com/docs/api-reference/chat/object: cached and reasoning are parts
		"OpenAI chat", func(o endpoint.Options) model.Model { return openai.New(o) },
		`{"choices":[{"index":0,"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1000,"completion_tokens":50,"total_tokens":1050,"prompt_tokens_details":{"cached_tokens":600,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":30}}}`,
		msg.Usage{Input: 1000, Output: 50, CacheRead: 600},
	},
	{ // https://openrouter.ai/docs/guides/best-practices/prompt-caching: what was written has a count, too
		"OpenRouter", func(o endpoint.Options) model.Model { return openai.New(o) },
		`{"choices":[{"index":0,"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1000,"completion_tokens":50,"total_tokens":1050,"prompt_tokens_details":{"cached_tokens":600,"cache_write_tokens":100}}}`,
		msg.Usage{Input: 1000, Output: 50, CacheRead: 600, CacheWrite: 100},
	},
	{ // https://api-docs.deepseek.com/guides/kv_cache: prompt_tokens are hits and misses
		"DeepSeek", func(o endpoint.Options) model.Model { return openai.New(o) },
		`{"choices":[{"index":0,"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1000,"completion_tokens":50,"total_tokens":1050,"prompt_cache_hit_tokens":600,"prompt_cache_miss_tokens":400,"completion_tokens_details":{"reasoning_tokens":30}}}`,
		msg.Usage{Input: 1000, Output: 50, CacheRead: 600},
	},
	{ // https://docs.x.ai/docs/key-information/consumption-and-rate-limits, with figures as in
		// https://github.com/vercel/ai/pull/12425: reasoning is beside the completion and in the total
		"xAI", func(o endpoint.Options) model.Model { return openai.New(o) },
		`{"choices":[{"index":0,"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1000,"completion_tokens":20,"total_tokens":1050,"prompt_tokens_details":{"cached_tokens":600},"completion_tokens_details":{"reasoning_tokens":30}}}`,
		msg.Usage{Input: 1000, Output: 50, CacheRead: 600},
	},
	{ // https://github.com/earendil-works/pi/issues/2017, https://github.com/vercel/ai/pull/12352: streamed
		// counts are in the choice, and the cached ones have no details around them
		"Moonshot", func(o endpoint.Options) model.Model { return openai.New(o) },
		"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"}}]}\n\n" +
			"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\",\"usage\":{\"prompt_tokens\":1000,\"completion_tokens\":50,\"total_tokens\":1050,\"cached_tokens\":600}}]}\n\ndata: [DONE]\n\n",
		msg.Usage{Input: 1000, Output: 50, CacheRead: 600},
	},
	{ // https://platform.openai.com/docs/api-reference/responses/object
		"OpenAI responses", func(o endpoint.Options) model.Model { return openresponses.New(o) },
		`{"object":"response","status":"completed","output":[{"type":"message","id":"m","role":"assistant","status":"completed","content":[{"type":"output_text","text":"hi","annotations":[]}]}],"usage":{"input_tokens":1000,"input_tokens_details":{"cached_tokens":600},"output_tokens":50,"output_tokens_details":{"reasoning_tokens":30},"total_tokens":1050}}`,
		msg.Usage{Input: 1000, Output: 50, CacheRead: 600},
	},
	{ // https://platform.claude.com/docs/en/build-with-claude/prompt-caching#tracking-cache-performance:
		// input_tokens are only what is behind the last mark; the counts of a stream are cumulative
		"Anthropic", func(o endpoint.Options) model.Model { return anthropic.New(o) },
		"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"type\":\"message\",\"usage\":{\"input_tokens\":300,\"cache_creation_input_tokens\":100,\"cache_read_input_tokens\":600,\"output_tokens\":1}}}\n\n" +
			"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"hi\"}}\n\n" +
			"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":50}}\n\n" +
			"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
		msg.Usage{Input: 1000, Output: 50, CacheRead: 600, CacheWrite: 100},
	},
	{ // https://ai.google.dev/api/generate-content#UsageMetadata: cached is a part of the prompt; thoughts
		// are beside the candidates and in the total
		"Gemini", func(o endpoint.Options) model.Model { return gemini.New(o) },
		"data: {\"candidates\":[{\"index\":0,\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"hi\"}]},\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":1000,\"cachedContentTokenCount\":600,\"candidatesTokenCount\":20,\"thoughtsTokenCount\":30,\"totalTokenCount\":1050}}\n\n",
		msg.Usage{Input: 1000, Output: 50, CacheRead: 600},
	},
}

// However a provider counts, the same request costs the same; only what was written to a cache that
// is not told of is paid as fresh input.
func TestTheSameRequestCostsTheSameWhoeverCounts(t *testing.T) {
	for _, c := range counts {
		t.Run(c.what, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, c.answer) }))
			defer s.Close()
			l := cost.NewLedger(nil, nil)
			m := cost.Meter(c.open(endpoint.Options{Provider: "p", URL: s.URL, Key: "k"}), l, options())
			r := ask(40)
			r.Model = "m"
			got, err := m.Stream(context.Background(), r, nil)
			if err != nil || got.Usage != c.want || got.Blocks.Text() != "hi" {
				t.Fatalf("%+v, %v", got, err)
			}
			// 600 × 0.2 + 50 × 10, and 400 × 2 or 300 × 2 + 100 × 2.5 millionths
			want := money.Amount(1_420_000)
			if c.want.CacheWrite > 0 {
				want = 1_470_000
			}
			if a := l.Account(); a != (cost.Account{Spent: want}) {
				t.Errorf("%+v, want %s", a, want.Exact())
			}
		})
	}
}
