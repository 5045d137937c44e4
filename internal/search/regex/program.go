package regex

import (
	"encoding/binary"
	"slices"
)

type opcode uint8

const (
	opByte  opcode = iota // reads the byte arg
	opBytes               // reads a byte of the set prog.byteSets[arg]
	opChar                // reads a character of prog.classes[arg]
	opSplit               // goes on at next and at arg
	opLook                // goes on if the assertion arg holds
	opMatch
	opFail
)

// inst is one instruction of a program: what a thread at it does before it goes on
// at next.
type inst struct {
	op   opcode
	arg  uint32
	next uint32
}

type byteSet [4]uint64

func (s *byteSet) has(b byte) bool { return s[b>>6]>>(b&63)&1 != 0 }

// program is a nondeterministic automaton. Unlike the usual ones it reads a whole
// character in one instruction, the state within the character being part of the
// thread; so \w costs one instruction and not some hundred.
type program struct {
	insts    []inst
	start    uint32
	classes  []*charClass
	byteSets []byteSet

	// columns maps a byte to its column in the transition tables; the bytes of a
	// column are alike to the program. endColumn stands for the end of the text.
	columns   [256]uint8
	endColumn int
	// sample is a byte of each column.
	sample []byte

	looks       bool // some assertion is used
	unicodeWord bool // one that has to know whether characters are word characters
	wholeText   bool // \A or \z is used: every line is a text of its own
	word, other *charClass
}

type compiler struct {
	prog     *program
	classIDs map[string]uint32
	byteIDs  map[byteSet]uint32
	// last is the class asked for last, and lastID its number.
	last   runeSet
	lastID uint32
}

// compile makes a program of a pattern.
func compile(n *node) *program {
	// Assertions count for this even where trim leaves them out.
	c := &compiler{prog: &program{wholeText: n.asksForText()}, classIDs: map[string]uint32{}, byteIDs: map[byteSet]uint32{}}
	c.emit(inst{op: opMatch})
	p := c.prog
	p.start = c.node(trim(n), 0)
	if p.unicodeWord {
		word := mustSet("perl:w")
		p.word, p.other = newCharClass(word), newCharClass(word.negate(maxRune))
	}
	p.setColumns()
	return p
}

func (c *compiler) emit(i inst) uint32 {
	c.prog.insts = append(c.prog.insts, i)
	return uint32(len(c.prog.insts) - 1)
}

// node compiles n such that it goes on at next; it returns where n begins. Since
// everything is compiled back to front, no jump has to be patched but those of loops.
func (c *compiler) node(n *node, next uint32) uint32 {
	switch n.kind {
	case kindLiteral:
		for _, b := range slices.Backward(n.lit) {
			next = c.emit(inst{op: opByte, arg: uint32(b), next: next})
		}
	case kindRunes:
		next = c.emit(inst{op: opChar, arg: c.class(n.set), next: next})
	case kindBytes:
		if len(n.set) == 0 {
			return c.emit(inst{op: opFail})
		}
		next = c.emit(inst{op: opBytes, arg: c.byteSet(n.set), next: next})
	case kindLook:
		c.prog.looks = true
		c.prog.unicodeWord = c.prog.unicodeWord || n.look.isUnicodeWord()
		next = c.emit(inst{op: opLook, arg: uint32(n.look), next: next})
	case kindConcat:
		for _, s := range slices.Backward(n.subs) {
			next = c.node(s, next)
		}
	case kindAlternate:
		last := len(n.subs) - 1
		begin := c.node(n.subs[last], next)
		for _, s := range slices.Backward(n.subs[:last]) {
			begin = c.emit(inst{op: opSplit, next: c.node(s, next), arg: begin})
		}
		return begin
	case kindRepeat:
		return c.repeat(n, next)
	}
	return next
}

func (c *compiler) repeat(n *node, next uint32) uint32 {
	sub, rounds, end := n.subs[0], n.min, next
	if n.max == noLimit {
		loop := c.emit(inst{op: opSplit, arg: end})
		body := c.node(sub, loop)
		c.prog.insts[loop].next = body
		next = loop
		if rounds > 0 {
			next = body // the loop's body is the last of the rounds that have to be
			rounds--
		}
	} else {
		for range n.max - n.min { // each optional round may be the first that is left out
			next = c.emit(inst{op: opSplit, next: c.node(sub, next), arg: end})
		}
	}
	for range rounds {
		next = c.node(sub, next)
	}
	return next
}

func (c *compiler) class(set runeSet) uint32 {
	if len(c.last) > 0 && len(set) == len(c.last) && &set[0] == &c.last[0] {
		return c.lastID // a repetition
	}
	var key []byte
	for _, r := range set {
		key = binary.LittleEndian.AppendUint32(key, uint32(r.lo))
		key = binary.LittleEndian.AppendUint32(key, uint32(r.hi))
	}
	id, ok := c.classIDs[string(key)]
	if !ok {
		id = uint32(len(c.prog.classes))
		c.classIDs[string(key)] = id
		c.prog.classes = append(c.prog.classes, newCharClass(set))
	}
	c.last, c.lastID = set, id
	return id
}

func (c *compiler) byteSet(set runeSet) uint32 {
	var s byteSet
	for _, r := range set {
		for b := r.lo; b <= r.hi; b++ {
			s[b>>6] |= 1 << (b & 63)
		}
	}
	id, ok := c.byteIDs[s]
	if !ok {
		id = uint32(len(c.prog.byteSets))
		c.byteIDs[s] = id
		c.prog.byteSets = append(c.prog.byteSets, s)
	}
	return id
}

// setColumns divides the bytes into columns.
func (p *program) setColumns() {
	var edges [257]bool
	edge := func(lo, hi int) { edges[lo], edges[hi+1] = true, true }
	edge('\n', '\n')
	for _, i := range p.insts {
		if i.op == opByte {
			edge(int(i.arg), int(i.arg))
		}
	}
	for i := range p.byteSets {
		for b := 1; b < 256; b++ {
			if p.byteSets[i].has(byte(b)) != p.byteSets[i].has(byte(b-1)) {
				edges[b] = true
			}
		}
	}
	for _, c := range p.classes {
		c.split(&edges)
	}
	if p.looks {
		edge('\r', '\r')
		for b := 1; b < 0x80; b++ {
			if isWordByte(byte(b)) != isWordByte(byte(b-1)) {
				edges[b] = true
			}
		}
		edges[0x80] = true
	}
	if p.unicodeWord {
		p.word.split(&edges)
		p.other.split(&edges)
	}
	column := 0
	for b := range 256 {
		if edges[b] && b > 0 {
			column++
		}
		if column == len(p.sample) {
			p.sample = append(p.sample, byte(b))
		}
		p.columns[b] = uint8(column)
	}
	p.endColumn = column + 1
}
