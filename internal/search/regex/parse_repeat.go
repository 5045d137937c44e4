package regex

import (
	"math"
	"strconv"
	"unicode"
)

// operand takes back the item that a repetition operator at the current position
// applies to.
func (p *parser) operand() (item, error) {
	n := len(p.concat)
	if n == 0 || p.concat[n-1].bare {
		return item{}, p.fail(p.pos, "there is nothing before %q to repeat", string(p.char()))
	}
	it := p.concat[n-1]
	p.concat = p.concat[:n-1]
	return it, nil
}

// repeat reads one of the operators "?", "*" and "+".
func (p *parser) repeat(min, max int) error {
	at := p.pos
	it, err := p.operand()
	if err != nil {
		return err
	}
	lazy := p.next() == '?'
	if lazy {
		p.next()
	}
	return p.pushRepeat(at, it, min, max, lazy)
}

func (p *parser) pushRepeat(at int, it item, min, max int, lazy bool) error {
	if it.depth >= nestLimit {
		return p.fail(at, "the pattern is nested more than %d levels deep", nestLimit)
	}
	p.push(repeatNode(it.node, min, max, lazy != p.flags.swapGreed), it.depth+1)
	return nil
}

// counted reads an operator of the kinds "{n}", "{n,}" and "{n,m}".
func (p *parser) counted() error {
	at := p.pos
	it, err := p.operand()
	if err != nil {
		return err
	}
	unclosed := func() error { return p.fail(at, "this repetition is not closed by \"}\"") }
	if p.nextToken() == eof {
		return unclosed()
	}
	min, err := p.decimal()
	if err != nil {
		return err
	}
	max := min
	if p.char() == ',' {
		switch p.nextToken() {
		case eof:
			return unclosed()
		case '}':
			max = noLimit
		default:
			if max, err = p.decimal(); err != nil {
				return err
			}
		}
	}
	if p.char() != '}' {
		return unclosed()
	}
	lazy := p.nextToken() == '?'
	if lazy {
		p.next()
	}
	if max != noLimit && min > max {
		return p.fail(at, "the range {%d,%d} runs backwards", min, max)
	}
	return p.pushRepeat(at, it, min, max, lazy)
}

// decimal reads a number that blanks may surround.
func (p *parser) decimal() (int, error) {
	for p.char() != eof && unicode.IsSpace(p.char()) {
		p.next()
	}
	start, digits := p.pos, ""
	for c := p.char(); '0' <= c && c <= '9'; c = p.nextToken() {
		digits += string(c)
	}
	for p.char() != eof && unicode.IsSpace(p.char()) {
		p.nextToken()
	}
	if digits == "" {
		return 0, p.fail(start, "a repetition needs a number here; write \"\\{\" for a brace")
	}
	n, err := strconv.ParseUint(digits, 10, 32)
	if err != nil {
		return 0, p.fail(start, "a repetition cannot be counted beyond %d", uint32(math.MaxUint32))
	}
	return int(n), nil
}
