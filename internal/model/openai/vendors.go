package openai

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// vendor is what a service's own reference says of it that is not the same everywhere. Services that
// are not known get what most of them know.
type vendor struct {
	newLimit bool // max_completion_tokens and not max_tokens
	cacheKey bool // prompt_cache_key
	marks    bool // cache marks, for the models that want them
	efforts  style
}

// style is how a service is told how hard to think.
type style int

const (
	flat     style = iota // reasoning_effort
	nested                // reasoning: {effort}
	switched              // reasoning_effort, but thinking: {type} to switch it off
	enabling              // enable_thinking, on or off
)

// vendorAt reads a service's host.
func vendorAt(host string) vendor {
	at := func(names ...string) bool {
		for _, n := range names {
			if host == n || strings.HasSuffix(host, "."+n) {
				return true
			}
		}
		return false
	}
	switch {
	// The vendor deprecates max_tokens and its reasoning models refuse it; most compatible servers
	// know nothing else. The cache key sends requests with one beginning to one machine.
	// https://developers.openai.com/api/docs/guides/prompt-caching
	// https://learn.microsoft.com/azure/foundry/openai/how-to/prompt-caching
	case at("api.openai.com", "openai.azure.com", "services.ai.azure.com", "cognitiveservices.azure.com"):
		return vendor{newLimit: true, cacheKey: true}
	// https://openrouter.ai/docs/use-cases/reasoning-tokens
	// https://openrouter.ai/docs/guides/best-practices/prompt-caching
	case at("openrouter.ai"):
		return vendor{cacheKey: true, marks: true, efforts: nested}
	// https://api-docs.deepseek.com/guides/thinking_mode
	// https://platform.moonshot.cn/docs/guide/use-kimi-k2-thinking-model
	case at("api.deepseek.com", "api.moonshot.ai", "api.moonshot.cn"):
		return vendor{efforts: switched}
	// https://www.alibabacloud.com/help/en/model-studio/deep-thinking
	case strings.HasPrefix(host, "dashscope") && at("aliyuncs.com"):
		return vendor{efforts: enabling}
	}
	return vendor{}
}

type effort struct {
	Effort string `json:"effort"`
}

// kind is an object that says nothing but its type.
type kind struct {
	Type string `json:"type"`
}

// think says how hard to think; "" leaves it to the service.
func (v vendor) think(q *request, asked string) {
	switch {
	case asked == "":
	case v.efforts == nested:
		q.Reasoning = &effort{asked}
	case v.efforts == switched && asked == "none":
		q.Thinking = &kind{"disabled"}
	case v.efforts == enabling:
		on := asked != "none"
		q.EnableThinking = &on
	default:
		q.ReasoningEffort = asked
	}
}

// cache says what a service can be told to find its cache again. The key is made from how the
// conversation begins, so that it stays the same as long as there is something to find.
func (v vendor) cache(q *request, tools []byte, c *conversation) {
	if v.cacheKey {
		h := sha256.New()
		h.Write([]byte(q.Model))
		h.Write(tools)
		h.Write(encode(c.begin()))
		q.CacheKey = hex.EncodeToString(h.Sum(nil))[:32]
	}
	if v.marked(q.Model) {
		q.Cache = ephemeral() // on the last block, which moves on by itself
	}
}

// marked says whether a model wants cache marks.
func (v vendor) marked(model string) bool { return v.marks && strings.Contains(model, "anthropic/") }

func ephemeral() *kind { return &kind{"ephemeral"} }
