package regex

import (
	_ "embed" // for the tables
	"encoding/binary"
	"slices"
	"sort"
	"strings"
)

// unicodeData holds the sets of Unicode 16.0 by name; gen/main.go tells the format
// and the source. Nothing of it is decoded before a pattern asks for it. (The
// standard library's tables are of an older version and lack most properties.)
//
//go:embed unicode.bin
var unicodeData string

// record returns the body of the record that has the name.
func record(name string) (string, bool) {
	rest := unicodeData
	for rest != "" {
		var names, body string
		names, rest = counted(rest)
		body, rest = counted(rest)
		for n := range strings.SplitSeq(names, "|") {
			if n == name {
				return body, true
			}
		}
	}
	return "", false
}

// counted splits off a string that is preceded by its length.
func counted(s string) (head, rest string) {
	n, s := uvarint(s)
	return s[:n], s[n:]
}

func uvarint(s string) (int, string) {
	v, shift := 0, 0
	for i := range len(s) {
		v |= int(s[i]&0x7F) << shift
		if s[i] < 0x80 {
			return v, s[i+1:]
		}
		shift += 7
	}
	return v, ""
}

// unicodeSet returns the set of a name such as "gc:lu" or "prop:alphabetic".
func unicodeSet(name string) (runeSet, bool) {
	body, ok := record(name)
	if !ok {
		return nil, false
	}
	set := make(runeSet, 0, len(body)/2)
	next := 0
	for body != "" {
		var gap, more int
		gap, body = uvarint(body)
		more, body = uvarint(body)
		set = append(set, runeRange{rune(next + gap), rune(next + gap + more)})
		next += gap + more + 1
	}
	return set, true
}

// mustSet is unicodeSet for names that the tables are known to have.
func mustSet(name string) runeSet {
	set, ok := unicodeSet(name)
	if !ok {
		panic("regex: the tables lack " + name)
	}
	return set
}

// property returns the set that \p{name} or, if hasValue, \p{name=value} stands for.
// The names are compared without regard to case, spaces, "-" and "_".
func property(name, value string, hasValue bool) (runeSet, string) {
	name = looseName(name)
	if !hasValue {
		if name != "cf" && name != "sc" && name != "lc" { // a category wins over these properties
			if set, ok := unicodeSet("prop:" + name); ok {
				return set, ""
			}
		}
		if set, ok := category(name); ok {
			return set, ""
		}
		if set, ok := unicodeSet("sc:" + name); ok {
			return set, ""
		}
		return nil, "there is no such Unicode property, category or script"
	}
	value = looseName(value)
	var set runeSet
	ok := false
	switch name {
	case "gc", "generalcategory":
		set, ok = category(value)
	case "sc", "script":
		set, ok = unicodeSet("sc:" + value)
	case "scx", "scriptextensions":
		set, ok = unicodeSet("scx:" + value)
	case "gcb", "graphemeclusterbreak":
		set, ok = unicodeSet("gcb:" + value)
	case "wb", "wordbreak":
		set, ok = unicodeSet("wb:" + value)
	case "sb", "sentencebreak":
		set, ok = unicodeSet("sb:" + value)
	case "age":
		set, ok = age(value)
	default:
		return nil, "only gc, sc, scx, age, gcb, wb and sb take a value"
	}
	if !ok {
		return nil, "this Unicode property has no such value"
	}
	return set, ""
}

func category(name string) (runeSet, bool) {
	switch name {
	case "any":
		return runeSet{{0, maxRune}}, true
	case "ascii":
		return runeSet{{0, 0x7F}}, true
	case "assigned":
		return mustSet("gc:cn").negate(maxRune), true
	}
	return unicodeSet("gc:" + name)
}

// age returns everything assigned up to a version.
func age(version string) (runeSet, bool) {
	if _, ok := record("age:" + version); !ok {
		return nil, false
	}
	var set runeSet
	for _, v := range strings.Fields("1.1 2.0 2.1 3.0 3.1 3.2 4.0 4.1 5.0 5.1 5.2 6.0 6.1 6.2 6.3 7.0 " +
		"8.0 9.0 10.0 11.0 12.0 12.1 13.0 14.0 15.0 15.1 16.0") {
		set = append(set, mustSet("age:"+v)...)
		if v == version || "v"+strings.ReplaceAll(v, ".", "") == version {
			break
		}
	}
	return set.canonical(), true
}

// looseName reduces a name to what Unicode compares: no case, spaces, hyphens or
// underscores, and no "is" in front.
func looseName(name string) string {
	is := len(name) >= 2 && name[0]|0x20 == 'i' && name[1]|0x20 == 's'
	rest := name
	if is {
		rest = name[2:]
	}
	var b strings.Builder
	for i := range len(rest) {
		switch c := rest[i]; {
		case c == ' ' || c == '_' || c == '-' || c >= 0x80:
		case 'A' <= c && c <= 'Z':
			b.WriteByte(c | 0x20)
		default:
			b.WriteByte(c)
		}
	}
	if is && b.String() == "c" {
		return "isc" // ISO_Comment, not the category "C"
	}
	return b.String()
}

// folding is the simple case folding: pairs of a code point and what it folds to.
type folding struct {
	bySource []runeRange // lo folds to hi
	byTarget []runeRange // lo is folded to by hi
}

func loadFolding() *folding {
	body, _ := record("fold")
	f := &folding{}
	data := []byte(body)
	c := rune(0)
	for len(data) > 0 {
		gap, n := binary.Uvarint(data)
		dist, m := binary.Varint(data[n:])
		data = data[n+m:]
		c += rune(gap)
		f.bySource = append(f.bySource, runeRange{c, c + rune(dist)})
	}
	f.byTarget = make([]runeRange, len(f.bySource))
	for i, p := range f.bySource {
		f.byTarget[i] = runeRange{p.hi, p.lo}
	}
	slices.SortFunc(f.byTarget, func(a, b runeRange) int { return int(a.lo) - int(b.lo) })
	return f
}

// char returns c and all that are equal to it but for case.
func (f *folding) char(c rune) runeSet {
	if i := sort.Search(len(f.bySource), func(i int) bool { return f.bySource[i].lo >= c }); i < len(f.bySource) && f.bySource[i].lo == c {
		c = f.bySource[i].hi
	}
	set := runeSet{{c, c}}
	i := sort.Search(len(f.byTarget), func(i int) bool { return f.byTarget[i].lo >= c })
	for ; i < len(f.byTarget) && f.byTarget[i].lo == c; i++ {
		set = append(set, runeRange{f.byTarget[i].hi, f.byTarget[i].hi})
	}
	return set.canonical()
}

// set adds to s everything that is equal to a member but for case.
func (f *folding) set(s runeSet) runeSet {
	out := slices.Clone(s)
	if n := len(s); n == 0 || n == 1 && s[0].hi-s[0].lo < 64 {
		for _, r := range s {
			for c := r.lo; c <= r.hi; c++ {
				out = append(out, f.char(c)...)
			}
		}
		return out.canonical()
	}
	for i := 0; i < len(f.byTarget); {
		target := f.byTarget[i].lo
		end, in := i, s.contains(target)
		for ; end < len(f.byTarget) && f.byTarget[end].lo == target; end++ {
			in = in || s.contains(f.byTarget[end].hi)
		}
		if in {
			out = append(out, runeRange{target, target})
			for _, p := range f.byTarget[i:end] {
				out = append(out, runeRange{p.hi, p.hi})
			}
		}
		i = end
	}
	return out.canonical()
}
