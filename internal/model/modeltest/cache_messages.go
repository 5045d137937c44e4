package modeltest

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// The rules of the messages API's cache:
// https://platform.claude.com/docs/en/build-with-claude/prompt-caching
// A mark keeps one thing, the prompt up to the end of its block, in the order tools, system,
// messages. A request reads the longest thing that is kept under its own bytes, at one of its marks
// or at most 20 steps before one, the mark itself being the first. The model, the thinking settings
// and the effort belong to every prompt, the tool choice to its messages. Pictures that come or go
// are said to matter too; that no client can help, and it is left out.

const (
	lookBack  = 20
	shortLife = 5 * time.Minute
	longLife  = time.Hour
)

// leastKept is how many tokens a prompt must have to be kept, by the table on that page.
func leastKept(model string) int {
	has := func(names ...string) bool {
		for _, n := range names {
			if strings.HasPrefix(model, "claude-"+n) {
				return true
			}
		}
		return false
	}
	switch {
	case has("opus-4-6", "opus-4-5", "haiku-4-5"):
		return 4096
	case has("opus-4-7", "mythos-preview", "3-5-haiku", "3-haiku"):
		return 2048
	case has("opus-5", "fable-5", "mythos-5"):
		return 512
	}
	return 1024
}

// block is one block of a prompt.
type block struct {
	kind string
	step int               // which step of the look-back it belongs to
	end  int               // bytes of the prompt up to its end
	key  [sha256.Size]byte // of the prompt up to its end
	life time.Duration     // of its mark, 0 when it has none
}

// prompt is a request as the cache sees it.
type prompt struct {
	each   bool
	blocks []block
}

func (p *prompt) add(kind, before string, raw json.RawMessage) {
	raw, life := unmarked(raw)
	b := block{kind: kind, life: life}
	var last block
	if n := len(p.blocks); n > 0 {
		last = p.blocks[n-1]
		b.step = last.step + 1
		if !p.each && last.kind == kind && (kind == "tool_use" || kind == "tool_result") {
			b.step = last.step
		}
	}
	b.end = last.end + len(raw)
	b.key = sha256.Sum256([]byte(fmt.Sprintf("%x|%s|%s|%s", last.key, kind, before, raw)))
	p.blocks = append(p.blocks, b)
}

// unmarked takes the marks out of a block, which are no part of what is kept, and leaves everything
// else as it was written.
func unmarked(raw json.RawMessage) (json.RawMessage, time.Duration) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return raw, 0
	}
	var out bytes.Buffer
	var life time.Duration
	for d.More() {
		key, err := d.Token()
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil {
			return raw, 0
		}
		if key == "cache_control" {
			life = shortLife
			if bytes.Contains(value, []byte(`"1h"`)) {
				life = longLife
			}
			continue
		}
		var inner []json.RawMessage
		if key == "content" && json.Unmarshal(value, &inner) == nil {
			value = nil
			for _, x := range inner {
				x, at := unmarked(x)
				life = max(life, at) // a mark inside counts for the block around it
				value = append(append(value, x...), ',')
			}
		}
		fmt.Fprintf(&out, "%q:%s,", key, value)
	}
	return out.Bytes(), life
}

func (c *Cache) prompt(body []byte) (*prompt, string) {
	var q struct {
		Model      string            `json:"model"`
		Thinking   json.RawMessage   `json:"thinking"`
		Output     json.RawMessage   `json:"output_config"`
		ToolChoice json.RawMessage   `json:"tool_choice"`
		Mark       json.RawMessage   `json:"cache_control"`
		Tools      []json.RawMessage `json:"tools"`
		System     json.RawMessage   `json:"system"`
		Messages   []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if json.Unmarshal(body, &q) != nil {
		return &prompt{}, ""
	}
	p := &prompt{each: c.EachBlock}
	before := fmt.Sprintf("%s %s %s", q.Model, q.Thinking, q.Output)
	for _, t := range q.Tools {
		p.add("tool", before, t)
		before = ""
	}
	for _, b := range blocksOf(q.System) {
		p.add("system", before, b)
		before = ""
	}
	before += string(q.ToolChoice)
	for _, m := range q.Messages {
		before += m.Role
		for _, b := range blocksOf(m.Content) {
			var head struct {
				Type string `json:"type"`
			}
			_ = json.Unmarshal(b, &head)
			p.add(head.Type, before, b)
			before = ""
		}
	}
	if n := len(p.blocks); n > 0 && len(q.Mark) > 0 && p.blocks[n-1].life == 0 {
		p.blocks[n-1].life = shortLife // the mark that the API places by itself
	}
	return p, q.Model
}

// blocksOf takes a string for a list of one text.
func blocksOf(raw json.RawMessage) []json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		return list
	}
	if len(raw) == 0 {
		return nil
	}
	return []json.RawMessage{json.RawMessage(`{"type":"text","text":` + string(raw) + `}`)}
}

// messages is the outcome for one request, and how many of the written bytes live for an hour.
func (c *Cache) messages(body []byte, now time.Time) (u CacheUse, hour int) {
	p, model := c.prompt(body)
	if len(p.blocks) == 0 {
		return u, 0
	}
	u.Input = p.blocks[len(p.blocks)-1].end
	for i := len(p.blocks) - 1; i >= 0 && u.Read == 0; i-- {
		if p.blocks[i].life > 0 {
			u.Read = c.find(p, i, now)
		}
	}
	for _, b := range p.blocks {
		if b.life == 0 || b.end < leastKept(model)*bytesPerToken {
			continue
		}
		c.keep(b.key, now, b.life)
		if n := b.end - u.Read - u.Written; n > 0 {
			u.Written += n
			if b.life == longLife {
				hour = u.Written // everything before it as well
			}
		}
	}
	return u, hour / bytesPerToken
}

// find looks back from a mark and is how much is read there.
func (c *Cache) find(p *prompt, mark int, now time.Time) int {
	for i := mark; i >= 0 && p.blocks[mark].step-p.blocks[i].step < lookBack; i-- {
		inRun := i < mark && p.blocks[i+1].step == p.blocks[i].step
		if !inRun && c.has(p.blocks[i].key, now) {
			c.renew(p.blocks[i].key, now)
			return p.blocks[i].end
		}
	}
	return 0
}
