package search

import (
	"errors"
	"strings"
	"sync"
	"unicode/utf8"
)

// ErrBadGlob is returned for a pattern that has an unclosed bracket or brace,
// ends in a lone backslash, or nests braces too deeply.
var ErrBadGlob = errors.New("malformed glob pattern")

// A Glob is a compiled file name pattern. It may be used by several goroutines
// at once.
//
//   - any run of characters except a slash
//     ?      one character except a slash
//     **     as a whole path component: any number of components, also none
//     (after the last slash: at least one); elsewhere the same as *
//     [a-z]  one character of a class; [!a-z] and [^a-z] one outside of it;
//     never a slash
//     {a,b}  any of the alternatives, which may hold all of this
//     \c     the character c itself
//
// Many projects have directories whose names are brackets to the letter, such
// as app/[id] or {{name}}. A bracket or brace therefore also matches its own
// text. See Prefer for letting such a name win over what the class means.
//
// Matching takes time proportional to the path times the pattern at worst,
// whatever the pattern: there is no backtracking.
type Glob struct {
	pattern string
	prog    []globNode
	start   int
	suffix  string // every match ends in it
	tail    bool   // the suffix alone decides
	pool    sync.Pool
}

// CompileGlob compiles a pattern. The only error is ErrBadGlob.
func CompileGlob(pattern string) (*Glob, error) {
	p := globParser{src: pattern}
	items, err := p.sequence(0)
	if err != nil {
		return nil, err
	}
	g := &Glob{pattern: pattern}
	g.prog = append(g.prog, globNode{op: globMatch})
	g.start = g.compile(items, 0)
	g.suffix, g.tail = literalTail(items)
	size := len(g.prog)
	g.pool.New = func() any { return newGlobState(size) }
	return g, nil
}

// String returns the pattern as it was given.
func (g *Glob) String() string { return g.pattern }

// Match reports whether the whole path matches.
func (g *Glob) Match(path string) bool {
	if !strings.HasSuffix(path, g.suffix) {
		return false
	}
	if g.tail {
		return true
	}
	s := g.pool.Get().(*globState)
	ok := g.run(s, path)
	g.pool.Put(s)
	return ok
}

// Dir returns the directory all matching paths lie in, as far as the pattern
// says it literally: "a/b" for a/b/*.go, "." when the first component is
// already open. A walk may begin there.
func (g *Glob) Dir() string {
	dir, rest := "", g.pattern
	for {
		name, after, more := strings.Cut(rest, "/")
		if !more || name == "" || strings.ContainsAny(name, `*?[{\`) || name == "." || name == ".." {
			break
		}
		dir, rest = dir+"/"+name, after
	}
	if dir == "" {
		return "."
	}
	return dir[1:]
}

// Prefer returns a glob in which the leading components that exist to the
// letter are taken to the letter: with a directory named app/[id] the pattern
// app/[id]/*.ts finds what is in it and not what is in app/i. exists is asked
// for slash-separated paths made of leading components of the pattern.
func (g *Glob) Prefer(exists func(path string) bool) *Glob {
	if !strings.ContainsAny(g.pattern, "[{") {
		return g
	}
	parts := strings.Split(g.pattern, "/")
	changed := false
	for i, part := range parts {
		if strings.ContainsAny(part, `*?\`) {
			break
		}
		if !strings.ContainsAny(part, "[{") {
			continue
		}
		if !exists(unescapeGlob(strings.Join(parts[:i+1], "/"))) {
			break
		}
		parts[i] = escapeGlob(part)
		changed = true
	}
	if !changed {
		return g
	}
	better, err := CompileGlob(strings.Join(parts, "/"))
	if err != nil {
		return g
	}
	better.pattern = g.pattern
	return better
}

func escapeGlob(s string) string {
	return strings.NewReplacer(`[`, `\[`, `]`, `\]`, `{`, `\{`, `}`, `\}`, `,`, `\,`).Replace(s)
}

func unescapeGlob(s string) string { return strings.ReplaceAll(s, `\`, "") }

// literalTail returns the characters every match must end in, and whether the
// pattern is of the form **/*tail, for which nothing else needs a look.
func literalTail(items []globItem) (tail string, whole bool) {
	i := len(items)
	for i > 0 && items[i-1].kind == itemChar {
		i--
	}
	var b strings.Builder
	for _, it := range items[i:] {
		writeGlobRune(&b, it.char)
	}
	tail = b.String()
	whole = i == 3 && items[0].kind == itemDeep && items[1].char == '/' &&
		items[2].kind == itemStar && !strings.Contains(tail, "/")
	if i > 0 {
		// After ** the slash is not always there.
		tail = strings.TrimPrefix(tail, "/")
	}
	return tail, whole
}

// decodeGlob reads one character. A byte that is not valid UTF-8 becomes a
// value above all runes, so that it equals only itself.
func decodeGlob(s string) (r rune, size int) {
	if s[0] < utf8.RuneSelf {
		return rune(s[0]), 1
	}
	r, size = utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && size == 1 {
		r = utf8.MaxRune + 1 + rune(s[0])
	}
	return r, size
}

func writeGlobRune(b *strings.Builder, r rune) {
	if r > utf8.MaxRune {
		b.WriteByte(byte(r - utf8.MaxRune - 1))
		return
	}
	b.WriteRune(r)
}
