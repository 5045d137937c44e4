package modeltest

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// The rules of caches that work by themselves. A prompt of some length is kept for a few minutes, and
// the longest beginning that an earlier prompt of the same model and settings had is read, in steps.
// OpenAI: 1,024 tokens, in steps of 128; a prompt_cache_key tells prompts apart.
// https://developers.openai.com/api/docs/guides/prompt-caching
// Google: 2,048 tokens for the 2.5 models and 4,096 for the later ones.
// https://ai.google.dev/gemini-api/docs/caching

const step = 128 * bytesPerToken

// automatic is the outcome of a request in a dialect without marks.
func (c *Cache) automatic(d Dialect, path string, body []byte, now time.Time) (u CacheUse) {
	var q map[string]json.RawMessage
	if json.Unmarshal(body, &q) != nil {
		return u
	}
	least, about := 1024, []string{"model", "prompt_cache_key", "reasoning_effort", "reasoning"}
	order := []string{"tools", "messages"}
	switch d {
	case Responses:
		order = []string{"instructions", "tools", "input"}
	case Gemini:
		least, about, order = 4096, []string{"generationConfig"}, []string{"systemInstruction", "tools", "contents"}
		if strings.Contains(path, "gemini-2.5") {
			least = 2048
		}
	}
	before := path
	for _, k := range about {
		before += "|" + string(q[k])
	}
	var text []byte
	for _, k := range order {
		text = append(text, strings.TrimSuffix(string(q[k]), "]")...) // so that a longer list begins as a shorter one
	}
	u.Input = len(text)
	key := sha256.Sum256([]byte(fmt.Sprint(d, before)))
	reading := true
	for at := step; at <= len(text); at += step {
		key = sha256.Sum256(append(key[:], text[at-step:at]...))
		if at < least*bytesPerToken {
			continue
		}
		if reading = reading && c.has(key, now); reading {
			u.Read = at
		}
		c.keep(key, now, shortLife)
	}
	return u
}
