package shell

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"jig/internal/process"
)

// What of an output a model reads. Past either limit the beginning and the end are kept: the first
// says what was done, the last how it ended.
const (
	maxLines  = 512
	headLines = 128
	tailLines = 384
	maxBytes  = 32 << 10
	headBytes = 8 << 10
	tailBytes = 22 << 10
)

// capped is what the model reads of an output: lines are counted first, then bytes.
func capped(o process.Output) string {
	head, tail := text(o.Head), text(o.Tail)
	total := o.Bytes + int64(len(head)-len(o.Head)) + int64(len(tail)-len(o.Tail))
	if o.Gap == 0 {
		head += tail
		tail = head
	}
	if o.Lines <= maxLines {
		if o.Gap == 0 && len(head) <= maxBytes {
			return head
		}
		return bytesOmitted(head, tail, total)
	}
	first, whole := firstLines(head, headLines)
	last, wholeLast := lastLines(tail, tailLines)
	if !whole || !wholeLast {
		// One of the parts is larger than all we may show, so it is cut by bytes, and how many
		// lines that leaves out cannot be said of a stretch that was not kept.
		return bytesOmitted(first, last, total)
	}
	mark := fmt.Sprintf("[... %d lines omitted — pipe through head/tail/grep to narrow the output ...]\n", o.Lines-headLines-tailLines)
	all := first + mark + last
	if len(all) <= maxBytes {
		return all
	}
	front, back := ends(all, all)
	begin, end := len(first), len(first)+len(mark)
	if len(front) >= end || len(all)-len(back) <= begin {
		return front + bytesMark(front, int64(len(all)-len(front)-len(back))) + back
	}
	return bytesOmitted(first, last, total) // the mark itself would be cut, or left out
}

// bytesOmitted joins the beginning of one text and the end of another around what they leave out of
// a total.
func bytesOmitted(head, tail string, total int64) string {
	front, back := ends(head, tail)
	return front + bytesMark(front, total-int64(len(front)+len(back))) + back
}

func ends(head, tail string) (front, back string) {
	return string(process.FirstBytes([]byte(head), headBytes)), string(process.LastBytes([]byte(tail), tailBytes))
}

func bytesMark(before string, n int64) string {
	mark := fmt.Sprintf("[... %d bytes omitted ...]\n", n)
	if strings.HasSuffix(before, "\n") {
		return mark
	}
	return "\n" + mark
}

// firstLines is the first n lines of s, and whether s holds them all.
func firstLines(s string, n int) (string, bool) {
	at := 0
	for range n {
		i := strings.IndexByte(s[at:], '\n')
		if i < 0 {
			return s, false
		}
		at += i + 1
	}
	return s[:at], true
}

// lastLines is the last n lines of s, and whether s holds them all. A last line need not be ended.
func lastLines(s string, n int) (string, bool) {
	at := len(s)
	if strings.HasSuffix(s, "\n") {
		at--
	}
	for range n {
		i := strings.LastIndexByte(s[:at], '\n')
		if i < 0 {
			return s, false
		}
		at = i
	}
	return s[at+1:], true
}

// text makes every byte that is no UTF-8 one U+FFFD. The cleaner has done so already but for the
// beginning of a rune that nothing followed.
func text(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	return string([]rune(string(b)))
}
