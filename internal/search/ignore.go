package search

import (
	"bytes"
	"strings"
)

// An Ignore holds the rules of one .gitignore file, read the way git reads
// them, down to what git does with odd lines. It may be used by several
// goroutines at once.
//
// The rules are those of a file at the root of the tree. What lies below an
// ignored directory is ignored whatever the rules say of it; that is for the
// walk to see to, which does not go there.
type Ignore struct {
	rules []ignoreRule
	fold  bool
	// Files of rules are long and most rules plain, so those are found by what
	// they say. Each list holds indices into rules in ascending order.
	names  map[string][]int // literal, by name
	paths  map[string][]int // literal and anchored, by path
	exts   map[string][]int // *.ext, by what the last dot begins
	others []int
}

type ignoreRule struct {
	negated  bool // the line began with !
	dirOnly  bool // the line ended in a slash
	anchored bool // matched against the whole path rather than the name
	fold     bool
	literal  bool   // no wildcard: text is all
	suffix   bool   // * and no other wildcard: the name ends in text
	text     string // what stands before the first wildcard of an anchored rule
	wild     wildPattern
}

// ParseIgnore reads the text of a .gitignore file. There is no malformed one:
// a line git cannot make sense of matches nothing.
func ParseIgnore(data []byte) *Ignore { return parseIgnore(data, false) }

// ParseIgnoreFold is ParseIgnore for a file system on which the case of ASCII
// letters makes no difference (git's core.ignorecase).
func ParseIgnoreFold(data []byte) *Ignore { return parseIgnore(data, true) }

func parseIgnore(data []byte, fold bool) *Ignore {
	ig := &Ignore{fold: fold, names: map[string][]int{}, paths: map[string][]int{}, exts: map[string][]int{}}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	for len(data) > 0 {
		var line []byte
		line, data, _ = bytes.Cut(data, []byte("\n"))
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		line = bytes.TrimSuffix(line, []byte("\r"))
		// git keeps the line as a C string.
		line, _, _ = bytes.Cut(line, []byte{0})
		if rule, ok := parseIgnoreLine(trimSpaces(string(line)), fold); ok {
			ig.add(rule)
		}
	}
	return ig
}

func (ig *Ignore) add(r ignoreRule) {
	n := len(ig.rules)
	ig.rules = append(ig.rules, r)
	key := ig.key(r.text)
	switch dot := strings.LastIndexByte(key, '.'); {
	case r.literal && r.anchored:
		ig.paths[key] = append(ig.paths[key], n)
	case r.literal:
		ig.names[key] = append(ig.names[key], n)
	case r.suffix && dot >= 0:
		ig.exts[key[dot:]] = append(ig.exts[key[dot:]], n)
	default:
		ig.others = append(ig.others, n)
	}
}

// key is what texts that the rules take for equal have in common.
func (ig *Ignore) key(s string) string {
	if !ig.fold {
		return s
	}
	b := []byte(s)
	for i, c := range b {
		b[i] = lowerASCII(c)
	}
	return string(b)
}

// trimSpaces takes off trailing spaces (no other white space) but those that a
// backslash protects. A line that ends in a lone backslash is left as it is.
func trimSpaces(s string) string {
	end := 0
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' {
			i++
			if i == len(s) {
				return s
			}
			end = i + 1
		} else if s[i] != ' ' {
			end = i + 1
		}
	}
	return s[:end]
}

func parseIgnoreLine(s string, fold bool) (ignoreRule, bool) {
	r := ignoreRule{fold: fold}
	if strings.HasPrefix(s, "!") {
		r.negated, s = true, s[1:]
	}
	if strings.HasSuffix(s, "/") {
		r.dirOnly, s = true, s[:len(s)-1]
	}
	r.anchored = strings.Contains(s, "/")
	s = strings.TrimPrefix(s, "/")
	if s == "" {
		return r, false
	}
	open := strings.IndexAny(s, `*?[\`)
	switch {
	case open < 0:
		r.literal, r.text = true, s
	case !r.anchored && s[0] == '*' && !strings.ContainsAny(s[1:], `*?[\`):
		r.suffix, r.text = true, s[1:]
	case r.anchored:
		// git compares what stands before the first wildcard on its own and then
		// matches the rest as if it began there, so that foo** crosses slashes
		// although ** is not a whole component.
		r.text = s[:open]
		var ok bool
		if r.wild, ok = compileWild(s[open:], fold); !ok {
			return r, false
		}
	default:
		var ok bool
		if r.wild, ok = compileWild(s, fold); !ok {
			return r, false
		}
	}
	return r, true
}

// Match reports whether the path itself is ignored: the last rule that matches
// it decides. Of a directory, say so.
func (ig *Ignore) Match(rel string, isDir bool) bool {
	rule := ig.decide(rel, isDir)
	return rule != nil && !rule.negated
}

// decide returns the last rule that matches the path, or nil.
func (ig *Ignore) decide(rel string, isDir bool) *ignoreRule {
	if ig == nil {
		return nil
	}
	name := rel[strings.LastIndexByte(rel, '/')+1:]
	last := -1
	consider := func(list []int) {
		for i := len(list) - 1; i >= 0 && list[i] > last; i-- {
			r := &ig.rules[list[i]]
			if r.dirOnly && !isDir {
				continue
			}
			subject := name
			if r.anchored {
				subject = rel
			}
			if r.match(subject) {
				last = list[i]
				return
			}
		}
	}
	key := ig.key(name)
	consider(ig.names[key])
	if dot := strings.LastIndexByte(key, '.'); dot >= 0 {
		consider(ig.exts[key[dot:]])
	}
	if len(ig.paths) > 0 {
		consider(ig.paths[ig.key(rel)])
	}
	consider(ig.others)
	if last < 0 {
		return nil
	}
	return &ig.rules[last]
}

func (r *ignoreRule) match(s string) bool {
	switch {
	case r.literal:
		return len(s) == len(r.text) && r.equal(s, r.text)
	case r.suffix:
		return len(s) >= len(r.text) && r.equal(s[len(s)-len(r.text):], r.text)
	case len(s) < len(r.text) || !r.equal(s[:len(r.text)], r.text):
		return false
	}
	return r.wild.match(s[len(r.text):], r.fold)
}

func (r *ignoreRule) equal(a, b string) bool {
	if a == b {
		return true
	}
	if !r.fold {
		return false
	}
	for i := range len(a) {
		if lowerASCII(a[i]) != lowerASCII(b[i]) {
			return false
		}
	}
	return true
}

func lowerASCII(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// covers reports whether everything in the directory dir is ignored because of
// where it is: the directory or one above it is ignored, or a rule such as
// dir/* names all it holds.
func (ig *Ignore) covers(dir string) bool {
	if ig == nil || dir == "." {
		return false
	}
	for i := 0; i <= len(dir); i++ {
		if (i == len(dir) || dir[i] == '/') && ig.Match(dir[:i], true) {
			return true
		}
	}
	// Nobody writes a rule with these names in mind, so one that matches them
	// here and not elsewhere was written for the directory.
	const one, two = "\x01", "\x02.\x03"
	elsewhere := strings.Repeat("\x04/", strings.Count(dir, "/")+1)
	rule := ig.decide(dir+"/"+one, false)
	return rule != nil && !rule.negated && rule == ig.decide(dir+"/"+two, false) && rule != ig.decide(elsewhere+one, false)
}
