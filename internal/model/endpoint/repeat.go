package endpoint

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"strings"
)

// Mark stands for a text, or several, without keeping them.
type Mark [sha256.Size]byte

// MarkOf is the mark of texts in their order.
func MarkOf(texts ...string) Mark {
	h := sha256.New()
	for _, t := range texts {
		_, _ = h.Write(binary.AppendUvarint(nil, uint64(len(t))))
		_, _ = h.Write([]byte(t))
	}
	return Mark(h.Sum(nil))
}

// Repeat counts n bytes that came again as if they were kept, and says whether there may be more: a
// stream of nothing but repeats must end as well.
func (s *Size) Repeat(n int) bool { return s.Part() && s.Room(n) }

// MarkArgs is the mark of a call's arguments. It is the same however they are spaced, with none at
// all for an empty object, and for a string that has them in it: gateways that repeat a call change
// so much of it.
func MarkArgs(args string) Mark {
	var inner string
	if strings.HasPrefix(args, `"`) && json.Unmarshal([]byte(args), &inner) == nil {
		args = inner
	}
	var b bytes.Buffer
	switch {
	case Blank(args):
		args = "{}"
	case json.Compact(&b, []byte(args)) == nil:
		args = b.String()
	}
	return MarkOf(args)
}

// Blank says whether arguments have nothing in them.
func Blank(args string) bool { return strings.Trim(args, " \t\r\n") == "" }

// Calls finds the calls of a reply that came twice, which must not run twice: gateways send an event
// again, or at the end the sum of what they had sent in pieces, at times under another index. Only
// calls with the same id can be the same one; a model may well ask twice for the same thing.
type Calls struct {
	seen map[Mark]bool
	full map[Mark]bool
}

// Full is told of every call before the first is asked about. It makes those that have nothing but
// their id and name repeats of one with arguments.
func (c *Calls) Full(id, name, args string) {
	if !Blank(args) {
		if c.full == nil {
			c.full = map[Mark]bool{}
		}
		c.full[MarkOf(id, name)] = true
	}
}

// Again says whether a call is the same as one that it was asked about before.
func (c *Calls) Again(id, name, args string) bool {
	if id == "" {
		return false
	}
	if Blank(args) && c.full[MarkOf(id, name)] {
		return true
	}
	sum := MarkArgs(args)
	m := MarkOf(id, name, string(sum[:]))
	again := c.seen[m]
	if c.seen == nil {
		c.seen = map[Mark]bool{}
	}
	c.seen[m] = true
	return again
}
