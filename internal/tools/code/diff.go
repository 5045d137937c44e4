package code

import (
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"jig/internal/tool"
)

// maxCard is the most bytes of a diff that are shown.
const maxCard = 256 << 10

// maxCompared is how many bytes of changed lines are compared line by line. What differs more is
// shown as one block, since nobody reads it and comparing it takes long.
const maxCompared = 2 << 20

// diff is the change from one content to another as a card, nil if there is none. Bytes are compared,
// and made readable only then, so that two different bytes never look like no change.
func diff(p spot, before, after []byte) *tool.Card {
	a, b := string(withoutMark(before)), string(withoutMark(after))
	if allCRLF(before) && allCRLF(after) {
		a, b = strings.ReplaceAll(a, "\r\n", "\n"), strings.ReplaceAll(b, "\r\n", "\n")
	}
	if a == b {
		return nil
	}
	text, err := udiff.ToUnified("a", "b", a, edits(a, b), udiff.DefaultContextLines)
	if err != nil {
		return nil // cannot happen: the edits are made from these texts
	}
	_, text, _ = strings.Cut(text, "\n") // --- a
	_, text, _ = strings.Cut(text, "\n") // +++ b
	c := &tool.Card{Kind: tool.CardDiff, Title: p.shown()}
	for line := range strings.Lines(text) {
		switch line[0] {
		case '+':
			c.Added++
		case '-':
			c.Removed++
		}
	}
	c.Text = shorten(readable([]byte(text)))
	return c
}

// edits turns a into b. What both begin and end with is set aside first.
func edits(a, b string) []udiff.Edit {
	head := commonLines(a, b)
	tail := commonEnd(a[head:], b[head:])
	x, y := a[head:len(a)-tail], b[head:len(b)-tail]
	if len(x)+len(y) > maxCompared {
		return []udiff.Edit{{Start: head, End: len(a) - tail, New: y}}
	}
	list := udiff.Lines(x, y)
	for i := range list {
		list[i].Start += head
		list[i].End += head
	}
	return list
}

// commonLines is the length of the whole lines with which both begin.
func commonLines(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return strings.LastIndexByte(a[:n], '\n') + 1
}

// commonEnd is the length of the whole lines with which both end.
func commonEnd(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	if n == len(a) && n == len(b) {
		return n
	}
	at := strings.IndexByte(a[len(a)-n:], '\n')
	if at < 0 {
		return 0
	}
	return n - at - 1
}

// shorten keeps a diff showable: what is left out is counted in a line that no hunk can contain.
func shorten(text string) string {
	if len(text) <= maxCard {
		return text
	}
	cut := strings.LastIndexByte(text[:maxCard], '\n') + 1
	if cut == 0 {
		return clip(text, maxCard) + "\n"
	}
	return text[:cut] + fmt.Sprintf("\\ %s not shown\n", count(strings.Count(text[cut:], "\n"), "more line"))
}
