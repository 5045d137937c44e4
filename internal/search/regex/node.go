package regex

import (
	"slices"
	"unicode/utf8"
)

type nodeKind uint8

const (
	kindEmpty   nodeKind = iota
	kindLiteral          // the bytes of lit
	kindRunes            // one code point of set, in UTF-8
	kindBytes            // one byte of set; an empty set never matches
	kindLook             // an assertion
	kindRepeat           // subs[0], min to max times; max is -1 for no limit
	kindCapture          // subs[0]
	kindConcat
	kindAlternate
)

// node is a parsed pattern. Nodes are built by the functions below, which simplify
// as Rust's parser does: which line feeds are refused depends on it.
type node struct {
	kind     nodeKind
	look     look
	lazy     bool
	min, max int
	lit      []byte
	set      runeSet
	subs     []*node
}

const noLimit = -1

func emptyNode() *node { return &node{kind: kindEmpty} }

func literalNode(lit []byte) *node {
	if len(lit) == 0 {
		return emptyNode()
	}
	return &node{kind: kindLiteral, lit: lit}
}

func runeNode(c rune) *node { return literalNode(utf8.AppendRune(nil, c)) }

func lookNode(l look) *node { return &node{kind: kindLook, look: l} }

func runesNode(set runeSet) *node {
	if len(set) == 0 {
		return bytesNode(nil)
	}
	if c, ok := set.single(); ok && utf8.ValidRune(c) {
		return runeNode(c)
	}
	return &node{kind: kindRunes, set: set}
}

func bytesNode(set runeSet) *node {
	if c, ok := set.single(); ok {
		return literalNode([]byte{byte(c)})
	}
	return &node{kind: kindBytes, set: set}
}

func repeatNode(sub *node, min, max int, lazy bool) *node {
	if sub.matchesOnlyEmpty() {
		min = clampOne(min)
		max = clampOne(max)
	}
	switch {
	case min == 0 && max == 0:
		return emptyNode()
	case min == 1 && max == 1:
		return sub
	}
	return &node{kind: kindRepeat, subs: []*node{sub}, min: min, max: max, lazy: lazy}
}

// clampOne limits a repetition count of something empty to one.
func clampOne(n int) int {
	if n == noLimit || n > 1 {
		return 1
	}
	return n
}

// matchesOnlyEmpty reports whether every match of n is empty.
func (n *node) matchesOnlyEmpty() bool {
	switch n.kind {
	case kindEmpty, kindLook:
		return true
	case kindLiteral, kindRunes, kindBytes:
		return false
	}
	for _, s := range n.subs {
		if !s.matchesOnlyEmpty() {
			return false
		}
	}
	return true
}

func captureNode(sub *node) *node { return &node{kind: kindCapture, subs: []*node{sub}} }

func concatNode(subs []*node) *node {
	var out []*node
	var lit []byte
	flush := func() {
		if len(lit) > 0 {
			out = append(out, literalNode(lit))
			lit = nil
		}
	}
	for _, s := range subs {
		parts := []*node{s}
		if s.kind == kindConcat {
			parts = s.subs
		}
		for _, p := range parts {
			switch p.kind {
			case kindEmpty:
			case kindLiteral:
				lit = append(lit, p.lit...)
			default:
				flush()
				out = append(out, p)
			}
		}
	}
	flush()
	switch len(out) {
	case 0:
		return emptyNode()
	case 1:
		return out[0]
	}
	return &node{kind: kindConcat, subs: out}
}

func alternateNode(subs []*node) *node {
	var flat []*node
	for _, s := range subs {
		if s.kind == kindAlternate {
			flat = append(flat, s.subs...)
		} else {
			flat = append(flat, s)
		}
	}
	switch len(flat) {
	case 0:
		return bytesNode(nil)
	case 1:
		return flat[0]
	}
	for _, merge := range [...]func([]*node) *node{mergeChars, mergeSingleBytes, mergeRunes, mergeBytes, factorPrefix} {
		if n := merge(flat); n != nil {
			return n
		}
	}
	return &node{kind: kindAlternate, subs: flat}
}

// mergeChars turns alternatives that are one literal character each into a class.
func mergeChars(subs []*node) *node {
	var set runeSet
	for _, s := range subs {
		c, size := utf8.DecodeRune(s.lit)
		if s.kind != kindLiteral || size != len(s.lit) || c == utf8.RuneError && size == 1 {
			return nil
		}
		set = append(set, runeRange{c, c})
	}
	return runesNode(set.canonical())
}

// mergeSingleBytes turns alternatives that are one literal byte each into a class.
func mergeSingleBytes(subs []*node) *node {
	var set runeSet
	for _, s := range subs {
		if s.kind != kindLiteral || len(s.lit) != 1 {
			return nil
		}
		set = append(set, runeRange{rune(s.lit[0]), rune(s.lit[0])})
	}
	return bytesNode(set.canonical())
}

// mergeRunes turns alternatives that are classes into one.
func mergeRunes(subs []*node) *node {
	var set runeSet
	for _, s := range subs {
		if s.kind == kindRunes || s.kind == kindBytes && s.isASCII() {
			set = append(set, s.set...)
			continue
		}
		return nil
	}
	return runesNode(set.canonical())
}

// mergeBytes turns alternatives that are classes into one of bytes.
func mergeBytes(subs []*node) *node {
	var set runeSet
	for _, s := range subs {
		if s.kind == kindBytes || s.kind == kindRunes && s.isASCII() {
			set = append(set, s.set...)
			continue
		}
		return nil
	}
	return bytesNode(set.canonical())
}

func (n *node) isASCII() bool { return len(n.set) == 0 || n.set[len(n.set)-1].hi <= 0x7F }

// factorPrefix takes out what all alternatives, each a concatenation, begin with.
func factorPrefix(subs []*node) *node {
	if subs[0].kind != kindConcat {
		return nil
	}
	common := len(subs[0].subs)
	for _, s := range subs[1:] {
		if s.kind != kindConcat {
			return nil
		}
		n := 0
		for n < common && n < len(s.subs) && subs[0].subs[n].equal(s.subs[n]) {
			n++
		}
		if common = n; common == 0 {
			return nil
		}
	}
	if common == 0 {
		return nil
	}
	rests := make([]*node, len(subs))
	for i, s := range subs {
		rests[i] = concatNode(s.subs[common:])
	}
	return concatNode(append(slices.Clone(subs[0].subs[:common]), alternateNode(rests)))
}

// asksForText reports whether n has an assertion about the start or end of the text.
func (n *node) asksForText() bool {
	return n.kind == kindLook && (n.look == lookTextStart || n.look == lookTextEnd) ||
		slices.ContainsFunc(n.subs, (*node).asksForText)
}

func (n *node) equal(m *node) bool {
	if n.kind == kindCapture {
		return false // each group has its own number
	}
	return n.kind == m.kind && n.look == m.look && n.lazy == m.lazy && n.min == m.min && n.max == m.max &&
		slices.Equal(n.lit, m.lit) && slices.Equal(n.set, m.set) && slices.EqualFunc(n.subs, m.subs, (*node).equal)
}
