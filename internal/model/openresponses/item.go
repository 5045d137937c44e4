package openresponses

import (
	"bytes"
	"encoding/json"
	"strings"

	"jig/internal/model"
	"jig/internal/model/endpoint"
)

// words are a text that is normally a string. An object or a number stands for its JSON, as some
// servers send arguments and codes so; anything else is read as none.
type words string

func (w *words) UnmarshalJSON(b []byte) error {
	*w = ""
	switch {
	case len(b) > 0 && b[0] == '"':
		return json.Unmarshal(b, (*string)(w))
	case len(b) > 0 && (b[0] == '{' || b[0] >= '0' && b[0] <= '9'):
		*w = words(bytes.ToValidUTF8(b, []byte("\ufffd")))
	}
	return nil
}

// item is one output item that is coming or has come: a message, reasoning, a call, or another kind,
// which is passed over.
type item struct {
	index   *int
	kind    string
	id      string
	status  string
	phase   string
	done    bool
	mark    endpoint.Mark   // of the whole item, once it is done
	parts   []*text         // of a message
	thought strings.Builder // of reasoning, for people
	section int             // the part of the reasoning that came last
	raw     []byte          // of reasoning that is whole, as it came
	callID  string
	name    string
	args    strings.Builder
}

type text struct {
	index   int
	refusal bool
	text    strings.Builder
}

// shape is an item on the wire.
type shape struct {
	Type      string  `json:"type"`
	ID        words   `json:"id"`
	Status    words   `json:"status"`
	Phase     words   `json:"phase"`
	CallID    words   `json:"call_id"`
	Name      words   `json:"name"`
	Arguments words   `json:"arguments"`
	Content   []piece `json:"content"`
	Summary   []piece `json:"summary"`
}

type piece struct {
	Type    string `json:"type"`
	Text    words  `json:"text"`
	Refusal words  `json:"refusal"`
}

// read takes an item apart; one that cannot be read has no type and is passed over.
func read(raw []byte) shape {
	var s shape
	if json.Unmarshal(raw, &s) != nil {
		return shape{}
	}
	return s
}

// begin opens an item, or gives the one that was opened by the same event before; nil says that there
// is no room for it.
func (a *answer) begin(index *int, raw []byte) *item {
	s := read(raw)
	for _, it := range a.items {
		if s.ID != "" && it.kind == s.Type && it.id == string(s.ID) && it.callID == string(s.CallID) {
			a.Repeat(len(raw))
			return it
		}
	}
	return a.add(index, s)
}

// add opens an item that is new; nil says that there is no room for it.
func (a *answer) add(index *int, s shape) *item {
	if !a.Part() {
		return nil
	}
	it := &item{index: index, kind: s.Type}
	a.items = append(a.items, it)
	if !a.label(it, s) {
		return nil
	}
	return it
}

// label takes over what an item says of itself. Its beginning and its end both may, and imitations
// leave out one or the other.
func (a *answer) label(it *item, s shape) bool {
	for _, p := range []struct {
		to   *string
		from words
	}{{&it.id, s.ID}, {&it.status, s.Status}, {&it.phase, s.Phase}, {&it.callID, s.CallID}} {
		if p.from == "" || string(p.from) == *p.to {
			continue
		}
		if !a.Room(len(p.from)) {
			return false
		}
		*p.to = string(p.from)
	}
	if it.kind == "function_call" && it.name == "" && s.Name != "" {
		if !a.Room(len(s.Name)) {
			return false
		}
		it.name = string(s.Name)
		a.tell(model.Delta{Call: it.name})
	}
	return true
}

// find tells which item an event belongs to, nil when it is none of a kind. The index decides; among
// items of the same index, as of imitations that always send 0, the id does. The id alone would not
// do: some gateways send another one in every event.
func (a *answer) find(ev event, kind string) *item {
	return a.open(ev.OutputIndex, string(ev.ItemID), kind)
}

func (a *answer) open(index *int, id, kind string) *item {
	var last *item
	for i := len(a.items) - 1; i >= 0; i-- {
		it := a.items[i]
		if it.kind != kind || index != nil && it.index != nil && *it.index != *index {
			continue
		}
		if id != "" && it.id == id {
			return it
		}
		if last == nil {
			last = it
		}
	}
	return last
}

// finish takes an item that is whole; false says that there is no room for it. What the pieces
// brought is corrected by it, and what they did not bring is told now.
func (a *answer) finish(index *int, raw []byte) bool {
	s := read(raw)
	it := a.open(index, string(s.ID), s.Type)
	mark, id := endpoint.MarkOf(string(raw)), s.mark(raw)
	if a.done[id] && id != (endpoint.Mark{}) || it != nil && it.done && it.repeats(s, index, mark) {
		return a.Repeat(len(raw))
	}
	if it == nil || it.done {
		if it = a.add(index, s); it == nil {
			return false
		}
	}
	it.done, it.mark = true, mark
	if a.done == nil {
		a.done = map[endpoint.Mark]bool{}
	}
	a.done[id] = true
	if !a.label(it, s) {
		return false
	}
	switch it.kind {
	case "message":
		for i, p := range s.Content {
			t := a.part(it, i, p.Type == "refusal")
			if t == nil {
				return false
			}
			if more, ok := a.replace(&t.text, string(p.Text+p.Refusal)); ok && more != "" {
				a.tell(model.Delta{Text: more})
			}
		}
	case "reasoning":
		if !a.Room(len(raw)) {
			return false
		}
		it.raw = bytes.ToValidUTF8(raw, []byte("\ufffd"))
		if it.thought.Len() == 0 {
			if said := s.thought(); said != "" && a.Keep(&it.thought, said) {
				a.tell(model.Delta{Reasoning: said})
			}
		}
	case "function_call":
		a.replace(&it.args, string(s.Arguments))
	}
	return a.Excess() == ""
}

// mark is what an item that is whole can be known by when it comes again, nothing when it has no id.
// Calls are known by the id that their results go under: that of the item can be another every time.
func (s shape) mark(raw []byte) endpoint.Mark {
	id := first(string(s.CallID), string(s.ID))
	switch {
	case id == "":
		return endpoint.Mark{}
	case s.Type == "function_call":
		sum := endpoint.MarkArgs(string(s.Arguments))
		return endpoint.MarkOf(id, string(s.Name), string(sum[:]))
	}
	return endpoint.MarkOf(string(raw))
}

// repeats says whether an item that is whole is the one that has its place and is so too. Of calls
// without an id only those are that have a place: a model may well ask twice for the same thing.
func (it *item) repeats(s shape, index *int, mark endpoint.Mark) bool {
	if s.Type == "function_call" {
		return s.CallID == "" && s.ID == "" && it.mark == mark && index != nil && it.index != nil
	}
	return it.mark == mark || s.ID != "" && it.id == string(s.ID)
}

// thought is what reasoning says openly: its own words, or else a summary of them.
func (s shape) thought() string {
	var own, summary []string
	for _, p := range s.Content {
		own = append(own, string(p.Text))
	}
	for _, p := range s.Summary {
		summary = append(summary, string(p.Text))
	}
	if t := strings.Join(own, "\n\n"); t != "" {
		return t
	}
	return strings.Join(summary, "\n\n")
}

// replace puts a whole text in place of one that came in pieces, and returns what the pieces had not
// brought. A whole text that is empty replaces nothing: some imitations send one. False says that
// there is no room for it.
func (a *answer) replace(b *strings.Builder, whole string) (more string, ok bool) {
	had := b.String()
	if whole == "" || whole == had {
		return "", true
	}
	if !a.Room(max(0, len(whole)-len(had))) {
		return "", false
	}
	b.Reset()
	b.WriteString(whole)
	more, found := strings.CutPrefix(whole, had)
	if !found {
		return "", true // another text than was told: the reply has it
	}
	return more, true
}

// part is a message's part of an index; nil says that there is no room for it.
func (a *answer) part(it *item, index int, refusal bool) *text {
	for _, p := range it.parts {
		if p.index == index && p.refusal == refusal {
			return p
		}
	}
	if !a.Part() {
		return nil
	}
	p := &text{index: index, refusal: refusal}
	it.parts = append(it.parts, p)
	return p
}

// said adds words of a message. Imitations may not have announced it.
func (a *answer) said(ev event) {
	it := a.find(ev, "message")
	if it == nil {
		if it = a.begin(ev.OutputIndex, []byte(`{"type":"message"}`)); it == nil {
			return
		}
	}
	if it.over(ev) {
		a.Repeat(len(ev.Delta))
		return
	}
	p := a.part(it, ev.PartIndex, ev.Type == "response.refusal.delta")
	if p != nil && ev.Delta != "" && a.Keep(&p.text, string(ev.Delta)) {
		a.tell(model.Delta{Text: string(ev.Delta)})
	}
}

// over says whether a piece is of an item that is whole already: its events were sent twice.
func (it *item) over(ev event) bool {
	return it.done && ev.ItemID != "" && string(ev.ItemID) == it.id
}

// thought adds words of reasoning. Its sections become paragraphs.
func (a *answer) thought(ev event) {
	it := a.find(ev, "reasoning")
	if it == nil {
		if it = a.begin(ev.OutputIndex, []byte(`{"type":"reasoning"}`)); it == nil {
			return
		}
	}
	if it.over(ev) {
		a.Repeat(len(ev.Delta))
		return
	}
	s := string(ev.Delta)
	if at := max(ev.Summary, ev.PartIndex); at != it.section {
		it.section = at
		if it.thought.Len() > 0 {
			s = "\n\n" + s
		}
	}
	if s != "" && a.Keep(&it.thought, s) {
		a.tell(model.Delta{Reasoning: s})
	}
}

// head is what has to go back with an item for its reasoning to be accepted; nil when the item never
// came to its end.
func (it *item) head(refusal bool) []byte {
	if !it.done {
		return nil
	}
	h := head{Type: it.kind, ID: it.id, Status: it.status, Phase: it.phase}
	if refusal {
		h.Part = "refusal"
	}
	return encode(h)
}
