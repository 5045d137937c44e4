package regex

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// SyntaxError says why a pattern was refused.
type SyntaxError struct {
	Offset int    // in bytes from the start of the pattern
	Reason string // what is wrong there
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("invalid pattern: %s (at offset %d)", e.Reason, e.Offset)
}

// nestLimit is how deep the syntax tree may be. One level is taken by the group
// that ripgrep, whose limit this is, puts around a pattern.
const nestLimit = 250 - 1

// flags are the settings that (?flags) changes. The zero value is not the default.
type flags struct {
	ignoreCase, multiLine, dotAll, swapGreed, unicode, crlf, verbose bool
}

// item is a parsed expression that may still get a repetition operator.
type item struct {
	node *node
	// depth counts the levels of the syntax tree, not of the simplified node.
	depth int
	// bare is set for what no repetition may follow: (?flags) and nothing at all.
	bare bool
}

// frame is an open group and what stood before it.
type frame struct {
	concat, alts []item
	flags        flags
	capture      bool
	open         int
}

type parser struct {
	pattern string
	pos     int
	flags   flags
	frames  []frame
	concat  []item // the alternative being read
	alts    []item // the finished alternatives of the group being read
	names   []string
	fold    *folding
	alpha   runeSet
}

// eof is what char returns at the end of the pattern.
const eof rune = -1

func (p *parser) char() rune {
	if p.pos >= len(p.pattern) {
		return eof
	}
	c, _ := utf8.DecodeRuneInString(p.pattern[p.pos:])
	return c
}

func (p *parser) next() rune {
	if c := p.char(); c != eof {
		p.pos += utf8.RuneLen(c)
	}
	return p.char()
}

// skipSpace skips blanks and comments where the flag x makes them meaningless.
func (p *parser) skipSpace() {
	for p.flags.verbose {
		switch c := p.char(); {
		case c != eof && unicode.IsSpace(c):
			p.next()
		case c == '#':
			if i := strings.IndexByte(p.pattern[p.pos:], '\n'); i >= 0 {
				p.pos += i + 1
			} else {
				p.pos = len(p.pattern)
			}
		default:
			return
		}
	}
}

// nextToken goes to the next character and past blanks that have no meaning.
func (p *parser) nextToken() rune {
	p.next()
	p.skipSpace()
	return p.char()
}

func (p *parser) take(s string) bool {
	if strings.HasPrefix(p.pattern[p.pos:], s) {
		p.pos += len(s)
		return true
	}
	return false
}

func (p *parser) fail(offset int, format string, args ...any) error {
	return &SyntaxError{Offset: offset, Reason: fmt.Sprintf(format, args...)}
}

// parse reads a pattern in the syntax of Rust's regex crate, as ripgrep sets it up:
// line by line, with Unicode, and without octal escapes.
func parse(pattern string, ignoreCase bool) (*node, error) {
	if !utf8.ValidString(pattern) {
		bad := 0
		for i, c := range pattern {
			if _, size := utf8.DecodeRuneInString(pattern[i:]); c == utf8.RuneError && size == 1 {
				bad = i
				break
			}
		}
		return nil, &SyntaxError{Offset: bad, Reason: "the pattern is not valid UTF-8"}
	}
	p := &parser{pattern: pattern}
	p.flags = flags{ignoreCase: ignoreCase, multiLine: true, unicode: true}
	for {
		p.skipSpace()
		if p.char() == eof {
			break
		}
		if err := p.step(); err != nil {
			return nil, err
		}
	}
	if n := len(p.frames); n > 0 {
		return nil, p.fail(p.frames[n-1].open, "this group is not closed")
	}
	whole := p.finishGroup()
	if whole.depth > nestLimit {
		return nil, p.fail(0, "the pattern is nested more than %d levels deep", nestLimit)
	}
	return whole.node, nil
}

func (p *parser) step() error {
	switch p.char() {
	case '(':
		return p.openGroup()
	case ')':
		return p.closeGroup()
	case '|':
		p.alts = append(p.alts, p.finishConcat())
		p.next()
		return nil
	case '[':
		set, depth, err := p.class(0)
		if err != nil {
			return err
		}
		p.push(p.setNode(set), depth)
		return nil
	case '?':
		return p.repeat(0, 1)
	case '*':
		return p.repeat(0, noLimit)
	case '+':
		return p.repeat(1, noLimit)
	case '{':
		return p.counted()
	}
	prim, err := p.primitive()
	if err != nil {
		return err
	}
	p.push(prim.node, 0)
	return nil
}

func (p *parser) push(n *node, depth int) {
	p.concat = append(p.concat, item{node: n, depth: depth})
}

func (p *parser) setNode(set runeSet) *node {
	if p.flags.unicode {
		return runesNode(set)
	}
	return bytesNode(set)
}

// finishConcat ends an alternative.
func (p *parser) finishConcat() item {
	items := p.concat
	p.concat = nil
	switch len(items) {
	case 0:
		return item{node: emptyNode(), bare: true}
	case 1:
		return items[0]
	}
	return join(items, concatNode)
}

// finishGroup ends the last alternative of a group.
func (p *parser) finishGroup() item {
	last, alts := p.finishConcat(), p.alts
	p.alts = nil
	if len(alts) == 0 {
		return last
	}
	return join(append(alts, last), alternateNode)
}

func join(items []item, build func([]*node) *node) item {
	nodes := make([]*node, len(items))
	depth := 0
	for i, it := range items {
		nodes[i] = it.node
		depth = max(depth, it.depth)
	}
	return item{node: build(nodes), depth: depth + 1}
}

func (p *parser) closeGroup() error {
	n := len(p.frames)
	if n == 0 {
		return p.fail(p.pos, "there is no open group that this \")\" could close")
	}
	inner, f := p.finishGroup(), p.frames[n-1]
	p.frames = p.frames[:n-1]
	p.concat, p.alts, p.flags = f.concat, f.alts, f.flags
	p.next()
	sub := inner.node
	if f.capture {
		sub = captureNode(sub)
	}
	p.push(sub, inner.depth+1)
	return nil
}

func (p *parser) openGroup() error {
	open := p.pos
	p.next()
	p.skipSpace()
	for _, look := range []string{"?=", "?!", "?<=", "?<!"} {
		if strings.HasPrefix(p.pattern[p.pos:], look) {
			return p.fail(open, "look-around, such as \"(%s…)\", is not supported", look)
		}
	}
	f := frame{flags: p.flags, open: open, capture: true}
	switch {
	case strings.HasPrefix(p.pattern[p.pos:], "?P="):
		return p.fail(open, "backreferences, such as \"(?P=name)\", are not supported")
	case p.take("?P<") || p.take("?<"):
		if err := p.groupName(); err != nil {
			return err
		}
	case p.take("?"):
		changed, any, err := p.flagList(open)
		if err != nil {
			return err
		}
		end := p.char()
		p.next()
		if end == ')' {
			if !any {
				return p.fail(open+1, "there is nothing before \"?\" to repeat")
			}
			p.flags = changed
			p.concat = append(p.concat, item{node: emptyNode(), bare: true})
			return nil
		}
		f.capture = false
		defer func() { p.flags = changed }()
	}
	if len(p.frames) >= nestLimit {
		return p.fail(open, "the pattern is nested more than %d levels deep", nestLimit)
	}
	f.concat, f.alts = p.concat, p.alts
	p.frames = append(p.frames, f)
	p.concat, p.alts = nil, nil
	return nil
}

// groupName reads "name>" and checks the name; nothing else needs it.
func (p *parser) groupName() error {
	start := p.pos
	for c := p.char(); c != '>'; c = p.next() {
		if c == eof {
			return p.fail(start, "the name of this group is not closed by \">\"")
		}
		if !p.nameChar(c, p.pos == start) {
			return p.fail(p.pos, "%q cannot stand here in the name of a group", c)
		}
	}
	name := p.pattern[start:p.pos]
	p.next()
	if name == "" {
		return p.fail(start, "the name of this group is empty")
	}
	if slices.Contains(p.names, name) {
		return p.fail(start, "there are two groups of the name %q", name)
	}
	p.names = append(p.names, name)
	return nil
}

func (p *parser) nameChar(c rune, first bool) bool {
	if c < utf8.RuneSelf {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_'
		return letter || !first && ('0' <= c && c <= '9' || c == '.' || c == '[' || c == ']')
	}
	if p.alpha == nil {
		p.alpha = mustSet("prop:alphabetic")
	}
	return p.alpha.contains(c) || !first && mustSet("gc:n").contains(c)
}

// flagList reads the flags after "(?" up to ":" or ")".
func (p *parser) flagList(open int) (f flags, any bool, err error) {
	f = p.flags
	on, dash, seen := true, -1, ""
	for c := p.char(); c != ':' && c != ')'; c = p.next() {
		if c == eof {
			return f, any, p.fail(open, "this group is not closed")
		}
		any = true
		if c == '-' {
			if !on {
				return f, any, p.fail(p.pos, "there is a second \"-\" among the flags")
			}
			on, dash = false, p.pos
			continue
		}
		dash = -1
		switch c {
		case 'i':
			f.ignoreCase = on
		case 'm':
			f.multiLine = on
		case 's':
			f.dotAll = on
		case 'U':
			f.swapGreed = on
		case 'u':
			f.unicode = on
		case 'R':
			f.crlf = on
		case 'x':
			f.verbose = on
		default:
			return f, any, p.fail(p.pos, "%q is not a flag; the flags are i, m, s, R, U, u and x", c)
		}
		if strings.ContainsRune(seen, c) {
			return f, any, p.fail(p.pos, "the flag %q is given twice", c)
		}
		seen += string(c)
	}
	if dash >= 0 {
		return f, any, p.fail(dash, "no flag follows this \"-\"")
	}
	return f, any, nil
}
