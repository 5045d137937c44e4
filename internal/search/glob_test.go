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
