package regex

import (
	"slices"
	"sort"
)

const (
	maxRune = 0x10FFFF
	maxByte = 0xFF
)

// runeRange is the code points (or, in a set of bytes, the byte values) from lo to
// hi, both included.
type runeRange struct{ lo, hi rune }

// runeSet is a set as ascending ranges that neither overlap nor touch. Its
// operations return new sets and leave their operands alone.
type runeSet []runeRange

func setOf(ranges ...runeRange) runeSet { return runeSet(ranges).canonical() }

// canonical sorts and merges ranges in place.
func (s runeSet) canonical() runeSet {
	if len(s) < 2 {
		return s
	}
	sorted := true
	for i := 1; i < len(s); i++ {
		if s[i].lo <= s[i-1].hi+1 {
			sorted = false
			break
		}
	}
	if sorted {
		return s
	}
	slices.SortFunc(s, func(a, b runeRange) int { return int(a.lo) - int(b.lo) })
	out := s[:1]
	for _, r := range s[1:] {
		last := &out[len(out)-1]
		if r.lo <= last.hi+1 {
			last.hi = max(last.hi, r.hi)
		} else {
			out = append(out, r)
		}
	}
	return out
}

func (s runeSet) union(t runeSet) runeSet {
	switch {
	case len(t) == 0:
		return s
	case len(s) == 0:
		return t
	}
	out := make(runeSet, 0, len(s)+len(t))
	return append(append(out, s...), t...).canonical()
}

// negate returns the members of 0…limit that are not in s.
func (s runeSet) negate(limit rune) runeSet {
	out := make(runeSet, 0, len(s)+1)
	next := rune(0)
	for _, r := range s {
		if r.lo > next {
			out = append(out, runeRange{next, r.lo - 1})
		}
		next = r.hi + 1
	}
	if next <= limit {
		out = append(out, runeRange{next, limit})
	}
	return out
}

func (s runeSet) intersect(t runeSet) runeSet {
	var out runeSet
	for i, j := 0, 0; i < len(s) && j < len(t); {
		lo, hi := max(s[i].lo, t[j].lo), min(s[i].hi, t[j].hi)
		if lo <= hi {
			out = append(out, runeRange{lo, hi})
		}
		if s[i].hi < t[j].hi {
			i++
		} else {
			j++
		}
	}
	return out
}

func (s runeSet) minus(t runeSet) runeSet { return s.intersect(t.negate(maxRune)) }

// differing returns the members of exactly one of s and t.
func (s runeSet) differing(t runeSet) runeSet { return s.minus(t).union(t.minus(s)) }

func (s runeSet) contains(c rune) bool {
	i := sort.Search(len(s), func(i int) bool { return s[i].hi >= c })
	return i < len(s) && s[i].lo <= c
}

// single returns the only member of s, if it has just one.
func (s runeSet) single() (rune, bool) {
	if len(s) == 1 && s[0].lo == s[0].hi {
		return s[0].lo, true
	}
	return 0, false
}

// foldASCII adds the other case of every ASCII letter in s.
func (s runeSet) foldASCII() runeSet {
	out := slices.Clone(s)
	for _, r := range s {
		for _, letters := range [2]runeRange{{'a', 'z'}, {'A', 'Z'}} {
			lo, hi := max(r.lo, letters.lo), min(r.hi, letters.hi)
			if lo <= hi {
				// The two cases differ in one bit.
				out = append(out, runeRange{lo ^ 0x20, hi ^ 0x20})
			}
		}
	}
	return out.canonical()
}
