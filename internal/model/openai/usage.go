package openai

import (
	"jig/internal/model/endpoint"
	"jig/internal/msg"
)

// usage is what a server counted. Cached input is among the prompt, and every service has a place of
// its own for how much it was:
// https://platform.openai.com/docs/api-reference/chat/object,
// https://api-docs.deepseek.com/guides/kv_cache (hit), https://platform.kimi.ai/docs/api/chat (cached),
// https://openrouter.ai/docs/guides/best-practices/prompt-caching (written),
// https://www.alibabacloud.com/help/en/model-studio/context-cache (created).
type usage struct {
	Prompt     endpoint.Count `json:"prompt_tokens"`
	Completion endpoint.Count `json:"completion_tokens"`
	Total      endpoint.Count `json:"total_tokens"`
	Input      endpoint.Aside[struct {
		Cached  endpoint.Count `json:"cached_tokens"`
		Written endpoint.Count `json:"cache_write_tokens"`
		Created endpoint.Count `json:"cache_creation_input_tokens"`
	}] `json:"prompt_tokens_details"`
	Output endpoint.Aside[struct {
		Reasoning endpoint.Count `json:"reasoning_tokens"`
	}] `json:"completion_tokens_details"`
	Hit    endpoint.Count `json:"prompt_cache_hit_tokens"`
	Cached endpoint.Count `json:"cached_tokens"`
}

// counted brings the ways of counting together. Reasoning is among the completion, but xAI counts it
// beside, and only the total tells: https://docs.x.ai/docs/key-information/consumption-and-rate-limits
func (u *usage) counted() msg.Usage {
	prompt, output := u.Prompt.N, u.Completion.N
	read, written := max(u.Hit.N, u.Cached.N), 0
	if in := u.Input.Value; in != nil {
		read, written = max(read, in.Cached.N), max(in.Written.N, in.Created.N)
	}
	if out := u.Output.Value; out != nil && out.Reasoning.N > 0 && u.Total.N == prompt+output+out.Reasoning.N {
		output += out.Reasoning.N
	}
	return msg.Usage{Input: prompt, Output: output, CacheRead: min(read, prompt), CacheWrite: min(written, prompt)}
}
