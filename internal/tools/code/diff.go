package code

import (
	"bytes"
	"fmt"
	"strconv"
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
	a, b := withoutMark(before), withoutMark(after)
	if bytes.Equal(a, b) {
		return nil
	}
	// Only the lines between the first and the last difference are compared, with those around them
	// that a hunk shows: a change in a large file costs what the change is worth.
	head := commonLines(a, b)
	tail := commonEnd(a[head:], b[head:])
	from, to := head, tail
	for range udiff.DefaultContextLines {
		from = bytes.LastIndexByte(a[:max(from-1, 0)], '\n') + 1
		to -= bytes.IndexByte(a[len(a)-to:], '\n') + 1
	}
	x, y := string(a[from:len(a)-to]), string(b[from:len(b)-to])
	if allCRLF(a) && allCRLF(b) {
		x, y = strings.ReplaceAll(x, "\r\n", "\n"), strings.ReplaceAll(y, "\r\n", "\n")
	}
	if x == y {
		return nil
	}
	if len(x)+len(y) > maxCompared {
		return block(p, string(a[head:len(a)-tail]), string(b[head:len(b)-tail]), bytes.Count(a[:head], []byte("\n")))
	}
	text, err := udiff.ToUnified("a", "b", x, udiff.Lines(x, y), udiff.DefaultContextLines)
	if err != nil {
		return nil // cannot happen: the edits are made from these texts
	}
	_, text, _ = strings.Cut(text, "\n") // --- a
	_, text, _ = strings.Cut(text, "\n") // +++ b
	return card(p, text, bytes.Count(a[:from], []byte("\n")))
}

// block is a change as one hunk that takes the old lines away and puts the new ones there. Of more
// than is shown only the numbers are worked out.
func block(p spot, x, y string, down int) *tool.Card {
	c := &tool.Card{Kind: tool.CardDiff, Title: p.shown(), Removed: countLines(x), Added: countLines(y)}
	var out strings.Builder
	fmt.Fprintf(&out, "@@ -%d,%d +%d,%d @@\n", down+1, c.Removed, down+1, c.Added)
	rest := c.Removed + c.Added
	for _, side := range []struct{ sign, text string }{{"-", x}, {"+", y}} {
		for line := range strings.Lines(side.text) {
			if out.Len()+len(line) > maxCard {
				break
			}
			rest--
			out.WriteString(side.sign + line)
			if !strings.HasSuffix(line, "\n") {
				out.WriteString("\n\\ No newline at end of file\n")
			}
		}
	}
	c.Text = readable([]byte(out.String()))
	if rest > 0 {
		c.Text += notShown(rest)
	}
	return c
}

func countLines(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}

// card counts the lines of a diff and moves its hunks down by what was not compared.
func card(p spot, text string, down int) *tool.Card {
	c := &tool.Card{Kind: tool.CardDiff, Title: p.shown()}
	var out strings.Builder
	for line := range strings.Lines(text) {
		switch line[0] {
		case '+':
			c.Added++
		case '-':
			c.Removed++
		case '@':
			line = moved(line, down)
		}
		out.WriteString(line)
	}
	c.Text = shorten(readable([]byte(out.String())))
	return c
}

// moved is a hunk's header, such as @@ -1,3 +1,4 @@, with both places further down.
func moved(header string, down int) string {
	parts := strings.Split(header, " ")
	for i, sign := range []string{"-", "+"} {
		line, count, more := strings.Cut(strings.TrimPrefix(parts[i+1], sign), ",")
		n, _ := strconv.Atoi(line)
		parts[i+1] = sign + strconv.Itoa(n+down)
		if more {
			parts[i+1] += "," + count
		}
	}
	return strings.Join(parts, " ")
}

// commonLines is the length of the whole lines with which both begin.
func commonLines[T string | []byte](a, b T) int {
	n, lines := 0, 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		if n++; a[n-1] == '\n' {
			lines = n
		}
	}
	return lines
}

// commonEnd is the length of the whole lines with which both end.
func commonEnd[T string | []byte](a, b T) int {
	n, lines := 0, 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		if a[len(a)-1-n] == '\n' {
			lines = n
		}
		n++
	}
	if n == len(a) && n == len(b) {
		return n
	}
	return lines
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
	return text[:cut] + notShown(strings.Count(text[cut:], "\n"))
}

func notShown(lines int) string { return fmt.Sprintf("\\ %s not shown\n", count(lines, "more line")) }
