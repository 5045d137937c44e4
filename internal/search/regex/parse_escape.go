package regex

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// primitive is one character, escape, "." or assertion.
type primitive struct {
	node *node
	at   int
	// What it is inside a class: a character, the byte of \xNN, or a set.
	isChar, isByte, isSet bool
	char                  rune
	set                   runeSet
}

func (p *parser) primitive() (primitive, error) {
	at, c := p.pos, p.char()
	f := p.flags
	switch c {
	case '\\':
		return p.escape()
	case '.':
		p.next()
		return primitive{node: p.dot(), at: at}, nil
	case '^':
		p.next()
		return primitive{node: lookNode(pick(!f.multiLine, lookTextStart, pick(f.crlf, lookLineStartCR, lookLineStart))), at: at}, nil
	case '$':
		p.next()
		return primitive{node: lookNode(pick(!f.multiLine, lookTextEnd, pick(f.crlf, lookLineEndCR, lookLineEnd))), at: at}, nil
	}
	p.next()
	return p.literal(at, c), nil
}

func pick(cond bool, yes, no look) look {
	if cond {
		return yes
	}
	return no
}

func (p *parser) dot() *node {
	var except runeSet
	switch {
	case p.flags.dotAll:
	case p.flags.crlf:
		except = setOf(runeRange{'\n', '\n'}, runeRange{'\r', '\r'})
	default:
		except = runeSet{{'\n', '\n'}}
	}
	return p.setNode(except.negate(p.limit()))
}

// limit is the greatest member of a class: a code point or a byte.
func (p *parser) limit() rune {
	if p.flags.unicode {
		return maxRune
	}
	return maxByte
}

// literal is a character that stands for itself.
func (p *parser) literal(at int, c rune) primitive {
	prim := primitive{at: at, isChar: true, char: c}
	switch {
	case !p.flags.ignoreCase:
		prim.node = runeNode(c)
	case p.flags.unicode:
		prim.node = runesNode(p.folding().char(c))
	case c < utf8.RuneSelf:
		prim.node = bytesNode(runeSet{{c, c}}.foldASCII())
	default:
		prim.node = runeNode(c)
	}
	return prim
}

func (p *parser) folding() *folding {
	if p.fold == nil {
		p.fold = loadFolding()
	}
	return p.fold
}

func (p *parser) escape() (primitive, error) {
	at := p.pos
	c := p.next()
	switch c {
	case eof:
		return primitive{}, p.fail(at, "the pattern ends in the middle of an escape")
	case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return primitive{}, p.fail(at, "backreferences, such as \"\\%c\", are not supported, nor is octal", c)
	case 'x', 'u', 'U':
		return p.hex(at, c)
	case 'p', 'P':
		return p.property(at, c == 'P')
	case 'd', 's', 'w', 'D', 'S', 'W':
		p.next()
		set := p.perl(c)
		return primitive{node: p.setNode(set), at: at, isSet: true, set: set}, nil
	}
	p.next()
	if i := strings.IndexRune("aftnrv", c); i >= 0 {
		return p.literal(at, rune("\a\f\t\n\r\v"[i])), nil
	}
	u := p.flags.unicode
	var l look
	switch c {
	case 'A':
		l = lookTextStart
	case 'z':
		l = lookTextEnd
	case 'b':
		return p.wordBoundary(at)
	case 'B':
		l = pick(u, lookNotWord, lookNotWordASCII)
	case '<':
		l = pick(u, lookWordStart, lookWordStartASCII)
	case '>':
		l = pick(u, lookWordEnd, lookWordEndASCII)
	default:
		if c >= utf8.RuneSelf || 'a' <= c|0x20 && c|0x20 <= 'z' {
			return primitive{}, p.fail(at, "\"\\%c\" is not an escape", c)
		}
		return p.literal(at, c), nil
	}
	return primitive{node: lookNode(l), at: at}, nil
}

// wordBoundary reads what may follow "\b".
func (p *parser) wordBoundary(at int) (primitive, error) {
	u := p.flags.unicode
	plain := primitive{node: lookNode(pick(u, lookWord, lookWordASCII)), at: at}
	if p.char() != '{' {
		return plain, nil
	}
	brace := p.pos
	valid := func(c rune) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' || c == '-' }
	if c := p.nextToken(); c == eof {
		return primitive{}, p.fail(brace, "the pattern ends after this \"{\"")
	} else if !valid(c) {
		p.pos = brace // a counted repetition of \b
		return plain, nil
	}
	name := ""
	for c := p.char(); valid(c); c = p.nextToken() {
		name += string(c)
	}
	if p.char() != '}' {
		return primitive{}, p.fail(brace, "this word boundary is not closed by \"}\"")
	}
	p.next()
	var l look
	switch name {
	case "start":
		l = pick(u, lookWordStart, lookWordStartASCII)
	case "end":
		l = pick(u, lookWordEnd, lookWordEndASCII)
	case "start-half":
		l = pick(u, lookWordStartHalf, lookWordStartHalfASCII)
	case "end-half":
		l = pick(u, lookWordEndHalf, lookWordEndHalfASCII)
	default:
		return primitive{}, p.fail(brace, "%q is not a word boundary; they are start, end, start-half and end-half", name)
	}
	return primitive{node: lookNode(l), at: at}, nil
}

// hex reads a code point in hexadecimal, after "\x", "\u" or "\U".
func (p *parser) hex(at int, kind rune) (primitive, error) {
	incomplete := func() error { return p.fail(at, "the pattern ends in the middle of an escape") }
	if p.nextToken() == eof {
		return primitive{}, incomplete()
	}
	digits, braced := "", p.char() == '{'
	isHex := func(c rune) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f' }
	if braced {
		for p.nextToken() != '}' {
			c := p.char()
			if c == eof {
				return primitive{}, incomplete()
			}
			if !isHex(c) {
				return primitive{}, p.fail(p.pos, "%q is not a hexadecimal digit", c)
			}
			digits += string(c)
		}
	} else {
		want := map[rune]int{'x': 2, 'u': 4, 'U': 8}[kind]
		for {
			c := p.char()
			if c == eof {
				return primitive{}, incomplete()
			}
			if !isHex(c) {
				return primitive{}, p.fail(p.pos, "%q is not a hexadecimal digit; \"\\%c\" takes %d of them", c, kind, want)
			}
			if digits += string(c); len(digits) == want {
				break
			}
			p.nextToken()
		}
	}
	p.nextToken()
	if digits == "" {
		return primitive{}, p.fail(at, "there is no number between the braces")
	}
	v, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || v > maxRune || !utf8.ValidRune(rune(v)) {
		return primitive{}, p.fail(at, "%s is not the number of a Unicode character", digits)
	}
	c := rune(v)
	if !p.flags.unicode && kind == 'x' && !braced && c >= utf8.RuneSelf {
		return primitive{node: literalNode([]byte{byte(c)}), at: at, isByte: true, char: c}, nil
	}
	return p.literal(at, c), nil
}

// perl returns the set of \d, \s, \w or their opposites.
func (p *parser) perl(c rune) runeSet {
	var set runeSet
	switch {
	case !p.flags.unicode:
		set = asciiClass(map[rune]string{'d': "digit", 's': "space", 'w': "word"}[c|0x20])
	case c|0x20 == 'd':
		set = mustSet("gc:nd")
	case c|0x20 == 's':
		set = mustSet("prop:whitespace")
	default:
		set = mustSet("perl:w")
	}
	if c < 'a' {
		set = set.negate(p.limit())
	}
	return set
}

// property reads what follows "\p" or "\P".
func (p *parser) property(at int, negated bool) (primitive, error) {
	c := p.nextToken()
	var name string
	switch c {
	case eof:
		return primitive{}, p.fail(at, "the pattern ends in the middle of an escape")
	case '\\':
		return primitive{}, p.fail(at, "\"\\p\" needs the name of a Unicode property")
	case '{':
		var b strings.Builder
		for c = p.nextToken(); c != '}'; c = p.nextToken() {
			if c == eof {
				return primitive{}, p.fail(at, "the name of this Unicode property is not closed by \"}\"")
			}
			b.WriteRune(c)
		}
		name = b.String()
		p.next()
	default:
		name = string(c)
		p.nextToken()
	}
	if !p.flags.unicode {
		return primitive{}, p.fail(at, "a Unicode property cannot be used where (?-u) is in force")
	}
	var value string
	hasValue := false
	for _, op := range []string{"!=", ":", "="} {
		if before, after, ok := strings.Cut(name, op); ok && c == '}' {
			// Rust's crate reads "!=" but takes it for "=", and so does ripgrep.
			name, value, hasValue = before, after, true
			break
		}
	}
	set, problem := property(name, value, hasValue)
	if problem != "" {
		return primitive{}, p.fail(at, "%s", problem)
	}
	set = p.foldAndNegate(set, negated)
	return primitive{node: runesNode(set), at: at, isSet: true, set: set}, nil
}

func (p *parser) foldAndNegate(set runeSet, negated bool) runeSet {
	switch {
	case !p.flags.ignoreCase:
	case p.flags.unicode:
		set = p.folding().set(set)
	default:
		set = set.foldASCII()
	}
	if negated {
		set = set.negate(p.limit())
	}
	return set
}
