package history

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxTerms  = 32 // of a query
	minPrefix = 3  // letters before *: a shorter one would be found nearly everywhere
)

// Term is one thing that an entry must hold: words that follow one another, the last of them perhaps
// only begun.
type Term struct {
	Words  []string
	Prefix bool
}

// Asked is a query that was read and found good.
type Asked struct {
	Terms      []Term
	Attributes map[string]Filter
	Limit      int
	of         uint32 // what its cursors are marked with
}

// Check reads a query. An InputError says what is wrong with it.
func (q Query) Check() (Asked, error) {
	a := Asked{Attributes: q.Attributes, Limit: q.Limit}
	var err error
	if a.Terms, err = Parse(q.Text); err != nil {
		return a, err
	}
	if len(q.Attributes) > MaxAttributes {
		return a, InputError(fmt.Sprintf("a search takes at most %d attributes, not %d", MaxAttributes, len(q.Attributes)))
	}
	for k, f := range q.Attributes {
		for _, s := range []string{k, f.Exact, f.Contains} {
			if utf8.RuneCountInString(s) > MaxAttribute {
				return a, InputError(fmt.Sprintf("an attribute has at most %d characters", MaxAttribute))
			}
		}
	}
	if a.Limit, err = limit(q.Limit, DefaultFound, MaxFound); err != nil {
		return a, err
	}
	a.of = q.mark()
	return a, nil
}

func limit(n, usual, most int) (int, error) {
	switch {
	case n == 0:
		return usual, nil
	case n < 0 || n > most:
		return 0, InputError(fmt.Sprintf("limit must be from 1 to %d", most))
	}
	return n, nil
}

// Parse reads the words of a query. Nothing in it is an operator but quotation marks around a phrase
// and a * after the beginning of a word; whatever stands between letters and digits only separates
// words, and what it joins, such as a path, is a phrase.
func Parse(text string) ([]Term, error) {
	if utf8.RuneCountInString(text) > MaxQuery {
		return nil, InputError(fmt.Sprintf("a query has at most %d characters", MaxQuery))
	}
	var out []Term
	for rest := text; ; {
		rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
		if rest == "" {
			break
		}
		var piece string
		piece, rest = next(rest)
		t := term(piece)
		if len(t.Words) == 0 {
			continue
		}
		if last := t.Words[len(t.Words)-1]; t.Prefix && utf8.RuneCountInString(last) < minPrefix {
			return nil, InputError(fmt.Sprintf("%s* is too short: at least %d letters must stand before a *", last, minPrefix))
		}
		out = append(out, t)
	}
	if len(out) == 0 && strings.TrimSpace(text) != "" {
		return nil, InputError("there is no word to search for: only letters and digits are found")
	}
	if len(out) > maxTerms {
		return nil, InputError(fmt.Sprintf("a query has at most %d words and phrases", maxTerms))
	}
	return out, nil
}

// next takes one word or quoted phrase off. A phrase that is not closed goes on to the end.
func next(s string) (piece, rest string) {
	if s[0] == '"' {
		end := strings.IndexByte(s[1:], '"')
		if end < 0 {
			return s, ""
		}
		end += 2
		if strings.HasPrefix(s[end:], "*") {
			end++
		}
		return s[:end], s[end:]
	}
	end := strings.IndexFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == '"' })
	if end < 0 {
		end = len(s)
	}
	return s[:end], s[end:]
}

func term(piece string) Term {
	var t Term
	end := 0
	for w := range words(piece) {
		t.Words = append(t.Words, piece[w.from:w.to])
		end = w.to
	}
	// The * stands right behind the word, or behind the quotation mark that ends a phrase.
	t.Prefix = len(t.Words) > 0 && strings.HasPrefix(strings.TrimPrefix(piece[end:], `"`), "*")
	return t
}

// mark tells one search from another, so that a cursor is not taken for another's.
func (q Query) mark() uint32 {
	parts := []string{q.Text}
	for k, f := range q.Attributes {
		parts = append(parts, k+"\x00"+f.Exact+"\x00"+f.Contains)
	}
	slices.Sort(parts[1:])
	return markOf(strings.Join(parts, "\x00\x00"))
}
