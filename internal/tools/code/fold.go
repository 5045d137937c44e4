package code

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// canonical is a form of a name that is equal for names that Unicode holds to be the same text, such
// as é in one character or in two; macOS tools write two, people and models one. It is only compared
// and never used as a name. The tables of golang.org/x/text would add some 200 KB for this.
func canonical(name string) string {
	var out []rune
	marks := 0 // how many of the last runes are marks
	add := func(r rune) {
		out = append(out, r)
		if !unicode.Is(unicode.M, r) {
			marks = 0
			return
		}
		// Marks of one base are sorted by number, not by class as Unicode does, which needs another
		// table. It takes a few different texts for equal, and those are ambiguous at worst.
		marks++
		slices.Sort(out[len(out)-marks:])
	}
	for _, r := range name {
		if first, vowel, final, ok := hangul(r); ok {
			add(first)
			add(vowel)
			if final != 0 {
				add(final)
			}
			continue
		}
		if d, ok := decompositions()[r]; ok {
			for _, r := range d {
				add(r)
			}
			continue
		}
		add(r)
	}
	return string(out)
}

// looks is canonical, and also equal for names that differ only in which quote or which space they
// hold: screenshots are named with a narrow no-break space, and models read and write a plain one.
func looks(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '‘' || r == '’' || r == '‛' || r == 'ʼ':
			return '\''
		case r == '“' || r == '”' || r == '‟':
			return '"'
		case unicode.Is(unicode.Zs, r):
			return ' '
		}
		return r
	}, canonical(readable([]byte(name))))
}

var decompositions = sync.OnceValue(func() map[rune]string {
	m := map[rune]string{}
	for word := range strings.FieldsSeq(decomposed) {
		r, n := utf8.DecodeRuneInString(word)
		m[r] = word[n:]
	}
	return m
})

// hangul splits a syllable into its letters; final is 0 where there is none.
func hangul(r rune) (first, vowel, final rune, ok bool) {
	if r < 0xAC00 || r > 0xD7A3 {
		return 0, 0, 0, false
	}
	r -= 0xAC00
	if f := r % 28; f != 0 {
		final = 0x11A7 + f
	}
	return 0x1100 + r/(21*28), 0x1161 + r%(21*28)/28, final, true
}
