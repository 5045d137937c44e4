package regex

import (
	"math"
	"slices"
	"unicode/utf8"
)

// symbol is one byte of a literal; with the bit fold, an ASCII letter in either case,
// the byte being the lower one.
type symbol uint16

const fold symbol = 1 << 8

type literal []symbol

const (
	maxLiterals = 64 // in one set
	// maxSymbols bounds what a candidate costs to verify. Of longer literals a part is
	// looked for, and the program does the rest.
	maxSymbols = 64
	// maxMembers is how large a class may be to be spelt out in literals.
	maxMembers = 12
)

// literalInfo is what is known about the texts that a pattern matches. A set of
// literals is nil if nothing useful is known.
type literalInfo struct {
	exact          []literal // every match is one of these
	prefix, suffix []literal // every match begins or ends with one of these
	inside         []literal // every match contains one of these
	// plain is set if each of exact matches wherever it stands.
	plain bool
}

// required is a set of literals of which every matching line contains one.
type required struct {
	lits []literal
	// plain is set if every line with one of them matches, first if every match
	// begins with one of them.
	plain, first bool
}

// requiredLiterals returns what to look for in a text before running the program. There
// are no literals in it if that would not be worth it.
func requiredLiterals(n *node) required {
	info := literalsOf(n)
	if info.exact != nil && info.plain {
		return required{lits: minimal(info.exact), plain: true}
	}
	front := rarer(info.exact, info.prefix)
	all := rarer(rarer(front, info.inside), info.suffix)
	// A candidate costs about as much as a hundred bytes of the search without them.
	if frequency(all) > 1.0/60 {
		return required{}
	}
	r := required{lits: minimal(all)}
	// What was left out may have begun before the literal it contains.
	r.first = frequency(front) <= frequency(all) && len(r.lits) == len(front)
	return r
}

func literalsOf(n *node) literalInfo {
	switch n.kind {
	case kindEmpty:
		return literalInfo{exact: []literal{{}}, plain: true}
	case kindLook:
		return literalInfo{exact: []literal{{}}}
	case kindLiteral:
		return spelt(n.lit)
	case kindRunes, kindBytes:
		return literalInfo{exact: members(n.set, n.kind == kindBytes), plain: true}
	case kindRepeat:
		return repeatLiterals(n)
	case kindAlternate:
		return alternateLiterals(n.subs)
	case kindConcat:
		return concatLiterals(n.subs)
	}
	return literalInfo{}
}

func spelt(text []byte) literalInfo {
	lit := make(literal, len(text))
	for i, b := range text {
		lit[i] = symbol(b)
	}
	if len(lit) <= maxSymbols {
		return literalInfo{exact: []literal{lit}, plain: true}
	}
	info := literalInfo{prefix: []literal{lit[:maxSymbols]}, suffix: []literal{lit[len(lit)-maxSymbols:]}}
	for part := range slices.Chunk(lit, maxSymbols) {
		info.inside = rarer(info.inside, []literal{part})
	}
	return info
}

// members spells out a small class.
func members(set runeSet, raw bool) (out []literal) {
	count := 0
	for _, r := range set {
		if count += int(r.hi-r.lo) + 1; count > maxMembers {
			return nil
		}
	}
	for _, r := range set {
		for c := r.lo; c <= r.hi; c++ {
			letter := 'a' <= c|0x20 && c|0x20 <= 'z' && c < utf8.RuneSelf
			switch {
			case letter && set.contains(c^0x20):
				if c >= 'a' {
					out = append(out, literal{symbol(c) | fold})
				}
			case raw:
				out = append(out, literal{symbol(c)})
			case utf8.ValidRune(c):
				var lit literal
				for _, b := range utf8.AppendRune(nil, c) {
					lit = append(lit, symbol(b))
				}
				out = append(out, lit)
			}
		}
	}
	return out
}

func concatLiterals(subs []*node) literalInfo {
	run := []literal{{}} // what the matches of the subs just seen end with
	whole := true        // nothing but run has been seen
	all := literalInfo{plain: true}
	// end closes the run; what follows it begins with one of next, if that is known.
	end := func(next []literal) {
		longer := cross(run, next)
		if longer == nil {
			longer = run
			all.inside = rarer(all.inside, next)
		}
		all.inside = rarer(all.inside, longer)
		if whole {
			all.prefix = longer
		}
		whole = false
	}
	for _, s := range subs {
		info := literalsOf(s)
		all.plain = all.plain && info.plain
		if info.exact == nil {
			end(info.prefix)
			all.inside = rarer(all.inside, info.inside)
			if run = info.suffix; run == nil {
				run = []literal{{}}
			}
			continue
		}
		if longer := cross(run, info.exact); longer != nil {
			run = longer
		} else {
			end(nil)
			run = info.exact
		}
	}
	if whole {
		all.exact = run
		return all
	}
	all.inside = rarer(all.inside, run)
	all.suffix = run
	return all
}

func alternateLiterals(subs []*node) literalInfo {
	all := literalInfo{exact: []literal{}, prefix: []literal{}, suffix: []literal{}, inside: []literal{}, plain: true}
	// add returns both sets together, nil if one is unknown or there are too many.
	add := func(to, more []literal) []literal {
		if to == nil || more == nil || len(to)+len(more) > maxLiterals {
			return nil
		}
		return append(to, more...)
	}
	for _, s := range subs {
		info := literalsOf(s)
		all.plain = all.plain && info.plain
		all.exact = add(all.exact, info.exact)
		if info.exact != nil {
			info.prefix, info.suffix, info.inside = info.exact, info.exact, info.exact
		}
		all.prefix = add(all.prefix, info.prefix)
		all.suffix = add(all.suffix, info.suffix)
		all.inside = add(all.inside, rarer(rarer(info.inside, info.prefix), info.suffix))
	}
	return all
}

func repeatLiterals(n *node) literalInfo {
	info := literalsOf(n.subs[0])
	if n.min == 0 {
		if n.max == 1 && info.exact != nil && len(info.exact) < maxLiterals {
			return literalInfo{exact: append(slices.Clone(info.exact), literal{}), plain: info.plain}
		}
		return literalInfo{}
	}
	if info.exact == nil {
		info.plain = false
		return info
	}
	run, rounds := info.exact, 1
	for rounds < n.min && rounds < 16 {
		longer := cross(run, info.exact)
		if longer == nil {
			break
		}
		run = longer
		rounds++
	}
	if rounds == n.max {
		return literalInfo{exact: run, plain: info.plain}
	}
	return literalInfo{prefix: run, suffix: run, inside: run}
}

// cross returns each of a followed by each of b, nil if they are too many or too long
// or if one of the sets is unknown.
func cross(a, b []literal) []literal {
	if a == nil || b == nil || len(a)*len(b) > maxLiterals {
		return nil
	}
	out := make([]literal, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			if len(x)+len(y) > maxSymbols {
				return nil
			}
			out = append(out, append(slices.Clip(x), y...))
		}
	}
	return out
}

// rarer returns the set that will be found less often.
func rarer(a, b []literal) []literal {
	if frequency(b) < frequency(a) {
		return b
	}
	return a
}

// frequency estimates how many of the literals begin at one offset of a text.
func frequency(lits []literal) float64 {
	if len(lits) == 0 {
		return math.Inf(1)
	}
	sum := 0.0
	for _, lit := range lits {
		if len(lit) == 0 {
			return math.Inf(1)
		}
		// The bytes of a word depend on each other, so only the rarest ones count.
		costs := make([]int, len(lit))
		for i, s := range lit {
			costs[i] = -s.rarity()
		}
		slices.Sort(costs)
		bits := 0
		for _, c := range costs[:min(len(costs), 4)] {
			bits -= c
		}
		sum += math.Exp2(-float64(bits) / 12)
	}
	return sum
}

// minimal leaves out literals that contain another one.
func minimal(lits []literal) []literal {
	var out []literal
	for i, l := range lits {
		redundant := false
		for j, m := range lits {
			if i != j && contains(l, m) && (len(m) < len(l) || j < i) {
				redundant = true
				break
			}
		}
		if !redundant {
			out = append(out, l)
		}
	}
	return out
}

func contains(l, m literal) bool {
	for i := 0; i+len(m) <= len(l); i++ {
		if slices.Equal(l[i:i+len(m)], m) {
			return true
		}
	}
	return false
}

// rarity tells how seldom the symbol is, in twelfths of a bit.
func (s symbol) rarity() int {
	r := int(byteRarity[byte(s)])
	if s&fold != 0 {
		r = min(r, int(byteRarity[byte(s)^0x20]))
	}
	return r
}

// byteRarity is -12·log2 of how often each byte occurs in source code and prose.
const byteRarity = "" +
	"\xf0\xf0\xf0\xf0\xf0\xf0\xf0\xf0\xf0\x54\x3e\xf0\xf0\xe4\xf0\xf0\xf0\xf0\xf0\xf0\xf0\xf0\xf0\xf0\xf0\xf0\xf0\xf0\xf0\xf0\xf0\xf0" +
	"\x1b\x7f\x57\x65\x6a\x83\x77\x53\x51\x51\x64\x7a\x4e\x5c\x4d\x52\x5a\x60\x64\x6c\x70\x71\x6f\x76\x71\x73\x57\x64\x63\x54\x5d\x87" +
	"\x7b\x5d\x6b\x5e\x67\x59\x67\x6e\x72\x5c\x90\x81\x62\x6a\x61\x64\x63\x8a\x61\x5b\x5a\x6d\x7b\x7a\x78\x7d\x89\x6e\x70\x6e\x97\x47" +
	"\x77\x3a\x52\x43\x45\x2f\x49\x51\x4a\x39\x79\x60\x40\x4a\x3a\x3b\x46\x75\x38\x39\x34\x48\x5c\x5c\x5a\x54\x77\x63\x7a\x63\x92\xf0" +
	"\xa9\xd3\xcb\xd1\xd0\xd3\xd1\xd1\xc9\xcf\xd5\xd6\xd2\xd5\xde\xdd\xd5\xd6\xd4\xd0\xb7\xc3\xcc\xd6\xcb\xb6\xd5\xd9\xca\xcc\xd7\xcf" +
	"\xcc\xd1\xd3\xd5\xc4\xce\xd3\xd1\xd3\xbc\xd0\xd0\xd1\xd7\xcf\xd5\xd3\xcf\xd6\xd7\xd5\xd6\xcb\xd4\xc5\xcc\xcd\xc9\xd3\xbd\xda\xbd" +
	"\xf0\xf0\xa9\xaa\xce\xca\xf0\xf0\xf0\xf0\xf0\xe3\xf0\xf0\xcc\xdc\xb9\xc9\xee\xf0\xf0\xee\xf0\xda\xd0\xd5\xf0\xf0\xf0\xf0\xf0\xf0" +
	"\xba\xce\x9f\xe7\xf0\xf0\xea\xf0\xf0\xf0\xf0\xe8\xed\xf0\xf0\xbd\xdd\xf0\xf0\xf0\xf0\xf0\xf0\xf0\xf0\xf0\xf0\xf0\xf0\xf0\xf0\xf0"
