package regex

import "slices"

// trim shortens a pattern without changing which lines it matches. Where a match may
// begin anywhere, only the last round of a repetition at the front matters, and where
// it may end anywhere only the first round of one at the back: `\w+x\d*` matches the
// same lines as `\wx`.
func trim(n *node) *node {
	for {
		m := trimSide(trimSide(n, true), false)
		if m == n {
			return n
		}
		n = m
	}
}

// trimSide trims the front or the back of n. It returns n itself if there was
// nothing to trim.
func trimSide(n *node, front bool) *node {
	switch n.kind {
	case kindRepeat:
		if n.min == 0 {
			return emptyNode()
		}
		if n.max != n.min {
			return repeatNode(n.subs[0], n.min, n.min, n.lazy)
		}
	case kindConcat:
		return trimConcat(n, front)
	case kindAlternate:
		var subs []*node
		for i, s := range n.subs {
			if sub := trimSide(s, front); sub != s {
				if subs == nil {
					subs = slices.Clone(n.subs)
				}
				subs[i] = sub
			}
		}
		if subs != nil {
			return alternateNode(subs)
		}
	}
	return n
}

// trimConcat trims the first or the last part that is left of a concatenation.
func trimConcat(n *node, front bool) *node {
	subs := n.subs
	for len(subs) > 0 {
		i := 0
		if !front {
			i = len(subs) - 1
		}
		sub := trimSide(subs[i], front)
		if sub.kind != kindEmpty {
			if sub == subs[i] && len(subs) == len(n.subs) {
				return n
			}
			subs = slices.Clone(subs)
			subs[i] = sub
			break
		}
		if front {
			subs = subs[1:]
		} else {
			subs = subs[:i]
		}
	}
	return concatNode(subs)
}
