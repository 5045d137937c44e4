package modeltest

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	_ "image/gif" // the formats the API takes, but for WebP
	_ "image/jpeg"
	_ "image/png"
	"net/http"
	"slices"
	"strings"
)

// system is a string or a list of texts.
func (c *messagesCheck) system() *problem {
	switch v := c.q["system"].(type) {
	case nil, string:
		return nil
	case list:
		for i, x := range v {
			b, ok := x.(object)
			if !ok {
				return invalid("system.%d: Input should be a valid dictionary", i)
			}
			if b["type"] != "text" {
				return invalid("system.%d.type: Input should be 'text'", i)
			}
			if p := c.text(b, fmt.Sprintf("system.%d", i), "system"); p != nil {
				return p
			}
		}
		return nil
	}
	return invalid("system: Input should be a valid string or list")
}

// messages checks each message by itself and keeps its blocks.
func (c *messagesCheck) messages() *problem {
	l, ok := c.q["messages"].(list)
	if !ok {
		return invalid("messages: Input should be a valid list")
	}
	if len(l) == 0 {
		return invalid("messages: at least one message is required")
	}
	if len(l) > 100_000 {
		return invalid("messages: List should have at most 100000 items after validation, not %d", len(l))
	}
	for i, x := range l {
		at := fmt.Sprintf("messages.%d", i)
		m, ok := x.(object)
		if !ok {
			return invalid("%s: Input should be a valid dictionary", at)
		}
		for _, k := range slices.Sorted(keys(m)) {
			if k != "role" && k != "content" {
				return invalid("%s.%s: Extra inputs are not permitted", at, k)
			}
		}
		role, _ := m["role"].(string)
		switch {
		case m["role"] == nil:
			return invalid("%s.role: Field required", at)
		case role == "system":
			// Some of the newest models take it between turns; the client under test has no use for it.
			return invalid("messages: Unexpected role \"system\". The Messages API accepts a top-level `system` parameter, not \"system\" as an input message role.")
		case role != "user" && role != "assistant":
			return invalid("messages: Unexpected role \"%v\". Allowed roles are \"user\" or \"assistant\"", m["role"])
		}
		t := turnCheck{role: role}
		if p := c.content(m["content"], &t, at); p != nil {
			return p
		}
		c.turns = append(c.turns, t)
	}
	return nil
}

func (c *messagesCheck) content(v any, t *turnCheck, at string) *problem {
	switch v := v.(type) {
	case nil:
		return invalid("%s.content: Field required", at)
	case string:
		// An assistant message may be the empty string, a user message not.
		if v == "" && t.role == "user" {
			return invalid("%s: user messages must have non-empty content", at)
		}
		if v != "" {
			t.blocks = append(t.blocks, object{"type": "text", "text": v})
		}
		return nil
	case list:
		for i, x := range v {
			b, ok := x.(object)
			if !ok {
				return invalid("%s.content.%d: Input should be a valid dictionary", at, i)
			}
			if p := c.block(b, t.role, fmt.Sprintf("%s.content.%d", at, i), at); p != nil {
				return p
			}
			t.blocks = append(t.blocks, b)
		}
		return nil
	}
	return invalid("%s.content: Input should be a valid string or list", at)
}

// blockKeys are the fields of each kind of block that is played.
var blockKeys = map[string]string{
	"text":              "type text cache_control citations",
	"image":             "type source cache_control transformations",
	"tool_use":          "type id name input cache_control caller toolset_name",
	"tool_result":       "type tool_use_id content is_error cache_control toolset_name",
	"thinking":          "type thinking signature",
	"redacted_thinking": "type data",

	"server_tool_use":        "type id name input cache_control caller",
	"web_search_tool_result": "type tool_use_id content cache_control caller",
}

func (c *messagesCheck) block(b object, role, at, message string) *problem {
	kind, _ := b["type"].(string)
	if b["type"] == nil {
		return invalid("%s.type: Field required", at)
	}
	known, ok := blockKeys[kind]
	if !ok {
		return invalid("%s: Input tag '%v' found using 'type' does not match any of the expected tags: 'image', 'redacted_thinking', 'text', 'thinking', 'tool_result', 'tool_use'", at, b["type"])
	}
	for _, k := range slices.Sorted(keys(b)) {
		if !slices.Contains(strings.Fields(known), k) {
			return invalid("%s.%s.%s: Extra inputs are not permitted", at, kind, k)
		}
	}
	if p := c.mark(b, at); p != nil {
		return p
	}
	if kind == "tool_result" && role != "user" {
		return invalid("%s: `tool_result` blocks can only be in `user` messages", message)
	}
	if (kind == "tool_use" || kind == "thinking" || kind == "redacted_thinking") && role != "assistant" {
		return invalid("%s: `%s` blocks can only be in `assistant` messages", message, kind)
	}
	switch kind {
	case "text":
		if l, _ := b["citations"].(list); c.latest && role == "user" && len(l) > 0 {
			return invalid("%s.text.citations: Extra inputs are not permitted", at)
		}
		return c.text(b, at, "messages")
	case "image":
		return c.image(b, at)
	case "tool_use":
		return c.use(b, at+".tool_use")
	case "tool_result":
		return c.result(b, at+".tool_result")
	case "server_tool_use", "web_search_tool_result":
		return nil
	}
	return c.thought(b, at)
}

// text: https://github.com/anthropics/claude-code/issues/59812 and
// https://github.com/anthropics/claude-code/issues/23440
func (c *messagesCheck) text(b object, at, where string) *problem {
	s, ok := b["text"].(string)
	switch {
	case b["text"] == nil:
		return invalid("%s.text.text: Field required", at)
	case !ok:
		return invalid("%s.text.text: Input should be a valid string", at)
	case s == "":
		return invalid("%s: text content blocks must be non-empty", where)
	case blank(s):
		return invalid("%s: text content blocks must contain non-whitespace text", where)
	}
	return nil
}

// image: https://platform.claude.com/docs/en/build-with-claude/vision
func (c *messagesCheck) image(b object, at string) *problem {
	at += ".image.source"
	src, ok := b["source"].(object)
	if !ok {
		return invalid("%s: Field required", at)
	}
	if src["type"] != "base64" {
		if src["type"] == "url" || src["type"] == "file" {
			return nil
		}
		return invalid("%s: Input tag '%v' found using 'type' does not match any of the expected tags: 'base64', 'url', 'file'", at, src["type"])
	}
	mime, _ := src["media_type"].(string)
	if !slices.Contains([]string{"image/jpeg", "image/png", "image/gif", "image/webp"}, mime) {
		return invalid("%s.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'", at)
	}
	data, ok := src["data"].(string)
	raw, err := base64.StdEncoding.DecodeString(data)
	switch {
	case !ok:
		return invalid("%s.base64.data: Field required", at)
	case err != nil:
		return invalid("%s.base64: invalid base64 data", at)
	case len(data) > 5<<20:
		return invalid("%s.base64: image exceeds 5 MB maximum: %d bytes > %d bytes", at, len(data), 5<<20)
	case http.DetectContentType(raw) != mime:
		return invalid("%s.base64: The image was specified using the %s media type, but does not appear to be a valid %s image", at, mime, mime)
	}
	if size, _, err := image.DecodeConfig(bytes.NewReader(raw)); err == nil {
		c.pictures = append(c.pictures, picture{at, max(size.Width, size.Height)})
	}
	return nil
}

// picture is where a picture stands and how long its longer side is, in pixels.
type picture struct {
	at   string
	side int
}

// sizes: https://platform.claude.com/docs/en/build-with-claude/vision#evaluate-image-size
func (c *messagesCheck) sizes() *problem {
	for _, p := range c.pictures {
		if p.side > 8000 {
			return invalid("%s.base64.data: At least one of the image dimensions exceed max allowed size: 8000 pixels", p.at)
		}
		if len(c.pictures) > 20 && p.side > 2000 {
			return invalid("%s.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels", p.at)
		}
	}
	return nil
}

// use: https://github.com/HKUDS/nanobot/pull/4356 for the ids
func (c *messagesCheck) use(b object, at string) *problem {
	for _, k := range []string{"id", "name", "input"} {
		if _, ok := b[k]; !ok {
			return invalid("%s.%s: Field required", at, k)
		}
	}
	id, ok := b["id"].(string)
	if !ok || !named(id, 1<<10) {
		return invalid("%s.id: String should match pattern '^[a-zA-Z0-9_-]+$'", at)
	}
	if name, ok := b["name"].(string); !ok || !named(name, 128) {
		return invalid("%s.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'", at)
	}
	if _, ok := b["input"].(object); !ok {
		return invalid("%s.input: Input should be a valid dictionary", at)
	}
	return nil
}

// result: https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls
func (c *messagesCheck) result(b object, at string) *problem {
	if id, ok := b["tool_use_id"].(string); !ok || !named(id, 1<<10) {
		return invalid("%s.tool_use_id: String should match pattern '^[a-zA-Z0-9_-]+$'", at)
	}
	failed := b["is_error"] == true
	if v := b["is_error"]; v != nil && v != true && v != false {
		return invalid("%s.is_error: Input should be a valid boolean", at)
	}
	switch v := b["content"].(type) {
	case nil, string:
		return nil
	case list:
		for i, x := range v {
			at := fmt.Sprintf("%s.content.%d", at, i)
			p, ok := x.(object)
			kind, _ := p["type"].(string)
			switch {
			case !ok:
				return invalid("%s: Input should be a valid dictionary", at)
			case kind != "text" && kind != "image":
				return invalid("%s: Input tag '%v' found using 'type' does not match any of the expected tags: 'image', 'text'", at, p["type"])
			case failed && kind != "text":
				return invalid("%s: all content must be type \"text\" if `is_error` is true", at)
			}
			if p := c.block(p, "user", at, at); p != nil {
				return p
			}
		}
		return nil
	}
	return invalid("%s.content: Input should be a valid string or list", at)
}

// thought checks that reasoning comes back as it was given:
// https://platform.claude.com/docs/en/build-with-claude/thinking#preserving-thinking-blocks
func (c *messagesCheck) thought(b object, at string) *problem {
	if b["type"] == "redacted_thinking" {
		data, ok := b["data"].(string)
		if _, given := c.server.thoughts[data]; !ok || !given {
			return invalid("%s: Invalid `data` in `redacted_thinking` block", at)
		}
		return nil
	}
	text, ok := b["thinking"].(string)
	if !ok {
		return invalid("%s.thinking.thinking: Field required", at)
	}
	signature, ok := b["signature"].(string)
	if !ok {
		return invalid("%s.thinking.signature: Field required", at)
	}
	given, ok := c.server.thoughts[signature]
	if !ok {
		return invalid("%s: Invalid `signature` in `thinking` block", at)
	}
	if given != text {
		return invalid("%s: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.", at)
	}
	return nil
}

// conversation checks the messages together.
func (c *messagesCheck) conversation() *problem {
	if c.turns[0].role != "user" {
		return invalid("messages: first message must use the \"user\" role")
	}
	if p := c.pairs(); p != nil {
		return p
	}
	last := c.turns[len(c.turns)-1]
	if last.role == "assistant" {
		return c.prefill(last, len(c.turns)-1)
	}
	return c.budgetNeedsThinking()
}

// pairs: every call is answered, once, by the results that come first after it. They may be spread
// over several user messages, but anything else ends them.
// https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls
// https://github.com/anthropics/claude-code/issues/3632
func (c *messagesCheck) pairs() *problem {
	seen := map[string]bool{}
	var open, known, answered []string
	running := false // results may still come
	for i, t := range c.turns {
		if t.role == "assistant" && len(open) > 0 {
			return c.unanswered(i, open)
		}
		if t.role == "assistant" && (i == 0 || c.turns[i-1].role != "assistant") {
			known, answered, running = nil, nil, true
		}
		for n, b := range t.blocks {
			switch b["type"] {
			case "tool_use":
				id := b["id"].(string)
				if seen[id] { // https://github.com/anthropics/claude-code/issues/20901
					return invalid("messages.%d.content.%d: `tool_use` ids must be unique", i, n)
				}
				seen[id] = true
				open, known = append(open, id), append(known, id)
			case "tool_result":
				id := b["tool_use_id"].(string)
				switch {
				case slices.Contains(answered, id): // https://github.com/vectorize-io/hindsight/pull/4250
					return invalid("messages.%d.content.%d: each tool_use must have a single result. Found multiple `tool_result` blocks with id: %s", i, n, id)
				case !slices.Contains(known, id):
					return invalid("messages.%d.content.%d: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", i, n, id)
				case !running:
					return c.unanswered(i, open)
				}
				answered = append(answered, id)
				open = slices.DeleteFunc(open, func(x string) bool { return x == id })
			default:
				if t.role == "user" {
					running = false
					if len(open) > 0 {
						return c.unanswered(i, open)
					}
				}
			}
		}
	}
	if len(open) > 0 {
		return c.unanswered(len(c.turns), open)
	}
	if len(seen) > 0 && len(c.toolNames) == 0 { // https://portkey.ai/error-library/tool-definition-error-10488
		return invalid("Requests which include `tool_use` or `tool_result` blocks must define tools.")
	}
	return nil
}

func (c *messagesCheck) unanswered(i int, open []string) *problem {
	return invalid("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s. Each `tool_use` block must have a corresponding `tool_result` block in the next message.", i-1, strings.Join(open, ", "))
}

// prefill: a conversation that ends with the assistant.
// https://platform.claude.com/docs/en/api/errors#prefill-not-supported
func (c *messagesCheck) prefill(last turnCheck, i int) *problem {
	thinking, _ := c.q["thinking"].(object)
	n := len(last.blocks)
	if p := c.server.paused; p != nil { // it is sent back as it is:
		// https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons#pause-turn
		for _, h := range p.Hosted {
			if !slices.ContainsFunc(last.blocks, func(b object) bool { return string(encode(b)) == string(encode(value(h))) }) {
				return invalid("messages.%d: the blocks of a paused turn cannot be modified", i)
			}
		}
		return nil
	}
	switch {
	case c.version >= 46, thinking["type"] == "enabled", thinking["type"] == "adaptive":
		return invalid("This model does not support assistant message prefill. The conversation must end with a user message.")
	case n > 0 && last.blocks[n-1]["type"] == "thinking":
		return invalid("messages.%d: The final block in an assistant message cannot be `thinking`.", i)
	case n > 0:
		if s, ok := last.blocks[n-1]["text"].(string); ok && strings.TrimRight(s, " \t\r\n") != s {
			return invalid("messages: final assistant content cannot end with trailing whitespace")
		}
	}
	return nil
}

// budgetNeedsThinking: with a thinking budget, the assistant turn whose calls are being answered
// begins with its reasoning.
// https://platform.claude.com/docs/en/build-with-claude/extended-thinking
func (c *messagesCheck) budgetNeedsThinking() *problem {
	thinking, _ := c.q["thinking"].(object)
	last := c.turns[len(c.turns)-1]
	if thinking["type"] != "enabled" || len(c.turns) < 2 || len(last.blocks) == 0 || last.blocks[0]["type"] != "tool_result" {
		return nil
	}
	i := len(c.turns) - 2
	if len(c.turns[i].blocks) == 0 {
		return nil
	}
	kind := c.turns[i].blocks[0]["type"]
	if kind != "thinking" && kind != "redacted_thinking" {
		return invalid("messages.%d.content.0.type: Expected `thinking` or `redacted_thinking`, but found `%v`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks).", i, kind) //nolint:misspell // the service spells it so
	}
	return nil
}
