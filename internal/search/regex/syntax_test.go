package regex

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSyntax(t *testing.T) {
	for _, c := range []struct{ pattern, matches, not string }{
		// Classes and their operators; the lists are separated by blanks.
		{`^[a-z&&[^aeiou]]+$`, "xyz bcd", "abc e"},
		{`^[a-z--[aeiou]]$`, "b z", "a e 1"},
		{`^[\w--\d--_]$`, "a é", "1 _"},
		{`^[a-f~~d-k]$`, "a c g k", "d e f"},
		{`^[a[bc[d]]]+$`, "abcd", "e"},
		{`^[]a]$`, "] a", "["},
		{`^[^]a]$`, "b [", "] a"},
		{`^[-a]$`, "- a", "b"},
		{`^[a-]$`, "- a", "b"},
		{`^[\]\-\\]+$`, `]-\`, "a"},
		{`^[[:alpha:]]$`, "a Z", "é 1"},
		{`^[[:^alpha:]]$`, "é 1", "a"},
		{`^[[:alpha:][:digit:]_]+$`, "a1_", "a-"},
		{`^[&&a]$`, "", "a"},
		{`^[a&&b]$`, "", "a b"},
		{`^[^a&&b]$`, "a b c", ""},
		{`^[[:nope:]]+$`, ":nope", "alpha"},
		// Unicode.
		{`^\w+$`, "héllo naïve 日本 a1_", "a-b"},
		{`^\d+$`, "12 ٣٤", "½ a"},
		{`^\D$`, "a é", "1 ٣"},
		{`^\S\s\S$`, "a\u3000b a\vb a\u0085b", "a\u200bb"},
		{`\bé`, "é -é été", "aéé"},
		{`^\p{Greek}+$`, "λόγος", "logos"},
		{`^\pL+$`, "aé日", "a1"},
		{`^\PL+$`, "123 .", "a"},
		{`^\P{L}$`, "1", "a"},
		{`^\p{script=Greek}\p{sc:Latin}$`, "λa", "aλ"},
		{`^\p{gc=Lu}\p{Ll}\p{Lowercase}$`, "Aaª", "aaa"},
		{`^\p{Alphabetic}\p{Emoji}$`, "a😀", "1a"},
		{`^\p{scx=Deva}$`, "\u0951 क", "a"},
		{`^\p{age=1.1}$`, "a", "₵"},
		{`^\p{gcb=Extend}\p{wb=Numeric}\p{sb=STerm}$`, "\u03011!", "a1!"},
		{`^\p{is_greek}\p{GREEK}\p{g-r e_e k}$`, "λλλ", "abc"},
		// Case.
		{`(?i)^straße$`, "STRAẞE ſtraße", "STRASSE"},
		{`(?i)^k$`, "k K \u212a", "x"},
		{`(?i)^σ+$`, "ΣΣς", "s"},
		{`(?i)^[^k]$`, "x", "k K \u212a"},
		{`(?i)^\p{Lu}$`, "a A", "1"},
		{`(?i-u)^k$`, "k K", "\u212a"},
		{`^(?i:a)b$`, "Ab ab", "aB"},
		{`^a(?i)b|c$`, "ab aB C", "AB"},
		// Escapes.
		{`^\x41\x{e9}\u00e9\u{e9}\U000000E9$`, "Aéééé", "A"},
		{`^\/\@\%\-\#\ \"$`, `/@%-# "`, ""},
		{`^a\tb$`, "a\tb", "atb"},
		{`^\a\f\r\v$`, "\a\f\r\v", "afrv"},
		{`^\(\)\[\]\{\}\.\*\+\?\|\^\$\\$`, `()[]{}.*+?|^$\`, ""},
		// Repetitions.
		{`^a{2}{3}$`, "aaaaaa", "aaaaa"},
		{`^a**$`, "a aa", "b"},
		{`^a{ 1 , 2 }$`, "a aa", "aaa"},
		{`^a{2,}?$`, "aa aaa", "a"},
		{`^(?:ab){0}c$`, "c", "abc"},
		{`^a{0,1200}$`, "a " + strings.Repeat("a", 1200), strings.Repeat("a", 1201)},
		// Groups and flags.
		{`^(?P<year>\d{4})-(?<m>\d\d)$`, "2026-11", "26-11"},
		{`(?x) ^ a b # a comment` + "\n" + ` [ c d ] { 2 } $`, "abcd", "ab cd"},
		{`(?x)^a\ b$ # a comment that the end of the pattern ends`, "a\u0020b", ""},
		{`^(?U)a+?$`, "aaa", "b"},
		{`^(?-u:\xff)$`, "\xff", "ÿ"},
		{`^(?-u:.)$`, "a \xff", "é"},
		{`^.$`, "a é", "\xff \xe2\x82"},
		{`(?s)^.+$`, "a", "\xff"},
		{`^(?-u:\w)$`, "a", "é"},
		{`(?R)^a$`, "a a\r", "ab"},
		{`(?-m)^a$`, "a", "ab ba"},
		// Word boundaries.
		{`\bfoo\b`, "foo -foo- \xfffoo\xff", "foos éfoo"},
		{`(?-u:\b)foo`, "foo éfoo", "afoo"},
		{`\Boo\B`, "foot", "foo oot"},
		{`\b{start}foo`, "foo -foo", "afoo"},
		{`foo\b{end}`, "foo foo-", "foos"},
		{`-\b{start-half}foo`, "-foo", "foo"},
		{`\b{start-half}-`, "- --", "a-"},
		{`-\b{end-half}$`, "- a-", "-a"},
		{`\<foo\>`, "foo -foo-", "foos afoo"},
		{`\Aa\z`, "a", "ab ba"},
		{`\b{2}a`, "a", "ba"},
		// Line feeds in classes count for nothing.
		{`^(?:\n|a)$`, "a", "b"},
		{`^[\na]$`, "a", "b"},
		{`^\n{0}a$`, "a", "b"},
	} {
		re, err := Compile(c.pattern, Options{})
		if err != nil {
			t.Errorf("pattern %q: %v", c.pattern, err)
			continue
		}
		m := re.Matcher()
		check := func(list string, want bool) {
			if list == "" {
				return
			}
			words := strings.Split(list, " ")
			if strings.Contains(c.pattern, `\ `) { // this one is about blanks
				words = []string{list}
			}
			for _, w := range words {
				if got := m.MatchLine([]byte(w)); got != want {
					t.Errorf("pattern %q, line %q: %v, want %v", c.pattern, w, got, want)
				}
			}
		}
		check(c.matches, true)
		check(c.not, false)
	}
}

func TestRefusalsSayWhatIsWrongAndWhere(t *testing.T) {
	for _, c := range []struct {
		pattern string
		offset  int
		reason  string
	}{
		{`a(?=b)`, 1, `look-around, such as "(?=…)", is not supported`},
		{`(?<!a)b`, 0, `look-around, such as "(?<!…)", is not supported`},
		{`(a)\1`, 3, `backreferences, such as "\1", are not supported, nor is octal`},
		{`(?P<n>a)(?P=n)`, 8, `backreferences, such as "(?P=name)", are not supported`},
		{`a\Qb`, 1, `"\Q" is not an escape`},
		{`é{x`, 3, `a repetition needs a number here; write "\{" for a brace`},
		{`a{,3}`, 2, `a repetition needs a number here; write "\{" for a brace`},
		{`a{3`, 1, `this repetition is not closed by "}"`},
		{`a{3,2}`, 1, `the range {3,2} runs backwards`},
		{`a{4294967296}`, 2, `a repetition cannot be counted beyond 4294967295`},
		{`*a`, 0, `there is nothing before "*" to repeat`},
		{`a|+`, 2, `there is nothing before "+" to repeat`},
		{`(?i)*`, 4, `there is nothing before "*" to repeat`},
		{`(a`, 0, `this group is not closed`},
		{`a)`, 1, `there is no open group that this ")" could close`},
		{`a)|(b`, 1, `there is no open group that this ")" could close`},
		{`[a`, 0, `this class is not closed by "]"`},
		{`[[a]`, 0, `this class is not closed by "]"`},
		{`[z-a]`, 1, `this range runs backwards`},
		{`[a-\d]`, 3, `a range can only run from one character to another`},
		{`[\b]`, 1, `an assertion cannot stand in a class`},
		{`\x4g`, 3, `'g' is not a hexadecimal digit; "\x" takes 2 of them`},
		{`\x{}`, 0, `there is no number between the braces`},
		{`\x{110000}`, 0, `110000 is not the number of a Unicode character`},
		{`\uD800`, 0, `D800 is not the number of a Unicode character`},
		{`\p{Nope}`, 0, `there is no such Unicode property, category or script`},
		{`\p{gc=Nope}`, 0, `this Unicode property has no such value`},
		{`\p{Block=ASCII}`, 0, `only gc, sc, scx, age, gcb, wb and sb take a value`},
		{`(?-u)\pL`, 5, `a Unicode property cannot be used where (?-u) is in force`},
		{`(?-u)[é]`, 6, `'é' is more than one byte and cannot stand in a class where (?-u) is in force`},
		{`(?z)`, 2, `'z' is not a flag; the flags are i, m, s, R, U, u and x`},
		{`(?ii)`, 3, `the flag 'i' is given twice`},
		{`(?i-)`, 3, `no flag follows this "-"`},
		{`(?<1>a)`, 3, `'1' cannot stand here in the name of a group`},
		{`(?<n>a)(?<n>b)`, 10, `there are two groups of the name "n"`},
		{`\b{nope}`, 2, `"nope" is not a word boundary; they are start, end, start-half and end-half`},
		{`a\`, 1, `the pattern ends in the middle of an escape`},
		{"a\xffb", 1, `the pattern is not valid UTF-8`},
		{`a\nb`, 0, `the pattern asks for a line feed, but a match cannot go beyond one line`},
		{`\x00`, 0, `the pattern asks for the byte zero, which no text has`},
		{strings.Repeat("(", 251) + strings.Repeat(")", 251), 249, `the pattern is nested more than 249 levels deep`},
		{`\w{9000}`, 0, `the pattern is too big: compiled, it would exceed 100 MiB; use smaller repetitions`},
	} {
		_, err := Compile(c.pattern, Options{})
		var e *SyntaxError
		if !errors.As(err, &e) {
			t.Errorf("pattern %q was not refused: %v", c.pattern, err)
			continue
		}
		if e.Offset != c.offset || e.Reason != c.reason {
			t.Errorf("pattern %q: at %d %q, want at %d %q", c.pattern, e.Offset, e.Reason, c.offset, c.reason)
		}
	}
}

func TestNestingIsLimitedWhereRipgrepLimitsIt(t *testing.T) {
	if testing.Short() {
		t.Skip("needs ripgrep 15")
	}
	var patterns []string
	for _, n := range []int{247, 248, 249, 250, 251} {
		patterns = append(patterns,
			strings.Repeat("(", n)+"a"+strings.Repeat(")", n),
			strings.Repeat("(?:", n)+"ab"+strings.Repeat(")", n),
			strings.Repeat("[", n)+"a"+strings.Repeat("]", n),
			strings.Repeat("[", n)+"ab"+strings.Repeat("]", n),
			"[a"+strings.Repeat("&&a", n)+"]",
			"a"+strings.Repeat("+", n),
			"[x"+strings.Repeat("--[a]", n)+"]|b",
			strings.Repeat("(?:a|", n)+strings.Repeat(")", n))
	}
	compareWithRipgrep(t, patterns)
}

// TestUnicodeTablesAgreeWithRipgrep looks at every code point. The whole of the tables
// would take minutes.
func TestUnicodeTablesAgreeWithRipgrep(t *testing.T) {
	if testing.Short() {
		t.Skip("needs ripgrep 15")
	}
	rg := ripgrep(t)
	var text []byte
	for c := rune(1); c <= maxRune; c++ {
		if c != '\n' && utf8.ValidRune(c) {
			text = append(utf8.AppendRune(text, c), '\n')
		}
	}
	file := filepath.Join(t.TempDir(), "characters")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{
		`\w`, `\s`, `\d`, `\b`, `(?i)\p{Lu}`, `(?i)[a-zσ]`, `(?i)\PL`, `\p{Alphabetic}`, `\p{Emoji}`, `\p{Cased}`, `\p{XID_Continue}`, `\p{Cn}`, `\p{Sc}`,
		`\p{sc=Zyyy}`, `\p{scx=Arab}`, `\p{age=16.0}`, `\p{age=4.1}`, `\p{gcb=Extend}`, `\p{wb=ALetter}`, `\p{sb=Lower}`, `[\p{Greek}--\p{L}]`,
	} {
		cmd := exec.Command(rg, "--no-config", "--text", "--no-line-number", "-e", pattern, file)
		want, err := cmd.Output()
		if err != nil {
			t.Fatalf("ripgrep %q: %v", pattern, err)
		}
		re, err := Compile(pattern, Options{})
		if err != nil {
			t.Fatalf("%q: %v", pattern, err)
		}
		var got []byte
		m := re.Matcher()
		for at := 0; at < len(text); {
			start, end, ok := m.NextLine(text, at)
			if !ok {
				break
			}
			got = append(got, text[start:end+1]...)
			at = end + 1
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: %d characters match, in ripgrep %d", pattern, bytes.Count(got, []byte("\n")), bytes.Count(want, []byte("\n")))
		}
	}
}
