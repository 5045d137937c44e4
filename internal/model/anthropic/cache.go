package anthropic

import (
	"bytes"
	"slices"
)

// mark asks the provider to keep what stands before and in its block. What is kept is found again
// only where a request has a mark of its own, or up to 20 blocks before one, and a request may have
// four: https://platform.claude.com/docs/en/build-with-claude/prompt-caching
type mark struct {
	Type string `json:"type"`
}

const userMarks = 3 // besides the one after tools and system

// markCache puts a mark after what never changes and one at the end of each of the last user turns.
// The last of them is what the next request reads, the one before it is where the request before
// ended: with a mark there it is found however many blocks have come since. One more is for a
// request that came to nothing. The API's own single moving mark would do with one, but loses the
// whole conversation to a round of many blocks, and imitations do not know it.
func markCache(q *request, turns []turn) {
	m := &mark{"ephemeral"}
	switch {
	case len(q.System) > 0:
		q.System[len(q.System)-1].Mark = m
	case len(q.Tools) > 0:
		q.Tools[len(q.Tools)-1].Mark = m
	}
	left := userMarks
	for i := len(turns) - 1; i >= 0 && left > 0; i-- {
		if t := &turns[i]; t.role == "user" {
			t.content = slices.Clone(t.content)
			last := &t.content[len(t.content)-1]
			*last = last.marked()
			left--
		}
	}
}

// marked is an entry with a mark, as the last field of its block.
func (e entry) marked() entry {
	switch e.block.(type) {
	case part, outcome:
		e.json = slices.Concat(bytes.TrimSuffix(e.json, []byte("}")), []byte(`,"cache_control":{"type":"ephemeral"}}`))
	}
	return e
}
