package search

// The syntax tree of a glob: a sequence of items, some of which hold
// alternatives that are sequences again.

type itemKind uint8

const (
	itemChar  itemKind = iota // one given character
	itemAny                   // ?
	itemStar                  // *
	itemDeep                  // **
	itemClass                 // [...]
	itemGroup                 // {...}
)

type globItem struct {
	kind  itemKind
	char  rune
	class *globClass
	alts  [][]globItem
	text  string // of a class or a group, as written
}

type globClass struct {
	negated bool
	ranges  []rune // pairs, both ends included
}

func (c *globClass) has(r rune) bool {
	if r == '/' {
		return false
	}
	for i := 0; i < len(c.ranges); i += 2 {
		if c.ranges[i] <= r && r <= c.ranges[i+1] {
			return !c.negated
		}
	}
	return c.negated
}

const maxGlobNesting = 50

type globParser struct {
	src string
	at  int
}

// sequence reads items up to the end or, inside braces, up to the comma or
// brace that ends the alternative, which it leaves to be read.
func (p *globParser) sequence(depth int) ([]globItem, error) {
	if depth > maxGlobNesting {
		return nil, ErrBadGlob
	}
	var items []globItem
	for p.at < len(p.src) {
		switch c := p.src[p.at]; {
		case depth > 0 && (c == ',' || c == '}'):
			return items, nil
		case c == '*':
			start := p.at
			for p.at < len(p.src) && p.src[p.at] == '*' {
				p.at++
			}
			kind := itemStar
			if p.at-start > 1 {
				kind = itemDeep
			}
			items = append(items, globItem{kind: kind})
		case c == '?':
			p.at++
			items = append(items, globItem{kind: itemAny})
		case c == '[':
			it, err := p.bracket()
			if err != nil {
				return nil, err
			}
			items = append(items, it)
		case c == '{':
			it, err := p.braces(depth)
			if err != nil {
				return nil, err
			}
			items = append(items, it)
		case c == '\\':
			p.at++
			if p.at == len(p.src) {
				return nil, ErrBadGlob
			}
			items = append(items, p.char())
		default:
			items = append(items, p.char())
		}
	}
	return items, nil
}

func (p *globParser) char() globItem {
	r, n := decodeGlob(p.src[p.at:])
	p.at += n
	return globItem{kind: itemChar, char: r}
}

func (p *globParser) braces(depth int) (globItem, error) {
	it := globItem{kind: itemGroup}
	start := p.at
	for {
		p.at++ // the brace or the comma
		alt, err := p.sequence(depth + 1)
		if err != nil {
			return it, err
		}
		it.alts = append(it.alts, alt)
		if p.at == len(p.src) {
			return it, ErrBadGlob
		}
		if p.src[p.at] == '}' {
			break
		}
	}
	p.at++
	it.text = p.src[start:p.at]
	return it, nil
}

// bracket reads a class. A closing bracket in first place is a member, as is a
// dash in first or last place. A range that runs backwards is empty rather than
// an error, because the same text may be the name of a file.
func (p *globParser) bracket() (globItem, error) {
	it := globItem{kind: itemClass, class: &globClass{}}
	start := p.at
	p.at++
	if p.at < len(p.src) && (p.src[p.at] == '!' || p.src[p.at] == '^') {
		it.class.negated = true
		p.at++
	}
	for first := true; ; first = false {
		if p.at == len(p.src) {
			return it, ErrBadGlob
		}
		if p.src[p.at] == ']' && !first {
			break
		}
		lo, err := p.member()
		if err != nil {
			return it, err
		}
		hi := lo
		if rest := p.src[p.at:]; len(rest) > 1 && rest[0] == '-' && rest[1] != ']' {
			p.at++
			if hi, err = p.member(); err != nil {
				return it, err
			}
		}
		it.class.ranges = append(it.class.ranges, lo, hi)
	}
	p.at++
	it.text = p.src[start:p.at]
	return it, nil
}

func (p *globParser) member() (rune, error) {
	if p.src[p.at] == '\\' {
		p.at++
		if p.at == len(p.src) {
			return 0, ErrBadGlob
		}
	}
	r, n := decodeGlob(p.src[p.at:])
	p.at += n
	return r, nil
}
