package openai

import (
	"bytes"
	"slices"
	"sync"

	"jig/internal/model"
	"jig/internal/msg"
)

// conversations keeps what was written of the last request, for the next one. It is safe for concurrent
// use: who comes second starts anew.
type conversations struct {
	mu    sync.Mutex
	last  *conversation
	tools toolset
}

// toolset is tools as they are written, "null" where there are none and "" where they cannot be.
type toolset struct {
	list []model.Tool
	json []byte
}

// toolset writes tools, where they are not those of the last request.
func (k *conversations) toolset(list []model.Tool) []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	if t := k.tools; len(t.json) > 0 && slices.EqualFunc(t.list, list, sameTool) {
		return t.json
	}
	var out []tool
	for _, t := range list {
		out = append(out, tool{"function", function{t.Name, t.Doc, t.Input}})
	}
	k.tools = toolset{slices.Clone(list), encode(out)}
	return k.tools.json
}

func sameTool(a, b model.Tool) bool {
	return a.Name == b.Name && a.Doc == b.Doc && bytes.Equal(a.Input, b.Input)
}

// of is the conversation with all its messages. What the last request had is not written again.
func (k *conversations) of(f form, messages []msg.Message) *conversation {
	k.mu.Lock()
	c := k.last
	k.last = nil
	k.mu.Unlock()
	if c == nil || c.form != f || !c.leadsTo(messages) {
		c = newConversation(f)
	}
	for _, m := range messages[len(c.said):] {
		c.add(m)
	}
	return c
}

// keep takes a conversation back. What was written of it for another request is not needed any more.
func (k *conversations) keep(c *conversation) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.last = c
}

// form is what else decides how messages are written.
type form struct {
	provider, model, system string
	without                 without
	tools, marks            bool
}

// conversation writes messages one after the other. It can go on at the end, so that a round of a long
// session costs no more than one of a short one.
type conversation struct {
	form
	said   []msg.Message // what is written
	ids    model.IDs
	names  map[string]string // of the tools, by call
	tooled bool              // there are tools, or were where the last message stands

	json  []byte    // all messages but the last, each with a comma behind it
	first []message // of those, two at most
	last  *message  // may be joined with what comes
}

func newConversation(f form) *conversation {
	c := &conversation{form: f, ids: model.WireIDs(nil), names: map[string]string{}, tooled: f.tools}
	if f.system != "" {
		c.append(message{Role: "system", Content: f.system})
	}
	return c
}

// leadsTo says whether other messages begin with those that are written.
func (c *conversation) leadsTo(messages []msg.Message) bool {
	return len(c.said) <= len(messages) && slices.EqualFunc(c.said, messages[:len(c.said)], msg.Message.Same)
}

func (c *conversation) add(x msg.Message) {
	x.Blocks = slices.Clone(x.Blocks) // whoever changes a block later changes theirs
	c.said = append(c.said, x)
	own := x.Provider == c.provider && x.Model == c.model
	c.ids.Add(c.given(x, own))
	if x.Role != msg.Assistant {
		c.tooled = c.tools || c.tooled && slices.ContainsFunc(x.Blocks, isResult)
		for _, u := range user(x.Blocks, c.ids, c.names) {
			c.append(u)
		}
		return
	}
	for _, b := range x.Blocks {
		if call, ok := b.(msg.Call); ok {
			c.tooled = true
			c.names[call.ID] = call.Name
		}
	}
	a, ok := assistant(x.Blocks, c.ids, own, own && c.tooled && !c.without.thoughts)
	if !ok {
		return
	}
	if c.without.padded && a.ReasoningContent == nil {
		a.ReasoningContent = new(string)
		*a.ReasoningContent = noThought
	}
	c.append(a)
}

// given leaves the ids that providers gave out of what other models said: some services take only ids
// of the form they give themselves, and everyone takes ours.
func (c *conversation) given(x msg.Message, own bool) msg.Message {
	if own {
		return x
	}
	x.Blocks = slices.Clone(x.Blocks)
	for n, b := range x.Blocks {
		if call, ok := b.(msg.Call); ok {
			call.Given = ""
			x.Blocks[n] = call
		}
	}
	return x
}

// append takes in a message as it is sent. Neighbours of the user's side become one, because the
// templates of many models want the two sides to take turns; without.between puts a word of the model
// after results as well.
func (c *conversation) append(m message) {
	if c.last != nil && m.Role == "user" {
		switch {
		case c.last.Role == "user":
			c.last.Content = content(slices.Concat(parts(c.last.Content), parts(m.Content)))
			return
		case c.last.Role == "tool" && c.without.between:
			c.append(message{Role: "assistant", Content: noAnswer})
		}
	}
	if c.last != nil {
		if len(c.first) < keyed {
			c.first = append(c.first, *c.last)
		}
		c.json = append(append(c.json, c.encode(*c.last)...), ',')
	}
	c.last = &m
}

// keyed is how many messages tell one conversation from another, where a service wants to be told.
const keyed = 2

// begin is the first messages.
func (c *conversation) begin() []message {
	if c.last != nil && len(c.first) < keyed {
		return append(slices.Clip(c.first), *c.last)
	}
	return c.first
}

// encode writes a message that gets no additions any more. All of them can be written: what comes from
// elsewhere as JSON was read as such.
func (c *conversation) encode(m message) []byte {
	if text, ok := m.Content.(string); ok && c.marks && m.Role == "system" {
		m.Content = []part{{Type: "text", Text: text, Cache: ephemeral()}}
	}
	return encode(m)
}

// after is a request with tools and the conversation behind all else, nil where it cannot be written.
// The messages come last so that a longer conversation begins with the same bytes.
func (c *conversation) after(q request, tools []byte) []byte {
	head, ok := bytes.CutSuffix(encode(q), []byte("}"))
	if !ok || len(tools) == 0 {
		return nil
	}
	if string(tools) != "null" {
		head = slices.Concat(head, []byte(`,"tools":`), tools)
	}
	var last []byte
	if c.last != nil {
		last = c.encode(*c.last)
	}
	return slices.Concat(head, []byte(`,"messages":[`), c.json, last, []byte("]}"))
}
