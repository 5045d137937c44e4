package tape

import (
	"bytes"
	"encoding/json"
	"reflect"

	"jig/internal/model"
	"jig/internal/msg"
)

// Talk follows one conversation, request by request. It is not safe for concurrent use.
type Talk struct {
	Values *Values

	notices map[string]bool // what jobs reported
	asked   model.Request   // the last one that was answered
	reply   msg.Blocks
	replied bool

	told  model.Request // what system and tools below were made of
	named Request
}

// NewTalk begins one.
func NewTalk(v *Values) *Talk { return &Talk{Values: v, notices: map[string]bool{}} }

// Notice tells that a text which a request will bring is a job's report.
func (t *Talk) Notice(text string) { t.notices[text] = true }

// Ask writes a request down in full: system, tools and settings, and of the messages what came since
// the last reply. With whole, and where the conversation before it is not what it was, it is all of
// them.
func (t *Talk) Ask(r model.Request, whole bool) Request {
	if t.named.System == nil || r.System != t.told.System || !reflect.DeepEqual(r.Tools, t.told.Tools) {
		system := t.Values.Take(r.System)
		t.named = Request{System: &system, Tools: []Tool{}}
		for _, x := range r.Tools {
			var input bytes.Buffer
			if json.Compact(&input, x.Input) != nil {
				input.Reset()
				input.Write(x.Input)
			}
			t.named.Tools = append(t.named.Tools, Tool{Name: x.Name, Doc: t.Values.Take(x.Doc), Input: Args(t.Values.Take(input.String()))})
		}
		t.told = r
	}
	q := t.named
	q.Settings = settings(r)
	from, same := t.since(r.Messages)
	if q.Afresh = !same || whole; q.Afresh {
		from = 0
	}
	tools := map[string]string{}
	for _, m := range r.Messages[max(from-1, 0):] {
		for _, c := range m.Blocks.Calls() {
			tools[c.ID] = c.Name
		}
	}
	q.Messages = []Message{}
	for _, m := range r.Messages[from:] {
		notice := m.Role == msg.User && t.notices[m.Blocks.Text()]
		q.Messages = append(q.Messages, Message{Role: m.Role, Notice: notice, Blocks: t.Values.heard(m.Blocks, tools, m.Role == msg.User && !notice)})
	}
	return q
}

// since says where in a conversation new messages begin, and whether those before are as they were.
func (t *Talk) since(now []msg.Message) (from int, same bool) {
	old := t.asked.Messages
	if Changed(old, now) >= 0 {
		return 0, false
	}
	from = len(old)
	if !t.replied {
		return from, true
	}
	if from < len(now) && spoke(now[from], t.reply) {
		return from + 1, true
	}
	return from, len(t.reply) == 0
}

// Before are the messages that the next request must begin with.
func (t *Talk) Before() []msg.Message {
	out := t.asked.Messages[:len(t.asked.Messages):len(t.asked.Messages)]
	if t.replied && len(t.reply) > 0 {
		out = append(out, msg.Message{Role: msg.Assistant, Blocks: t.reply})
	}
	return out
}

// Answered goes on to the next request. replied is false where the request failed.
func (t *Talk) Answered(r model.Request, reply msg.Blocks, replied bool) {
	t.asked, t.reply, t.replied = r, reply, replied
}

// Changed is the first of the old messages that is not there any more, -1 when all are.
func Changed(old, now []msg.Message) int {
	for i, m := range old {
		if i >= len(now) || !same(m, now[i]) {
			return i
		}
	}
	return -1
}

func same(a, b msg.Message) bool {
	if a.Role == msg.Assistant {
		return spoke(b, a.Blocks)
	}
	return a.Role == b.Role && reflect.DeepEqual(a.Blocks, b.Blocks)
}

// spoke reports whether a message is a reply. The ids of its calls came later.
func spoke(m msg.Message, reply msg.Blocks) bool {
	if m.Role != msg.Assistant || len(m.Blocks) != len(reply) {
		return false
	}
	for i, b := range m.Blocks {
		x := reply[i]
		if c, ok := b.(msg.Call); ok {
			c.ID = ""
			b = c
		}
		if c, ok := x.(msg.Call); ok {
			c.ID = ""
			x = c
		}
		if !reflect.DeepEqual(b, x) {
			return false
		}
	}
	return true
}

// Trim leaves out what is as it was in the request before, nil for the first one.
func (q Request) Trim(before *Request) Request {
	if before == nil {
		if reflect.DeepEqual(*q.Settings, Settings{}) {
			q.Settings = nil
		}
		if len(q.Tools) == 0 {
			q.Tools = nil
		}
		return q
	}
	if *q.System == *before.System {
		q.System = nil
	}
	if reflect.DeepEqual(q.Tools, before.Tools) {
		q.Tools = nil
	}
	if reflect.DeepEqual(q.Settings, before.Settings) {
		q.Settings = nil
	}
	return q
}
