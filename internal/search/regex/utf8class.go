package regex

import "math/bits"

// charClass is an automaton that reads the UTF-8 encoding of one member of a set of
// code points. Its states are small numbers: classDead, classDone, then the leaves,
// which await the last byte, then the inner states, which await an earlier one.
type charClass struct {
	first  [256]uint16  // the state after the first byte
	leaves []uint64     // bit i is set if the byte 0x80+i ends a member
	inner  [][64]uint16 // the state after the byte 0x80+i
}

const (
	classDead  = 0
	classDone  = 1
	classLeaf0 = 2
)

// step returns the state after a byte in a state that is neither dead nor done.
func (c *charClass) step(state uint16, b byte) uint16 {
	if b&0xC0 != 0x80 {
		return classDead
	}
	i := int(state) - classLeaf0
	if i < len(c.leaves) {
		return uint16(c.leaves[i] >> (b & 0x3F) & 1)
	}
	return c.inner[i-len(c.leaves)][b&0x3F]
}

func newCharClass(set runeSet) *charClass {
	b := classBuilder{
		set:    set.minus(runeSet{{0xD800, 0xDFFF}}), // surrogates have no encoding
		leaves: map[uint64]uint16{},
		inner:  map[[64]uint16]uint16{},
	}
	c := &b.class
	for i := range rune(0x80) {
		if b.mask(i)&(1<<(i&63)) != 0 {
			c.first[i] = classDone
		}
	}
	for i := range rune(0x20) {
		c.first[0xC0|i] = b.leaf(i<<6, 0x80)
	}
	for i := range rune(0x10) {
		c.first[0xE0|i] = b.node(i<<12, 6, 0x800)
	}
	for i := range rune(5) {
		c.first[0xF0|i] = b.node(i<<18, 12, 0x10000)
	}
	return b.finish()
}

type classBuilder struct {
	set    runeSet
	at     int // the first range of set that may matter; the blocks come in order
	class  charClass
	leaves map[uint64]uint16
	inner  map[[64]uint16]uint16
}

// innerFlag marks an inner state until the number of leaves is known.
const innerFlag = 1 << 15

// overlap returns the ranges of the set that meet lo…hi, from the first on.
func (b *classBuilder) overlap(lo rune) runeSet {
	for b.at > 0 && b.set[b.at-1].hi >= lo {
		b.at--
	}
	for b.at < len(b.set) && b.set[b.at].hi < lo {
		b.at++
	}
	return b.set[b.at:]
}

// mask returns the members among the 64 code points from c&^63 on.
func (b *classBuilder) mask(c rune) (m uint64) {
	lo := c &^ 63
	for _, r := range b.overlap(lo) {
		if r.lo > lo+63 {
			break
		}
		from, to := max(r.lo, lo)-lo, min(r.hi, lo+63)-lo
		m |= ^uint64(0) >> (63 - (to - from)) << from
	}
	return m
}

// leaf returns the state that awaits the last byte of the 64 code points from lo on.
// Below least an encoding would be too long.
func (b *classBuilder) leaf(lo, least rune) uint16 {
	if lo < least {
		return classDead
	}
	m := b.mask(lo)
	if m == 0 {
		return classDead
	}
	id, ok := b.leaves[m]
	if !ok {
		id = uint16(len(b.class.leaves)) + classLeaf0
		b.class.leaves = append(b.class.leaves, m)
		b.leaves[m] = id
	}
	return id
}

// node returns the state that awaits one of 64 bytes, each of which covers 1<<shift
// code points.
func (b *classBuilder) node(lo rune, shift int, least rune) uint16 {
	hi := lo + 64<<shift - 1
	if r := b.overlap(lo); len(r) == 0 || r[0].lo > hi {
		return classDead
	}
	var table [64]uint16
	for i := range rune(64) {
		sub := lo + i<<shift
		switch {
		case shift == 6:
			table[i] = b.leaf(sub, least)
		case sub >= least && sub <= maxRune:
			table[i] = b.node(sub, shift-6, 0)
		}
	}
	if table == [64]uint16{} {
		return classDead
	}
	id, ok := b.inner[table]
	if !ok {
		id = uint16(len(b.class.inner)) | innerFlag
		b.class.inner = append(b.class.inner, table)
		b.inner[table] = id
	}
	return id
}

// finish gives the inner states their numbers, above those of the leaves.
func (b *classBuilder) finish() *charClass {
	c := &b.class
	offset := uint16(len(c.leaves)) + classLeaf0
	fix := func(states []uint16) {
		for i, s := range states {
			if s&innerFlag != 0 {
				states[i] = s&^innerFlag + offset
			}
		}
	}
	fix(c.first[:])
	for i := range c.inner {
		fix(c.inner[i][:])
	}
	return c
}

// split marks in edges every byte that the class does not treat like the byte
// before it.
func (c *charClass) split(edges *[257]bool) {
	for b := 1; b < 256; b++ {
		if c.first[b] != c.first[b-1] {
			edges[b] = true
		}
	}
	if len(c.leaves)+len(c.inner) == 0 {
		return
	}
	edges[0x80], edges[0xC0] = true, true
	var distinct uint64
	for _, m := range c.leaves {
		distinct |= m ^ m<<1
	}
	for i := range c.inner {
		for j := 1; j < 64; j++ {
			if c.inner[i][j] != c.inner[i][j-1] {
				distinct |= 1 << j
			}
		}
	}
	for d := distinct &^ 1; d != 0; d &= d - 1 {
		edges[0x80+bits.TrailingZeros64(d)] = true
	}
}
