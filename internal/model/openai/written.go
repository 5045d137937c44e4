package openai

import (
	"bytes"
	"slices"
	"sync"
)

// written is the last request as it was written. A conversation grows at its end, so nearly all of the
// next request is in it already, and to write that again would take longer than all else of a round. What
// is compared is what is to be written and not where it comes from, so that nobody has to say that
// something has changed; and texts that are the same one in memory compare at once. The zero value is
// ready; it is safe for concurrent use.
type written struct {
	mu   sync.Mutex
	last *writing
}

// writing is a request and its JSON. It does not change.
type writing struct {
	messages []message
	json     []byte
	begin    int   // where the first message begins
	ends     []int // where each message ends
}

// encode is the JSON of a request, nil when it has none. It takes the messages over.
func (w *written) encode(q request) []byte {
	w.mu.Lock()
	last := w.last
	w.mu.Unlock()
	if last == nil {
		last = &writing{}
	}
	messages := q.Messages
	q.Messages = nil
	const none = "null}"
	head, ok := bytes.CutSuffix(encode(q), []byte(none)) // the messages are its last field
	if !ok {
		return nil
	}
	now := &writing{messages: messages, begin: len(head) + 1, ends: make([]int, 0, len(messages))}
	now.json = append(slices.Grow(now.json, len(head)+len(last.json)-last.begin+4<<10), head...)
	now.json = append(now.json, '[')
	same := 0
	for same < min(len(messages), len(last.messages)) && messages[same].same(&last.messages[same]) {
		now.ends = append(now.ends, last.ends[same]-last.begin+now.begin)
		same++
	}
	if same > 0 {
		now.json = append(now.json, last.json[last.begin:last.ends[same-1]]...)
	}
	for i := same; i < len(messages); i++ {
		one := encode(&messages[i])
		if one == nil {
			return nil
		}
		if i > 0 {
			now.json = append(now.json, ',')
		}
		now.json = append(now.json, one...)
		now.ends = append(now.ends, len(now.json))
	}
	for i := range messages {
		if _, text := messages[i].Content.(string); !text && messages[i].Content != nil {
			messages[i].Content = parted{} // pictures need not be kept twice
		}
	}
	now.json = append(now.json, "]}"...)
	w.mu.Lock()
	w.last = now
	w.mu.Unlock()
	return now.json
}

// parted stands for parts in the messages that are kept.
type parted struct{}

// same says whether two messages are written the same. It may say no where they are: parts, which come
// with pictures and thoughts, are always written again.
func (m *message) same(n *message) bool {
	return m.Role == n.Role && m.ToolCallID == n.ToolCallID && sameText(m.Content, n.Content) &&
		sameField(m.ReasoningContent, n.ReasoningContent) && sameField(m.Reasoning, n.Reasoning) &&
		bytes.Equal(m.ReasoningDetails, n.ReasoningDetails) && (m.ReasoningDetails == nil) == (n.ReasoningDetails == nil) &&
		slices.EqualFunc(m.ToolCalls, n.ToolCalls, func(a, b call) bool {
			return a.ID == b.ID && a.Type == b.Type && a.Function == b.Function && bytes.Equal(a.Extra, b.Extra)
		})
}

func sameText(a, b any) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	s, is := a.(string)
	t, also := b.(string)
	return is && also && s == t
}

func sameField(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }
