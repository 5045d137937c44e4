package search

import (
	"slices"
	"strings"
	"testing"
)

func TestIgnoreTable(t *testing.T) {
	for _, c := range []struct {
		rules    string
		yes, not string // paths, separated by spaces
	}{
		{"*.log", "a.log x/a.log", "a.logs"},
		{"/a", "a", "x/a"},
		{"a/b", "a/b", "x/a/b b"},
		{"a/", "a/ x/a/ a/b", "a x/a"},
		{"a/**", "a/b a/b/c", "a/ a"},
		{"**/a", "a x/a x/y/a", "ba"},
		{"a/**/b", "a/b a/x/b a/x/y/b", "ab"},
		{"foo**/bar", "foobar foox/bar foo/bar foo/x/bar", "bar"},
		{"*.log\n!keep.log", "a.log", "keep.log x/keep.log"},
		{"d/\n!d/keep", "d/keep", "keep"},
		{"# x\n\\#x\n\\!y", "#x !y", "x y"},
		{"a \nb\\ \nc\t", "a c\t", "c b a\\"},
		{"\xef\xbb\xbfa", "a", "\xef\xbb\xbfa"},
		{"a\r\nb\r\n", "a b", "a\r"},
		{"a\r", "a", "a\r"},
		{"a\x00b", "a", "ab"},
		{"[!abc]", "d", "a b c"},
		{"[[:digit:]]x", "1x", "ax"},
		{"[a\n[\n\\", "", "[a a [ \\"},
		{"A", "A", "a"},
	} {
		ig := ParseIgnore([]byte(c.rules))
		for _, path := range strings.Split(c.yes, " ") {
			if path != "" && !ignored(ig, path) {
				t.Errorf("%q does not ignore %q", c.rules, path)
			}
		}
		for _, path := range strings.Split(c.not, " ") {
			if ignored(ig, path) {
				t.Errorf("%q ignores %q", c.rules, path)
			}
		}
	}
}

func TestNoRulesIgnoreNothing(t *testing.T) {
	var none *Ignore
	if none.Match("a", false) || none.covers("a") || ParseIgnore(nil).Match("a", true) {
		t.Error("something is ignored without rules")
	}
}

func TestBaseAskedForByNameIsWalkedAlthoughIgnored(t *testing.T) {
	root := lay(t, map[string]string{
		"dist/app.js": "x", "dist/deep/b.js": "x", "dist/.git/c": "x", "src/a.go": "x", "src/a.log": "x", "src/sub/b.go": "x",
	})
	for _, c := range []struct{ rules, base, want string }{
		{"dist/", ".", "src/a.go src/a.log src/sub/b.go"},
		{"dist/", "dist", "dist/app.js dist/deep/b.js"},
		{"dist/\n*.js", "dist/deep", "dist/deep/b.js"},
		{"dist/*", "dist", "dist/app.js dist/deep/b.js"},
		{"**/dist/**", "dist", "dist/app.js dist/deep/b.js"},
		{"/*\n!/src/", "dist", "dist/app.js dist/deep/b.js"},
		{"*.log", "src", "src/a.go src/sub/b.go"},
		{"*\n!*/\n!*.go", "src", "src/a.go src/sub/b.go"},
		{"/**\n!/src/\n!*.go", "src", "src/a.go"},
		{"src/a*", "src", "src/sub/b.go"},
	} {
		var got []string
		for _, f := range walk(t, Tree{Root: root, Base: c.base, Ignore: ParseIgnore([]byte(c.rules))}) {
			got = append(got, f.Path)
		}
		if want := strings.Fields(c.want); !slices.Equal(got, want) {
			t.Errorf("rules %q, base %s: got %q, want %q", c.rules, c.base, got, want)
		}
	}
}

// slowWild is the plain reading of git's wildcards, by trying everything.
func slowWild(p wildPattern, s string, fold bool) bool {
	if len(p) == 0 {
		return s == ""
	}
	switch p[0].op {
	case wildStar:
		return slowWild(p[1:], s, fold) || s != "" && s[0] != '/' && slowWild(p, s[1:], fold)
	case wildDeep:
		return slowWild(p[1:], s, fold) || s != "" && slowWild(p, s[1:], fold)
	case wildDeepDir:
		if slowWild(p[1:], s, fold) {
			return true
		}
		i := strings.IndexByte(s, '/')
		return i >= 0 && slowWild(p, s[i+1:], fold)
	}
	return s != "" && p[0].matches(s[0], fold) && slowWild(p[1:], s[1:], fold)
}

func FuzzIgnore(f *testing.F) {
	for _, seed := range []struct{ rules, path string }{
		{"*.log\n!keep.log", "a/keep.log"}, {"a/**/b", "a/x/y/b"}, {"foo**/bar", "foox/bar"}, {"**/a/**/b*c", "x/a/y/bzc"},
		{"[a-c[:digit:]]x\\ ", "1x "}, {"\xef\xbb\xbf/a*b*c/**/d*\r\n", "axbyc/d/e/dd"}, {"a/***/c", "a/b/c"}, {"**", "a"}, {`**\/a`, "b/a"},
	} {
		f.Add([]byte(seed.rules), seed.path, true, false)
		f.Add([]byte(seed.rules), seed.path, false, true)
	}
	f.Fuzz(func(t *testing.T, rules []byte, path string, isDir, fold bool) {
		if len(rules) > 200 || len(path) > 30 || strings.Count(string(rules), "*") > 8 {
			t.Skip() // the slow matcher is exponential
		}
		ig := parseIgnore(rules, fold)
		got := ig.Match(path, isDir)
		want := false
		name := path[strings.LastIndexByte(path, '/')+1:]
		for i := range ig.rules {
			r := &ig.rules[i]
			subject := name
			if r.anchored {
				subject = path
			}
			hit := false
			switch {
			case r.literal, r.suffix:
				hit = r.match(subject)
			case len(subject) >= len(r.text) && r.equal(subject[:len(r.text)], r.text):
				hit = slowWild(r.wild, subject[len(r.text):], fold)
			}
			if hit && (isDir || !r.dirOnly) {
				want = !r.negated
			}
		}
		if got != want {
			t.Errorf("rules %q, path %q, directory %v: got %v, want %v", rules, path, isDir, got, want)
		}
		ig.covers(path)
	})
}
