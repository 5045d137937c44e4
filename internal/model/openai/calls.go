package openai

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"jig/internal/model"
	"jig/internal/model/endpoint"
	"jig/internal/msg"
)

// fragment is a piece of a tool call.
type fragment struct {
	Index    ordinal `json:"index"`
	ID       ident   `json:"id"`
	Function struct {
		Name      string    `json:"name"`
		Arguments arguments `json:"arguments"`
	} `json:"function"`
	// Extra is what Google's models want back with their calls, in the form in which they are
	// reached through this dialect: https://ai.google.dev/gemini-api/docs/thought-signatures
	Extra json.RawMessage `json:"extra_content"`
}

// whole says whether a fragment has arguments that are whole.
func (f *fragment) whole() bool {
	var s span
	args := string(f.Function.Arguments)
	s.read(args)
	return s.whole(args)
}

// ordinal is a place in a list, nil where none is told. Some servers write it with a decimal point or
// in quotes; what is none is not worth a reply.
type ordinal struct{ n *int }

// UnmarshalJSON never fails.
func (o *ordinal) UnmarshalJSON(b []byte) error {
	const most = 1 << 31
	if f, err := strconv.ParseFloat(strings.Trim(string(b), `"`), 64); err == nil && f > -most && f < most {
		n := int(f)
		o.n = &n
	}
	return nil
}

// ident is an id. Some servers count them, and write numbers.
type ident string

// UnmarshalJSON takes a number as it is written.
func (i *ident) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && (b[0] == '-' || b[0] >= '0' && b[0] <= '9') {
		*i = ident(b)
		return nil
	}
	return json.Unmarshal(b, (*string)(i))
}

// arguments are JSON in a string; some servers send the JSON itself.
type arguments string

func (a *arguments) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] != '"' && string(b) != "null" {
		*a = arguments(bytes.ToValidUTF8(b, []byte("\ufffd")))
		return nil
	}
	return json.Unmarshal(b, (*string)(a))
}

// calls are the tool calls of a reply, and where to find them: going through all of them at every
// piece would take a hostile server's event minutes.
type calls struct {
	all     []*open
	index   map[int]*open           // the last of each index
	without *open                   // the last without an index
	id      map[string]*open        // the last of each id
	whole   map[endpoint.Mark]*open // the first of each id, name and arguments, and of no id but these
}

// open is a tool call that is still coming.
type open struct {
	at    int // its place among all
	index *int
	id    string
	name  string
	args  strings.Builder
	span  span
	sum   *endpoint.Mark // of the arguments, once they are whole
	extra json.RawMessage
}

func (c *calls) begin(index *int) *open {
	o := &open{at: len(c.all), index: index}
	c.all = append(c.all, o)
	if index == nil {
		c.without = o
		return o
	}
	if c.index == nil {
		c.index = map[int]*open{}
	}
	c.index[*index] = o
	return o
}

// find tells which call a fragment continues; nil says that it begins a new one. The index decides
// where there is one, but imitations leave it out, or send 0 for every call, so a name after
// arguments that are already whole begins a new call, and so does a name with another id.
func (c *calls) find(f *fragment) *open {
	name, args := f.Function.Name, string(f.Function.Arguments)
	if f.Index.n == nil && name == "" && f.ID != "" && c.id[string(f.ID)] != nil {
		return c.id[string(f.ID)]
	}
	last := c.without
	if f.Index.n == nil && len(c.all) > 0 {
		last = c.all[len(c.all)-1]
	} else if f.Index.n != nil {
		if o := c.index[*f.Index.n]; o != nil && (last == nil || o.at > last.at) {
			last = o
		}
	}
	switch {
	case last == nil, name == "", last.name == "":
		return last
	case f.ID != "" && last.id != "" && string(f.ID) != last.id, name != last.name:
		return nil
	case !endpoint.Blank(args) && last.sum != nil:
		return nil
	}
	return last
}

// repeated is the call that a fragment has all over again, nil when there is none. A message that
// closes a stream repeats also what has no id.
func (c *calls) repeated(f *fragment, closing bool) *open {
	args := string(f.Function.Arguments)
	if !f.whole() {
		return nil
	}
	sum := endpoint.MarkArgs(args)
	if o := c.whole[mark(string(f.ID), f.Function.Name, sum)]; o != nil && f.Function.Name != "" && (f.ID != "" || closing) {
		return o
	}
	if o := c.whole[mark("", f.Function.Name, sum)]; o != nil && o.id == "" && closing {
		return o
	}
	// Nothing can come after arguments that are whole but the same ones.
	if o := c.find(f); o != nil && f.Function.Name == "" && o.sum != nil && *o.sum == sum {
		return o
	}
	return nil
}

// name gives a call its id. It has one for good, so that pieces need not be looked up under it.
func (c *calls) name(o *open, id string) {
	o.id = id
	if c.id == nil {
		c.id = map[string]*open{}
	}
	c.id[id] = o
}

func mark(id, name string, sum endpoint.Mark) endpoint.Mark {
	return endpoint.MarkOf(id, name, string(sum[:]))
}

// take notes what a call has come to.
func (c *calls) take(o *open) {
	switch whole := o.span.whole(o.args.String()); {
	case !whole:
		o.sum = nil
		return
	case o.sum != nil:
		return
	}
	sum := endpoint.MarkArgs(o.args.String())
	o.sum = &sum
	if c.whole == nil {
		c.whole = map[endpoint.Mark]*open{}
	}
	for _, m := range []endpoint.Mark{mark(o.id, o.name, sum), mark("", o.name, sum)} {
		if c.whole[m] == nil {
			c.whole[m] = o
		}
	}
}

// blocks are the calls, each once.
func (c *calls) blocks() msg.Blocks {
	var once endpoint.Calls
	for _, o := range c.all {
		once.Full(o.id, o.name, o.args.String())
	}
	var out msg.Blocks
	for _, o := range c.all {
		if once.Again(o.id, o.name, o.args.String()) {
			continue
		}
		call := msg.Call{Given: o.id, Name: o.name, Args: o.args.String()}
		if o.extra != nil {
			call.Raw = encode(beside{o.extra})
		}
		out = append(out, call)
	}
	return out
}

// call adds a fragment to the call it belongs to; false says that there is no room for it.
func (a *answer) call(f *fragment, closing bool) bool {
	args := string(f.Function.Arguments)
	c := a.calls.repeated(f, closing)
	if c != nil {
		if !a.Repeat(len(args)) {
			return false
		}
		args = ""
	} else if c = a.calls.find(f); c == nil {
		if !a.Part() {
			return false
		}
		c = a.calls.begin(f.Index.n)
	}
	if c.id == "" && f.ID != "" {
		if !a.Room(len(f.ID)) {
			return false
		}
		a.calls.name(c, string(f.ID))
	}
	if c.name == "" && f.Function.Name != "" {
		if !a.Room(len(f.Function.Name)) {
			return false
		}
		c.name = f.Function.Name
		a.say(model.Delta{Call: c.name})
	}
	if len(f.Extra) > 0 && string(f.Extra) != "null" && !bytes.Equal(f.Extra, c.extra) {
		if !a.Room(len(f.Extra)) {
			return false
		}
		c.extra = bytes.Clone(bytes.ToValidUTF8(f.Extra, []byte("\ufffd")))
	}
	if c.sum != nil && endpoint.Blank(args) {
		if !a.Room(len(args)) {
			return false
		}
		args = "" // space after the end
	}
	if !a.Keep(&c.args, args) {
		return false
	}
	c.span.read(args)
	a.calls.take(c)
	return true
}

// span follows arguments as they come to find where they are whole. It looks at every byte once:
// reading all that has come at every piece would take minutes for a file of a megabyte.
type span struct {
	first           byte // what they begin with, 0 when nothing has come
	depth           int
	quoted, escaped bool
	ended           bool
	past            bool // something came after the end
	valid           *bool
}

func (s *span) read(piece string) {
	for i := range len(piece) {
		b := piece[i]
		space := b == ' ' || b == '\t' || b == '\r' || b == '\n'
		switch {
		case s.ended:
			s.past = s.past || !space
		case s.escaped:
			s.escaped = false
		case s.quoted && b == '\\':
			s.escaped = true
		case b == '"' && s.first == 0:
			s.first, s.quoted = b, true
		case b == '"':
			s.quoted = !s.quoted
			s.ended = s.first == '"'
		case s.quoted:
		case s.first == 0 && !space:
			s.first, s.depth = b, 1
		case (s.first == '{' || s.first == '[') && b == s.first:
			s.depth++
		case s.first == '{' && b == '}', s.first == '[' && b == ']':
			s.depth--
			s.ended = s.depth == 0
		}
	}
}

// whole says whether all that was read, which is handed in again, is whole JSON.
func (s *span) whole(all string) bool {
	switch {
	case s.past:
		return false
	case s.ended:
		if s.valid == nil {
			v := json.Valid([]byte(all))
			s.valid = &v
		}
		return *s.valid
	}
	const longest = 32 // of a number or a word, which has no end of its own
	return s.first != 0 && s.first != '{' && s.first != '[' && s.first != '"' && len(all) <= longest && json.Valid([]byte(all))
}
