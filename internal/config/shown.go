package config

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const maxShown = 200 // characters of a foreign text in a message

// Shown makes a foreign text safe to show on one line: whatever is invisible, moves
// the cursor or reorders what follows is written as an escape such as \u{202e}, and a
// long text is cut.
func Shown(s string) string { return shown(s, maxShown) }

// ShownLine is Shown for a line of our own that quotes foreign texts: it is cut much later.
func ShownLine(s string) string { return shown(s, 10*maxShown) }

func shown(s string, most int) string {
	var b strings.Builder
	n := 0
	for i := 0; i < len(s); {
		if n == most {
			b.WriteString("…")
			break
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case deceptive(r):
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			b.WriteRune(r)
		}
		i += size
		n++
	}
	return b.String()
}

// deceptive tells whether a character can make a line read as something else.
func deceptive(r rune) bool {
	if r == ' ' {
		return false
	}
	return !unicode.IsPrint(r) || r == 0x3164 || r == 0x115f || r == 0x1160 || r == 0xffa0 || r == 0x2800
}

// mixesAlphabets tells whether a name has Latin letters beside letters of an alphabet
// that looks like it: such a name is made to be taken for another.
func mixesAlphabets(name string) bool {
	latin, other := false, false
	for _, r := range name {
		latin = latin || unicode.Is(unicode.Latin, r)
		other = other || unicode.In(r, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee, unicode.Coptic)
	}
	return latin && other
}

// quoted is a foreign text in quotes, safe to show.
func quoted(s string) string { return `"` + Shown(s) + `"` }
