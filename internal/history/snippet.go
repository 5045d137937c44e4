package history

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	snippetSize = 240 // bytes of a snippet's text, about
	snippetLead = 80  // of them before the match
)

// Matches says where the terms stand in a text: pairs of byte offsets, in order, at most so many.
func Matches(text string, terms []Term, most int) [][2]int {
	if len(terms) == 0 {
		return nil
	}
	folded := make([]Term, len(terms))
	long := 0
	for i, t := range terms {
		folded[i] = Term{Prefix: t.Prefix}
		for _, w := range t.Words {
			folded[i].Words = append(folded[i].Words, fold(w))
		}
		long = max(long, len(t.Words))
	}
	var out [][2]int
	var seen []span // the last words, as many as the longest phrase has
	var said []string
	for w := range words(text) {
		if len(seen) == long {
			seen, said = slices.Delete(seen, 0, 1), slices.Delete(said, 0, 1)
		}
		seen, said = append(seen, w), append(said, fold(text[w.from:w.to]))
		for _, t := range folded {
			if from := len(said) - len(t.Words); from >= 0 && t.stands(said[from:]) {
				out = append(out, [2]int{seen[from].from, w.to})
				break
			}
		}
		if len(out) == most {
			break
		}
	}
	return out
}

func (t Term) stands(said []string) bool {
	last := len(said) - 1
	for i, w := range t.Words {
		if said[i] != w && (i != last || !t.Prefix || !strings.HasPrefix(said[i], w)) {
			return false
		}
	}
	return true
}

// Excerpt is one line of an entry around its first match. Where none can be shown, it is the beginning.
func (e Entry) Excerpt(terms []Term) string {
	for _, s := range []string{e.Text, e.Args, e.Tool} {
		if m := Matches(s, terms, 1); len(m) > 0 {
			return excerpt(s, max(m[0][0]-snippetLead, 0))
		}
	}
	if strings.TrimSpace(e.Text) == "" {
		return excerpt(e.Args, 0)
	}
	return excerpt(e.Text, 0)
}

// excerpt is about snippetSize bytes of a text from somewhere on, in one line and at whole words where
// there are any.
func excerpt(s string, from int) string {
	to := min(from+snippetSize, len(s))
	for from > 0 && !utf8.RuneStart(s[from]) {
		from--
	}
	for to < len(s) && !utf8.RuneStart(s[to]) {
		to--
	}
	piece, before, after := s[from:to], from > 0, to < len(s)
	if i := strings.IndexFunc(piece, unicode.IsSpace); before && i >= 0 && i < snippetLead/2 {
		piece = piece[i:]
	}
	if i := strings.LastIndexFunc(piece, unicode.IsSpace); after && i > len(piece)-snippetLead/2 {
		piece = piece[:i]
	}
	line := strings.Join(strings.Fields(piece), " ")
	if before {
		line = "…" + line
	}
	if after {
		line += "…"
	}
	return line
}
