package openai

import (
	"strconv"

	"jig/internal/msg"
)

// usage is what a server counted. Cached input is among the prompt, and every service has a place of
// its own for how much it was:
// https://platform.openai.com/docs/api-reference/chat/object,
// https://api-docs.deepseek.com/guides/kv_cache (hit), https://platform.kimi.ai/docs/api/chat (cached),
// https://openrouter.ai/docs/guides/best-practices/prompt-caching (written),
// https://www.alibabacloud.com/help/en/model-studio/context-cache (created).
type usage struct {
	Prompt     count `json:"prompt_tokens"`
	Completion count `json:"completion_tokens"`
	Total      count `json:"total_tokens"`
	Input      *struct {
		Cached  count `json:"cached_tokens"`
		Written count `json:"cache_write_tokens"`
		Created count `json:"cache_creation_input_tokens"`
	} `json:"prompt_tokens_details"`
	Output *struct {
		Reasoning count `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	Hit    count `json:"prompt_cache_hit_tokens"`
	Cached count `json:"cached_tokens"`
}

// count is a number of tokens. What is no such number is 0: it is not worth a reply.
type count int

func (c *count) UnmarshalJSON(b []byte) error {
	if f, err := strconv.ParseFloat(string(b), 64); err == nil && f > 0 && f < 1e12 {
		*c = count(f)
	}
	return nil
}

// counted brings the ways of counting together. Reasoning is among the completion, but xAI counts it
// beside, and only the total tells: https://docs.x.ai/docs/key-information/consumption-and-rate-limits
func (u *usage) counted() msg.Usage {
	read, written, output := max(u.Hit, u.Cached), count(0), u.Completion
	if u.Input != nil {
		read, written = max(read, u.Input.Cached), max(u.Input.Written, u.Input.Created)
	}
	if u.Output != nil && u.Output.Reasoning > 0 && u.Total == u.Prompt+u.Completion+u.Output.Reasoning {
		output += u.Output.Reasoning
	}
	return msg.Usage{Input: int(u.Prompt), Output: int(output), CacheRead: int(min(read, u.Prompt)), CacheWrite: int(min(written, u.Prompt))}
}
