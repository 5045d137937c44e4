package search

import "strings"

// The wildcards of .gitignore lines. They work on bytes, as git's do, and
// unlike globs they have no alternatives, so a match needs no state set: one
// place to go back to for * and one for ** are enough.

type wildOp uint8

const (
	wildByte wildOp = iota
	wildAny         // ?
	wildClass
	wildStar
	wildDeep    // ** up to the end of the pattern or before an escaped slash
	wildDeepDir // **/
)

type wildToken struct {
	op  wildOp
	c   byte
	set *[256]bool
}

type wildPattern []wildToken

// compileWild reports false for a pattern that can match nothing: an unclosed
// bracket, an unknown class name or a backslash at the end.
func compileWild(s string, fold bool) (wildPattern, bool) {
	var out wildPattern
	for i := 0; i < len(s); {
		switch s[i] {
		case '?':
			out = append(out, wildToken{op: wildAny})
			i++
		case '*':
			start := i
			for i < len(s) && s[i] == '*' {
				i++
			}
			rest := s[i:]
			whole := i-start > 1 && (start == 0 || s[start-1] == '/')
			switch {
			case whole && strings.HasPrefix(rest, "/"):
				out = append(out, wildToken{op: wildDeepDir})
				i++
			case whole && (rest == "" || strings.HasPrefix(rest, `\/`)):
				out = append(out, wildToken{op: wildDeep})
			default:
				out = append(out, wildToken{op: wildStar})
			}
		case '[':
			set, next, ok := compileClass(s, i+1, fold)
			if !ok {
				return nil, false
			}
			out = append(out, wildToken{op: wildClass, set: set})
			i = next
		case '\\':
			i++
			if i == len(s) {
				return nil, false
			}
			// git folds the path but not what a backslash protects.
			out = append(out, wildToken{op: wildByte, c: s[i]})
			i++
		default:
			c := s[i]
			if fold {
				c = lowerASCII(c)
			}
			out = append(out, wildToken{op: wildByte, c: c})
			i++
		}
	}
	return out, true
}

func (p wildPattern) match(s string, fold bool) bool {
	const none = -1
	at, tok := 0, 0
	starAt, starTok := none, 0
	deepAt, deepTok := none, 0
	for {
		if tok == len(p) {
			if at == len(s) {
				return true
			}
		} else {
			switch t := &p[tok]; t.op {
			case wildStar:
				tok++
				starAt, starTok = at, tok
				continue
			case wildDeep, wildDeepDir:
				tok++
				deepAt, deepTok = at, tok
				starAt = none
				continue
			default:
				if at < len(s) && t.matches(s[at], fold) {
					at++
					tok++
					continue
				}
			}
		}
		switch {
		case starAt != none && starAt < len(s) && s[starAt] != '/':
			starAt++
			at, tok = starAt, starTok
		case deepAt == none:
			return false
		default:
			step := 1
			if p[deepTok-1].op == wildDeepDir {
				step = strings.IndexByte(s[deepAt:], '/') + 1
			}
			if step == 0 || deepAt+step > len(s) {
				return false
			}
			deepAt += step
			at, tok = deepAt, deepTok
			starAt = none
		}
	}
}

func (t *wildToken) matches(c byte, fold bool) bool {
	if fold {
		c = lowerASCII(c)
	}
	switch t.op {
	case wildAny:
		return c != '/'
	case wildClass:
		return t.set[c] && c != '/'
	}
	return c == t.c
}

// compileClass reads a class whose opening bracket ends before i and returns
// the bytes it matches and the place after its closing bracket.
func compileClass(s string, i int, fold bool) (*[256]bool, int, bool) {
	set := &[256]bool{}
	negated := i < len(s) && (s[i] == '!' || s[i] == '^')
	if negated {
		i++
	}
	var prev byte // what a range may begin with; 0 for nothing
	for first := true; first || i < len(s) && s[i] != ']'; first = false {
		if i >= len(s) {
			return nil, 0, false
		}
		c := s[i]
		switch {
		case c == '\\':
			i++
			if i == len(s) {
				return nil, 0, false
			}
			c = s[i]
			set[c] = true
		case c == '-' && prev != 0 && i+1 < len(s) && s[i+1] != ']':
			i++
			if s[i] == '\\' {
				i++
				if i == len(s) {
					return nil, 0, false
				}
			}
			addRange(set, prev, s[i], fold)
			c = 0
		case c == '[' && i+1 < len(s) && s[i+1] == ':':
			end := strings.IndexByte(s[i+2:], ']')
			if end < 0 {
				return nil, 0, false
			}
			name := s[i+2 : i+2+end]
			if !strings.HasSuffix(name, ":") {
				set[c] = true // not a class name after all: a member like any other
				break
			}
			if !addNamedClass(set, name[:len(name)-1], fold) {
				return nil, 0, false
			}
			i += 2 + end
			c = 0
		default:
			set[c] = true
		}
		prev = c
		i++
	}
	if i >= len(s) {
		return nil, 0, false
	}
	if negated {
		for c := range set {
			set[c] = !set[c]
		}
	}
	return set, i + 1, true
}

func addRange(set *[256]bool, lo, hi byte, fold bool) {
	for c := int(lo); c <= int(hi); c++ {
		set[c] = true
		if fold {
			set[lowerASCII(byte(c))] = true
		}
	}
}

func addNamedClass(set *[256]bool, name string, fold bool) bool {
	var has func(c byte) bool
	lower := func(c byte) bool { return 'a' <= c && c <= 'z' }
	upper := func(c byte) bool { return 'A' <= c && c <= 'Z' || fold && lower(c) }
	digit := func(c byte) bool { return '0' <= c && c <= '9' }
	alnum := func(c byte) bool { return lower(c) || 'A' <= c && c <= 'Z' || digit(c) }
	graph := func(c byte) bool { return '!' <= c && c <= '~' }
	switch name {
	case "alnum":
		has = alnum
	case "alpha":
		has = func(c byte) bool { return alnum(c) && !digit(c) }
	case "blank":
		has = func(c byte) bool { return c == ' ' || c == '\t' }
	case "cntrl":
		has = func(c byte) bool { return c < ' ' || c == 0x7f }
	case "digit":
		has = digit
	case "graph":
		has = graph
	case "lower":
		has = lower
	case "print":
		has = func(c byte) bool { return c == ' ' || graph(c) }
	case "punct":
		has = func(c byte) bool { return graph(c) && !alnum(c) }
	case "space":
		has = func(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
	case "upper":
		has = upper
	case "xdigit":
		has = func(c byte) bool { return digit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F' }
	default:
		return false
	}
	for c := range 256 {
		if has(byte(c)) {
			set[c] = true
		}
	}
	return true
}
