package config

import "testing"

func TestForeignTextIsShownOnOneHonestLine(t *testing.T) {
	for in, want := range map[string]string{
		"plain é 日本":     "plain é 日本",
		"a\nb\tc\rd":     `a\u{a}b\u{9}c\u{d}d`,
		"\x1b[31mred":    `\u{1b}[31mred`,
		"a\u202eb":       `a\u{202e}b`,
		"a\u200bb\ufeff": `a\u{200b}b\u{feff}`,
		"a\u00a0b\u3164": `a\u{a0}b\u{3164}`,
		"\xff\xfe":       `\xff\xfe`,
		"\u2028":         `\u{2028}`,
		"\ufffd":         "\ufffd",
	} {
		equalTo(t, in, Shown(in), want)
	}
	long := make([]byte, 1000)
	for i := range long {
		long[i] = 'x'
	}
	equalTo(t, "length of a long text", len(Shown(string(long))), maxShown+len("…"))
}
