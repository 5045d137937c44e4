package modeltest

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"
)

// The rules of OpenAI's cache: https://developers.openai.com/api/docs/guides/prompt-caching
// Nothing has to be asked for. A prompt of 1,024 tokens or more is kept for a few minutes, and the
// longest beginning that an earlier prompt of the same model and key had is read, in steps of 128
// tokens. The order is tools, then messages.

const (
	chatLeast = 1024 * bytesPerToken
	chatStep  = 128 * bytesPerToken
)

func (c *Cache) chat(body []byte, now time.Time) (u CacheUse) {
	var q struct {
		Model    string            `json:"model"`
		Key      string            `json:"prompt_cache_key"`
		Effort   string            `json:"reasoning_effort"`
		Tools    []json.RawMessage `json:"tools"`
		Messages []json.RawMessage `json:"messages"`
	}
	if json.Unmarshal(body, &q) != nil {
		return u
	}
	var text []byte
	for _, x := range append(q.Tools, q.Messages...) {
		text = append(append(text, x...), '\n')
	}
	u.Input = len(text)
	key := sha256.Sum256([]byte(fmt.Sprintf("%s|%s|%s", q.Model, q.Key, q.Effort)))
	reading := true
	for at := chatStep; at <= len(text); at += chatStep {
		key = sha256.Sum256(append(key[:], text[at-chatStep:at]...))
		if at < chatLeast {
			continue
		}
		if reading = reading && c.has(key, now); reading {
			u.Read = at
		}
		c.keep(key, now, shortLife)
	}
	return u
}
