package openai

import "jig/internal/msg"

// usage is what a server counted. Cached input is among the prompt, and every service has a place of
// its own for how much it was:
// https://platform.openai.com/docs/api-reference/chat/object,
// https://api-docs.deepseek.com/guides/kv_cache (hit), https://platform.kimi.ai/docs/api/chat (cached),
// https://openrouter.ai/docs/guides/best-practices/prompt-caching (written).
type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
	Input      *struct {
		Cached  int `json:"cached_tokens"`
		Written int `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	Output *struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	Hit    int `json:"prompt_cache_hit_tokens"`
	Cached int `json:"cached_tokens"`
}

// counted brings the ways of counting together. Reasoning is among the completion, but xAI counts it
// beside, and only the total tells: https://docs.x.ai/docs/key-information/consumption-and-rate-limits
func (u *usage) counted() msg.Usage {
	out := msg.Usage{Input: u.Prompt, Output: u.Completion, CacheRead: max(u.Hit, u.Cached)}
	if u.Input != nil {
		out.CacheRead = max(out.CacheRead, u.Input.Cached)
		out.CacheWrite = u.Input.Written
	}
	if u.Output != nil && u.Output.Reasoning > 0 && u.Total == u.Prompt+u.Completion+u.Output.Reasoning {
		out.Output += u.Output.Reasoning
	}
	return out
}
