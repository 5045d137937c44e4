package regex

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// hostilePatterns are made to take long or to take much memory. What the size of a
// pattern may be bounds both.
var hostilePatterns = []string{
	`(?:a{1000}){1000}`, `(?:a{1000}){100000}`, `\w{1000}`, `\w{100000}`, `((((((((((a?)*)*)*)*)*)*)*)*)*)*`, `(?:){4294967295}`, `(?:a?){4294967295}`,
	`(?:(?:(?:a{99}){99}){99}){99}`, `[\w--[\d&&[^5]]]`, `(?i)[\w]{500}`, `.*.*.*.*.*=.*`, `(?:a|b|ab)*c`, `\b{4294967295}`,
	strings.Repeat("(", 300), strings.Repeat("[", 300), strings.Repeat("a|", 500), strings.Repeat("a?", 500) + strings.Repeat("a", 500), strings.Repeat("(?i)s", 100),
	"a" + strings.Repeat("*", 300), `(?:\p{L}\P{L}){200}`, `(?x)` + strings.Repeat(" # \n", 200), `\x{`, `[[:`, `(?P<`, `\p{`, `(?-u:\xff)(?u:é)`,
}

func FuzzParse(f *testing.F) {
	for _, p := range hostilePatterns {
		f.Add(p, false)
	}
	g := newPatternMaker(5)
	for range 100 {
		f.Add(g.pattern(), true)
	}
	f.Fuzz(func(t *testing.T, pattern string, ignoreCase bool) {
		if len(pattern) > 2000 {
			return
		}
		re, err := Compile(pattern, Options{IgnoreCase: ignoreCase})
		if err != nil {
			if msg := err.Error(); strings.Contains(msg, "\n") || !utf8.ValidString(msg) {
				t.Errorf("pattern %q: the error is not one line of text: %q", pattern, msg)
			}
			var e *SyntaxError
			if !errors.As(err, &e) || e.Offset < 0 || e.Offset > len(pattern) {
				t.Errorf("pattern %q: %#v is not an error at an offset of the pattern", pattern, err)
			}
		} else {
			if n := len(re.prog.insts); n > sizeLimit/costState+1 {
				t.Errorf("pattern %q: %d instructions are more than the limit on its size allows", pattern, n)
			}
			re.Matcher().MatchLine([]byte("aé1\xff"))
		}
	})
}

func FuzzSearch(f *testing.F) {
	for _, p := range []string{`a`, `\bé\b`, `(?i)straße|k`, `^\w+$`, `(?-u)\xff|\B`, `(?R)a$`, `\b{start-half}.`, `[^a]{2,3}x?`, `foo|bar|baz`, `\Aa|b\z`} {
		f.Add(p, []byte("a é\xff k\nStraße\r\n\nfoo_bar 12\n\xc3\xa9\xa9 x"))
	}
	g := newPatternMaker(6)
	for range 50 {
		f.Add(g.pattern(), []byte("aaaa bbbb\nab"))
	}
	f.Fuzz(func(t *testing.T, pattern string, text []byte) {
		if len(pattern) > 200 || len(text) > 2000 {
			return
		}
		n, err := parse(pattern, false)
		if err != nil {
			return
		}
		re, err := compileNode(pattern, n, 100<<10)
		if err != nil {
			return
		}
		// Repeated, the text is long enough for several streams.
		text = append(text, '\n')
		for len(text) < leadSize+minBlock+1000 {
			text = append(text, text...)
		}
		if re.prog.unicodeWord && !linesBeginWhole(text) {
			return
		}
		want := simulatedLines(re, text)
		if got := matchedLines(re.Matcher(), text); !slices.Equal(got, want) {
			t.Errorf("pattern %q: NextLine finds %v, the simulation %v", pattern, got, want)
		}
		m := &Matcher{re: &Regexp{prog: re.prog}}
		if got := matchedLines(m, text); !slices.Equal(got, want) {
			t.Errorf("pattern %q: the automaton finds %v, the simulation %v", pattern, got, want)
		}
	})
}
