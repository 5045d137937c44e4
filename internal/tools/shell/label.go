package shell

import (
	"fmt"
	"strings"
	"time"
	"unicode"
)

// labelWidth is the most characters of a command in titles, notices and lists.
const labelWidth = 64

// label is a command in one line.
func label(command string) string {
	first, rest, more := strings.Cut(strings.TrimSpace(command), "\n")
	s := strings.TrimRight(strings.Map(visible, first), " ")
	if more && strings.TrimSpace(rest) != "" {
		s += " …"
	}
	if r := []rune(s); len(r) > labelWidth {
		s = string(r[:labelWidth-1]) + "…"
	}
	return s
}

// visible keeps a title from moving the cursor of whoever prints it.
func visible(r rune) rune {
	switch {
	case r == '\t':
		return ' '
	case r == '\r', unicode.Is(unicode.Cc, r), unicode.Is(unicode.Bidi_Control, r):
		return -1
	}
	return r
}

// title is a call's header.
func title(label string, background, outside bool) string {
	var b strings.Builder
	b.WriteString("[" + Name + " ")
	if background {
		b.WriteString("(background) ")
	}
	b.WriteString(label)
	if outside {
		b.WriteString(" " + outsideMark)
	}
	b.WriteString("]")
	return b.String()
}

const outsideMark = "(outside the sandbox)"

// elapsed is a duration in notices and rows: <1s, 42s, 1m 12s, 2h 5m.
func elapsed(d time.Duration) string {
	s := int64(d / time.Second)
	switch {
	case s < 1:
		return "<1s"
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm %ds", s/60, s%60)
	}
	return fmt.Sprintf("%dh %dm", s/3600, s/60%60)
}
