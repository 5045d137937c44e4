package regex

import (
	"strings"
	"unicode/utf8"
)

// union gathers what stands between two operators of a class.
type union struct {
	set          runeSet
	count, depth int
}

func (u *union) add(set runeSet, depth int) {
	u.set = append(u.set, set...)
	u.count++
	u.depth = max(u.depth, depth)
}

// close returns the gathered set and its depth in the syntax tree.
func (u *union) close() (runeSet, int) {
	depth := u.depth
	if u.count > 1 {
		depth++
	}
	set := u.set.canonical()
	*u = union{}
	return set, depth
}

// class reads a bracketed class; level is how many classes it stands in. It returns
// the set and its depth in the syntax tree.
func (p *parser) class(level int) (runeSet, int, error) {
	open := p.pos
	unclosed := func() error { return p.fail(open, "this class is not closed by \"]\"") }
	if level >= nestLimit {
		return nil, 0, p.fail(open, "the pattern is nested more than %d levels deep", nestLimit)
	}
	negated := p.nextToken() == '^'
	if negated {
		p.nextToken()
	}
	var u union
	for p.char() == '-' { // leading hyphens are literal
		u.add(runeSet{{'-', '-'}}, 0)
		p.nextToken()
	}
	if u.count == 0 && p.char() == ']' { // and so is a bracket in the first place
		u.add(runeSet{{']', ']'}}, 0)
		p.nextToken()
	}
	var left runeSet
	op, leftDepth := "", 0
	// apply combines what was read last with what stands left of the operator.
	apply := func() (runeSet, int) {
		set, depth := u.close()
		if op == "" {
			return set, depth
		}
		l, r := p.foldAndNegate(left, false), p.foldAndNegate(set, false)
		switch op {
		case "&&":
			set = l.intersect(r)
		case "--":
			set = l.minus(r)
		default:
			set = l.differing(r)
		}
		return set, 1 + max(leftDepth, depth)
	}
	for {
		p.skipSpace()
		c := p.char()
		switch c {
		case eof:
			return nil, 0, unclosed()
		case ']':
			set, depth := apply()
			p.next()
			return p.foldAndNegate(set, negated), depth + 1, nil
		case '[':
			if set, ok := p.posixClass(); ok {
				u.add(set, 0)
				continue
			}
			set, depth, err := p.class(level + 1)
			if err != nil {
				return nil, 0, err
			}
			u.add(set, depth)
			continue
		case '&', '-', '~':
			if twice := string([]rune{c, c}); p.take(twice) {
				left, leftDepth = apply()
				op = twice
				continue
			}
		}
		set, err := p.classRange(unclosed)
		if err != nil {
			return nil, 0, err
		}
		u.add(set, 0)
	}
}

// classRange reads a character, a range of characters or a set that is an escape.
func (p *parser) classRange(unclosed func() error) (runeSet, error) {
	first, err := p.classItem()
	if err != nil {
		return nil, err
	}
	p.skipSpace()
	if p.char() == eof {
		return nil, unclosed()
	}
	if p.char() == '-' {
		if c := p.peekToken(); c != ']' && c != '-' {
			if p.nextToken() == eof {
				return nil, unclosed()
			}
			last, err := p.classItem()
			if err != nil {
				return nil, err
			}
			for _, end := range []primitive{first, last} {
				if !end.isChar && !end.isByte {
					return nil, p.fail(end.at, "a range can only run from one character to another")
				}
			}
			if first.char > last.char {
				return nil, p.fail(first.at, "this range runs backwards")
			}
			for _, end := range []primitive{first, last} {
				if err := p.checkByte(end); err != nil {
					return nil, err
				}
			}
			return runeSet{{first.char, last.char}}, nil
		}
	}
	switch {
	case first.isSet:
		return first.set, nil
	case first.isChar || first.isByte:
		return runeSet{{first.char, first.char}}, p.checkByte(first)
	}
	return nil, p.fail(first.at, "an assertion cannot stand in a class")
}

// checkByte refuses characters in a class of bytes.
func (p *parser) checkByte(prim primitive) error {
	if !p.flags.unicode && prim.isChar && prim.char >= utf8.RuneSelf {
		return p.fail(prim.at, "%q is more than one byte and cannot stand in a class where (?-u) is in force", prim.char)
	}
	return nil
}

func (p *parser) classItem() (primitive, error) {
	if p.char() == '\\' {
		return p.escape()
	}
	prim := primitive{at: p.pos, isChar: true, char: p.char()}
	p.next()
	return prim, nil
}

// peekToken returns the next character that has a meaning, without going there.
func (p *parser) peekToken() rune {
	at := p.pos
	c := p.nextToken()
	p.pos = at
	return c
}

// posixClass reads a class such as [:alpha:], or nothing.
func (p *parser) posixClass() (runeSet, bool) {
	rest, ok := strings.CutPrefix(p.pattern[p.pos:], "[:")
	if !ok {
		return nil, false
	}
	name, _, ok := strings.Cut(rest, ":]")
	if !ok {
		return nil, false
	}
	size := len("[:") + len(name) + len(":]")
	name, negated := strings.CutPrefix(name, "^")
	set := asciiClass(name)
	if set == nil {
		return nil, false
	}
	p.pos += size
	return p.foldAndNegate(set, negated), true
}

// asciiClass returns the set of a POSIX name, nil if there is no such name.
func asciiClass(name string) runeSet {
	switch name {
	case "alnum":
		return runeSet{{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}
	case "alpha":
		return runeSet{{'A', 'Z'}, {'a', 'z'}}
	case "ascii":
		return runeSet{{0, 0x7F}}
	case "blank":
		return runeSet{{'\t', '\t'}, {' ', ' '}}
	case "cntrl":
		return runeSet{{0, 0x1F}, {0x7F, 0x7F}}
	case "digit":
		return runeSet{{'0', '9'}}
	case "graph":
		return runeSet{{'!', '~'}}
	case "lower":
		return runeSet{{'a', 'z'}}
	case "print":
		return runeSet{{' ', '~'}}
	case "punct":
		return runeSet{{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}
	case "space":
		return runeSet{{'\t', '\r'}, {' ', ' '}}
	case "upper":
		return runeSet{{'A', 'Z'}}
	case "word":
		return runeSet{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}
	case "xdigit":
		return runeSet{{'0', '9'}, {'A', 'F'}, {'a', 'f'}}
	}
	return nil
}
