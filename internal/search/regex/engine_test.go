package regex

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// matchedLines returns the starts of the lines that NextLine finds.
func matchedLines(m *Matcher, text []byte) (starts []int) {
	for at := 0; at < len(text); {
		start, end, ok := m.NextLine(text, at)
		if !ok {
			break
		}
		starts = append(starts, start)
		at = end + 1
	}
	return starts
}

// simulatedLines returns the starts of the lines that match when the program is run
// without a cache, without literals and without streams.
func simulatedLines(re *Regexp, text []byte) (starts []int) {
	s := newStepper(re.prog)
	for at := 0; at < len(text); {
		end := nextLine(text, at)
		if _, ok := simulate(s, text[:end], at, true); ok {
			starts = append(starts, at)
		}
		at = end
	}
	return starts
}

// linesBeginWhole reports whether no line begins with the rest of a character, the one
// case in which it matters whether a line is looked at alone.
func linesBeginWhole(text []byte) bool {
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		if len(line) > 0 && line[0]&0xC0 == 0x80 {
			return false
		}
	}
	return true
}

// randomText returns about size bytes of lines of words from a small vocabulary, with
// some bytes that are not UTF-8.
func randomText(r *rand.Rand, size int) []byte {
	words := []string{"foo", "bar", "Foo", "func", "test_", "x", "é", "日本", "\u212a", "ſ", "12", "2026", "-", "(", "\xff", "\xc3", "\r", "λ", "ab", "aaaa"}
	var b []byte
	for len(b) < size {
		for range r.IntN(9) {
			b = append(b, words[r.IntN(len(words))]...)
			if r.IntN(2) == 0 {
				b = append(b, ' ')
			}
		}
		b = append(b, '\n')
	}
	return b
}

func TestAllEnginesFindTheSameLines(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	g := newPatternMaker(77)
	tried := 0
	for tried < 400 {
		pattern := g.pattern()
		re, err := Compile(pattern, Options{IgnoreCase: tried%5 == 0})
		if err != nil {
			continue
		}
		tried++
		text := randomText(r, 24<<10)
		want := simulatedLines(re, text)
		if got := matchedLines(re.Matcher(), text); !slices.Equal(got, want) {
			t.Errorf("pattern %q: NextLine finds %d lines, the simulation %d", pattern, len(got), len(want))
		}
		m := re.Matcher()
		m.re = &Regexp{pattern: pattern, prog: re.prog}
		if got := matchedLines(m, text); !slices.Equal(got, want) {
			t.Errorf("pattern %q: the automaton alone finds %d lines, the simulation %d", pattern, len(got), len(want))
		}
		if re.needles != nil {
			scalar := *re.needles
			scalar.vectors = false
			m.re = &Regexp{pattern: pattern, prog: re.prog, needles: &scalar, plain: re.plain, first: re.first}
			if got := matchedLines(m, text); !slices.Equal(got, want) {
				t.Errorf("pattern %q: without vectors %d lines are found, by the simulation %d", pattern, len(got), len(want))
			}
		}
	}
}

func TestMatchLineAgreesWithNextLine(t *testing.T) {
	text := corpusText()
	for _, pattern := range []string{`a`, `^$`, `\bfoo\b`, `\w+\s`, `(?i)straße`, `^`, `x*`, `[^\x00-\x7f]$`, `\Aa`, `b\z`, `foo_test\(`} {
		re, err := Compile(pattern, Options{})
		if err != nil {
			t.Fatal(err)
		}
		m := re.Matcher()
		starts := matchedLines(re.Matcher(), text)
		at := 0
		for line := range bytes.SplitSeq(text, []byte("\n")) {
			if got, want := m.MatchLine(line), slices.Contains(starts, at); got != want && at < len(text) {
				t.Errorf("pattern %q, line %q: MatchLine %v, NextLine %v", pattern, line, got, want)
			}
			at += len(line) + 1
		}
	}
}

// TestCommonSubsetAgreesWithTheStandardLibrary uses patterns that mean the same there.
func TestCommonSubsetAgreesWithTheStandardLibrary(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	atoms := []string{"a", "b", "foo", "bar", "[a-f]", "[^a]", ".", `\d`, "é", "[α-ω]", `\pL`, `\p{Greek}`, "x", " ", "(?:ab|c)", "(?i:foo)", "(a|é)", "^", "$"}
	ops := []string{"", "", "", "*", "+", "?", "{2}", "{1,3}", "+?"}
	text := bytes.ToValidUTF8(randomText(r, 12<<10), []byte("\ufffd"))
	for range 500 {
		var b strings.Builder
		for range 1 + r.IntN(5) {
			b.WriteString(atoms[r.IntN(len(atoms))])
			b.WriteString(ops[r.IntN(len(ops))])
			if r.IntN(8) == 0 {
				b.WriteByte('|')
			}
		}
		pattern := b.String()
		std := regexp.MustCompile("(?m:" + pattern + ")")
		re, err := Compile(pattern, Options{})
		if err != nil {
			t.Fatalf("%q: %v", pattern, err)
		}
		var want []int
		at := 0
		for line := range bytes.SplitSeq(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) {
			if std.Match(line) {
				want = append(want, at)
			}
			at += len(line) + 1
		}
		if got := matchedLines(re.Matcher(), text); !slices.Equal(got, want) {
			t.Errorf("pattern %q: %d lines, the standard library finds %d", pattern, len(got), len(want))
		}
	}
}

func TestNeedlesAreFoundWhereverTheyStand(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	alphabet := "abcABCk_(\n é"
	for range 3000 {
		var lits []literal
		for range 1 + r.IntN(12) {
			var lit literal
			for range 1 + r.IntN(5) {
				b := alphabet[r.IntN(len(alphabet))]
				if 'a' <= b && b <= 'z' && r.IntN(3) == 0 {
					lit = append(lit, symbol(b)|fold)
				} else {
					lit = append(lit, symbol(b))
				}
			}
			lits = append(lits, lit)
		}
		text := make([]byte, r.IntN(300))
		for i := range text {
			text[i] = alphabet[r.IntN(len(alphabet))]
			if r.IntN(3) > 0 {
				text[i] = 'z' // keep hits rare, so that the vectors get far
			}
		}
		vector := newNeedles(lits)
		scalar := newNeedles(lits)
		scalar.vectors = false
		for at := 0; at <= len(text); at++ {
			got, want := vector.next(text, at), scalar.next(text, at)
			if got != want {
				t.Fatalf("%v in %q from %d: vectors %d, scalar %d", lits, text, at, got, want)
			}
		}
		found := scalar.next(text, 0) >= 0
		if want := slices.ContainsFunc(lits, func(l literal) bool { return plainContains(text, l) }); found != want {
			t.Fatalf("%v in %q: found %v, want %v", lits, text, found, want)
		}
	}
}

func plainContains(text []byte, lit literal) bool {
	for i := 0; i+len(lit) <= len(text); i++ {
		ok := true
		for j, s := range lit {
			b := text[i+j]
			ok = ok && (b == byte(s) || s&fold != 0 && b|0x20 == byte(s))
		}
		if ok {
			return true
		}
	}
	return false
}

// TestCharClassReadsExactlyItsMembers runs every code point through some classes, and
// every pair of bytes that is no character.
func TestCharClassReadsExactlyItsMembers(t *testing.T) {
	read := func(c *charClass, b []byte) bool {
		state := c.first[b[0]]
		for _, x := range b[1:] {
			if state == classDead || state == classDone {
				return false
			}
			state = c.step(state, x)
		}
		return state == classDone
	}
	for _, name := range []string{"perl:w", "gc:lu", "sc:han", "prop:emoji", "gc:c"} {
		set := mustSet(name)
		class := newCharClass(set)
		for c := rune(0); c <= maxRune; c++ {
			if utf8.ValidRune(c) && read(class, utf8.AppendRune(nil, c)) != set.contains(c) {
				t.Fatalf("%s: wrong for %U", name, c)
			}
		}
	}
	all := newCharClass(runeSet{{0, maxRune}})
	for a := range 256 {
		for b := range 256 {
			pair := []byte{byte(a), byte(b)}
			c, size := utf8.DecodeRune(pair)
			if want := size == 2 && c != utf8.RuneError; read(all, pair) != want {
				t.Fatalf("% x: want %v", pair, want)
			}
		}
	}
	for _, bad := range []string{"\xed\xa0\x80", "\xe0\x80\x80", "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80"} {
		if read(all, []byte(bad)) {
			t.Errorf("% x was taken for a character", bad)
		}
	}
}

// TestCacheIsBounded uses a pattern whose deterministic automaton is huge.
func TestCacheIsBounded(t *testing.T) {
	re, err := Compile(`[ab]*a[ab]{16}c`, Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(7, 8))
	text := make([]byte, simulatedSize+3<<17)
	for i := range text {
		text[i] = "ab"[r.IntN(2)]
		if i%5000 == 4999 {
			text[i] = '\n'
		}
	}
	copy(text[len(text)-100:], "abbbbbbbbbbbbbbbbc")
	m := re.Matcher()
	m.re = &Regexp{prog: re.prog} // without the literal "c"
	if got := matchedLines(m, text); len(got) != 1 {
		t.Errorf("found %d lines, want 1", len(got))
	}
	if m.dfa.clears <= clearsBeforeGivingUp {
		t.Errorf("the cache was cleared %d times: this pattern is too small for the test", m.dfa.clears)
	}
	if size := m.dfa.size(); size > 2*cacheLimit {
		t.Errorf("the cache takes %d bytes, more than twice %d", size, cacheLimit)
	}
}

// TestLiteralsTooLongForNeedlesAreFound searches among runs that are just too short.
func TestLiteralsTooLongForNeedlesAreFound(t *testing.T) {
	run := strings.Repeat("a", 300)
	text := []byte(strings.Repeat(run[1:]+"b\n", 100) + run + "\n")
	for _, pattern := range []string{run, run + "[xyz]?", "(?i)" + run, "x*" + run, "(?:" + run + "|" + run[1:] + "c)"} {
		re, err := Compile(pattern, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := matchedLines(re.Matcher(), text), []int{100 * 301}; !slices.Equal(got, want) {
			t.Errorf("%.10q…: lines at %v, want %v", pattern, got, want)
		}
	}
}
