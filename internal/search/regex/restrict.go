package regex

import "bytes"

// restrict takes the line feed out of every class, since a match lies within one
// line, and refuses patterns that ask for one, or for the byte zero, which no text
// file has.
func restrict(n *node) (*node, error) {
	if forbidden(n, 0) {
		return nil, &SyntaxError{Reason: "the pattern asks for the byte zero, which no text has"}
	}
	if forbidden(n, '\n') {
		return nil, &SyntaxError{Reason: "the pattern asks for a line feed, but a match cannot go beyond one line"}
	}
	return dropLineFeeds(n), nil
}

func forbidden(n *node, b byte) bool {
	if n.kind == kindLiteral {
		return bytes.IndexByte(n.lit, b) >= 0
	}
	for _, s := range n.subs {
		if forbidden(s, b) {
			return true
		}
	}
	return false
}

func dropLineFeeds(n *node) *node {
	switch n.kind {
	case kindRunes:
		return runesNode(n.set.minus(runeSet{{'\n', '\n'}}))
	case kindBytes:
		return bytesNode(n.set.minus(runeSet{{'\n', '\n'}}))
	case kindEmpty, kindLiteral, kindLook:
		return n
	}
	subs := make([]*node, len(n.subs))
	for i, s := range n.subs {
		subs[i] = dropLineFeeds(s)
	}
	switch n.kind {
	case kindConcat:
		return concatNode(subs)
	case kindAlternate:
		return alternateNode(subs)
	case kindCapture:
		return subs[0] // groups mean nothing from here on
	}
	return repeatNode(subs[0], n.min, n.max, n.lazy)
}
