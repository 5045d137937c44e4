package search

import (
	"errors"
	"strings"
	"testing"
)

func TestGlobTable(t *testing.T) {
	for _, c := range []struct {
		pattern  string
		yes, not string // paths, separated by spaces
	}{
		{"*.go", "a.go .go", "a/b.go a.go/b a.gox"},
		{"**/*.go", "a.go a/b.go a/b/c.go .go", "a.go/b ago"},
		{"**", "a a/b .x/y", ""},
		{"a/**", "a/b a/b/c", "a b/a ab/c"},
		{"**/a", "a b/a c/b/a", "ba b/ca a/b"},
		{"a/**/b", "a/b a/x/b a/x/y/b", "ab a/xb a/x/yb"},
		{"a**/b", "a/b ax/b", "a/x/b ax/y/b b"},
		{"**a", "a xa", "x/a"},
		{"a/**/**/b", "a/b a/x/b", "ab"},
		{"?", "a é", "ab / a/b"},
		{"a?c", "abc aéc", "a/c ac"},
		{"*", "a .a", "a/b"},
		{"*/*", "a/b", "a a/b/c"},
		{"[a-c]x", "ax bx cx [a-c]x", "dx x"},
		{"[!a-c]x", "dx éx", "ax /x"},
		{"[^a-c]x", "dx ^x", "ax"},
		{"[]a]", "] a", "b"},
		{"[a-]", "a -", "b"},
		{"[!/]", "a", "/"},
		{"a[/]b", "a[/]b", "a/b"},
		{`[\]]`, "]", "["},
		{"[z-a]", "[z-a]", "a z"},
		{"{a,b}.go", "a.go b.go {a,b}.go", "c.go"},
		{"{a,b/c}/x", "a/x b/c/x", "c/x b/x"},
		{"{a,}b", "ab b", "aab"},
		{"{a,{b,c}d}", "a bd cd", "b c"},
		{"{**/,}x", "x a/x", "ax"},
		{"{a,**}/x", "a/x b/c/x x", "ax"},
		{"a{/**,}/x", "a/x a/b/x", "ax"},
		{"*.{ts,tsx}", "a.ts a.tsx", "a.t a/b.ts"},
		{`\*`, "*", "a"},
		{`\{a`, "{a", "a"},
		{"a}b", "a}b", "ab"},
		{"a,b", "a,b", "a b"},
		{"app/[id]/*.tsx", "app/[id]/page.tsx app/i/p.tsx", "app/id/p.tsx"},
		{"app/[[...slug]]/x", "app/[[...slug]]/x app/s]/x", "app/[...slug]/x"},
		{"{{name}}/x", "{{name}}/x name/x", "{name/x"},
		{"**/page.tsx", "app/[id]/page.tsx (group)/page.tsx", ""},
		{"-x", "-x", "x"},
		{"", "", "a"},
	} {
		g, err := CompileGlob(c.pattern)
		if err != nil {
			t.Errorf("%q: %v", c.pattern, err)
			continue
		}
		for _, path := range strings.Fields(c.yes) {
			if !g.Match(path) {
				t.Errorf("%q does not match %q", c.pattern, path)
			}
		}
		for _, path := range strings.Fields(c.not) {
			if g.Match(path) {
				t.Errorf("%q matches %q", c.pattern, path)
			}
		}
	}
}

func TestMalformedGlobIsRefused(t *testing.T) {
	for _, pattern := range []string{"[", "a[", "[a", "[]", "[!]", "[^]", "[a-", `[\`, `[\]`, "{", "{a", "{a,", "{{a}", "{a,[}", `\`, `a\`,
		strings.Repeat("{", 60) + strings.Repeat("}", 60)} {
		if _, err := CompileGlob(pattern); !errors.Is(err, ErrBadGlob) {
			t.Errorf("%q: %v", pattern, err)
		}
	}
}

func mustGlob(t *testing.T, pattern string) *Glob {
	t.Helper()
	g, err := CompileGlob(pattern)
	if err != nil {
		t.Fatalf("%q: %v", pattern, err)
	}
	return g
}

func TestDirectoryThatExistsToTheLetterWinsOverTheClass(t *testing.T) {
	there := map[string]bool{"app/[id]": true, "[x]": true, "[x]/{a,b}": true, "[x]/{a,b}/f[1].go": true}
	exists := func(path string) bool { return there[path] }
	for _, c := range []struct{ pattern, yes, not string }{
		{"app/[id]/*.tsx", "app/[id]/p.tsx", "app/i/p.tsx app/d/p.tsx"},
		{"app/[jd]/*.tsx", "app/j/p.tsx app/[jd]/p.tsx", "app/[id]/p.tsx"},
		{"[x]/{a,b}/*", "[x]/{a,b}/f", "x/a/f [x]/a/f"},
		{"[x]/{a,b}/f[1].go", "[x]/{a,b}/f[1].go", "[x]/{a,b}/f1.go"},
		{"*/[id]", "a/i a/[id]", "a/x"},
	} {
		g := mustGlob(t, c.pattern).Prefer(exists)
		if g.String() != c.pattern {
			t.Errorf("%q calls itself %q", c.pattern, g)
		}
		for _, path := range strings.Fields(c.yes) {
			if !g.Match(path) {
				t.Errorf("%q does not match %q", c.pattern, path)
			}
		}
		for _, path := range strings.Fields(c.not) {
			if g.Match(path) {
				t.Errorf("%q matches %q", c.pattern, path)
			}
		}
	}
}

func TestGlobSaysWhereItsMatchesLie(t *testing.T) {
	for pattern, want := range map[string]string{
		"*.go": ".", "a": ".", "a/b": "a", "a/b/*.go": "a/b", "a/b*/c": "a", "a/**": "a", "**/a": ".", "{a,b}/c": ".", "a/[b]/c": "a",
		`a/\b/c`: "a", "": ".", "/a/b": ".", "a//b": "a", "../a/b": ".", "./a/b": ".", "dist/app.js": "dist",
	} {
		if got := mustGlob(t, pattern).Dir(); got != want {
			t.Errorf("%q: %q, want %q", pattern, got, want)
		}
	}
}

func TestGlobTimeIsBoundedByPathAndPattern(t *testing.T) {
	path := strings.Repeat("a", 2000) + "b"
	for _, pattern := range []string{
		strings.Repeat("*a", 60) + "c", strings.Repeat("**/", 60) + "c", strings.Repeat("{a,*}", 60) + "c", strings.Repeat("{,a}", 200) + "/c",
		strings.Repeat("**{,/}", 100) + "c", strings.Repeat("{", 49) + "a" + strings.Repeat(",a}", 49) + "c",
	} {
		// Backtracking would not come back from these.
		if mustGlob(t, pattern).Match(path) {
			t.Errorf("%.20q matches", pattern)
		}
	}
}

// slowGlob matches by trying everything, with the braces written out first.
func slowGlob(items []globItem, rest string, start bool) bool {
	if len(items) == 0 {
		return rest == ""
	}
	it, after := items[0], items[1:]
	var r rune
	size := 0
	if rest != "" {
		r, size = decodeGlob(rest)
	}
	switch it.kind {
	case itemChar:
		return size > 0 && r == it.char && slowGlob(after, rest[size:], r == '/')
	case itemAny:
		return size > 0 && r != '/' && slowGlob(after, rest[size:], false)
	case itemClass:
		if size > 0 && it.class.has(r) && slowGlob(after, rest[size:], false) {
			return true
		}
		return strings.HasPrefix(rest, it.text) && slowGlob(after, rest[len(it.text):], false)
	case itemStar, itemDeep:
		for i := 0; ; i++ {
			if slowGlob(after, rest[i:], start && i == 0) {
				return true
			}
			if i == len(rest) || rest[i] == '/' {
				break
			}
		}
		if it.kind == itemStar || !start {
			return false
		}
		if len(after) > 0 && after[0].kind == itemChar && after[0].char == '/' && slowGlob(after[1:], rest, true) {
			return true
		}
		for i := 0; i <= len(rest); i++ {
			if (i == len(rest) || rest[i] == '/') && slowGlob(after, rest[i:], false) {
				return true
			}
		}
	}
	return false
}

// writeOut returns all sequences without braces that items stand for.
func writeOut(items []globItem) [][]globItem {
	all := [][]globItem{nil}
	for _, it := range items {
		options := [][]globItem{{it}}
		if it.kind == itemGroup {
			var text []globItem
			for s := it.text; s != ""; {
				r, n := decodeGlob(s)
				text, s = append(text, globItem{kind: itemChar, char: r}), s[n:]
			}
			options = [][]globItem{text}
			for _, alt := range it.alts {
				options = append(options, writeOut(alt)...)
			}
		}
		var next [][]globItem
		for _, head := range all {
			for _, o := range options {
				next = append(next, append(head[:len(head):len(head)], o...))
			}
		}
		if all = next; len(all) > 2000 {
			return all
		}
	}
	return all
}

func FuzzGlob(f *testing.F) {
	for _, s := range [][2]string{
		{"**/*.go", "a/b.go"}, {"a/**/b", "a/x/b"}, {"{a,b*}/[!c-d]?", "bx/éf"}, {"[id]/{{x}}", "[id]/{{x}}"}, {`\*\[`, "*["},
		{"{**/,}x", "a/b/x"}, {"{a,**}/x", "x"}, {"a**/b", "ab/b"}, {"[]a-]", "-"}, {"\xff?", "\xff\xfe"}, {"**{/,x}b", "b"},
	} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, pattern, path string) {
		g, err := CompileGlob(pattern)
		if err != nil {
			if !errors.Is(err, ErrBadGlob) {
				t.Fatal(err)
			}
			return
		}
		g.Dir()
		if !strings.ContainsAny(pattern, `*?\`) && !mustGlob(t, pattern).Match(pattern) {
			t.Errorf("%q does not match itself", pattern)
		}
		if !strings.Contains(pattern, `\`) && !g.Prefer(func(string) bool { return true }).Match(pattern) {
			t.Errorf("%q does not match its own text although that exists", pattern)
		}
		if len(pattern) > 24 || len(path) > 16 || strings.Count(pattern, "*") > 6 {
			return // too much for the slow matcher
		}
		p := globParser{src: pattern}
		items, _ := p.sequence(0)
		all := writeOut(items)
		if len(all) > 2000 {
			return
		}
		want := false
		for _, items := range all {
			want = want || slowGlob(items, path, true)
		}
		if got := g.Match(path); got != want {
			t.Errorf("glob %q, path %q: got %v, want %v", pattern, path, got, want)
		}
	})
}
