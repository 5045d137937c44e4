package history_test

import (
	"errors"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"jig/internal/history"
)

func TestQueryHasWordsPhrasesAndBeginningsAndNothingElse(t *testing.T) {
	for text, want := range map[string][]history.Term{
		"":                          nil,
		"  two   words ":            {{Words: []string{"two"}}, {Words: []string{"words"}}},
		`"a phrase" word`:           {{Words: []string{"a", "phrase"}}, {Words: []string{"word"}}},
		`"never closed`:             {{Words: []string{"never", "closed"}}},
		`beg* "of a phr"*`:          {{Words: []string{"beg"}, Prefix: true}, {Words: []string{"of", "a", "phr"}, Prefix: true}},
		"internal/store/store.go":   {{Words: []string{"internal", "store", "store", "go"}}},
		"a OR b NOT c":              {{Words: []string{"a"}}, {Words: []string{"OR"}}, {Words: []string{"b"}}, {Words: []string{"NOT"}}, {Words: []string{"c"}}},
		"text:word":                 {{Words: []string{"text", "word"}}},
		"NEAR(a b, 3)":              {{Words: []string{"NEAR", "a"}}, {Words: []string{"b"}}, {Words: []string{"3"}}},
		"-- ; word && ^":            {{Words: []string{"word"}}},
		"* word":                    {{Words: []string{"word"}}},
		"was*not":                   {{Words: []string{"was", "not"}}},
		"cafe\u0301 na\u00efve":     {{Words: []string{"cafe\u0301"}}, {Words: []string{"na\u00efve"}}},
		"\ue0001 word":              {{Words: []string{"1"}}, {Words: []string{"word"}}},
		"a\x00b":                    {{Words: []string{"a", "b"}}},
		"\xff\xfeword":              {{Words: []string{"word"}}},
		`x"y z"`:                    {{Words: []string{"x"}}, {Words: []string{"y", "z"}}},
		`""` + " word":              {{Words: []string{"word"}}},
		strings.Repeat("w ", 32):    thirtyTwo(),
		"\u65e5\u672c\u8a9e \u0663": {{Words: []string{"\u65e5\u672c\u8a9e"}}, {Words: []string{"\u0663"}}},
	} {
		got, err := history.Parse(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q: %s", text, d)
		}
	}
}

func thirtyTwo() (all []history.Term) {
	for range 32 {
		all = append(all, history.Term{Words: []string{"w"}})
	}
	return all
}

func TestQueriesOutOfBoundsSayWhy(t *testing.T) {
	many := map[string]history.Filter{}
	for i := range 33 {
		many[strings.Repeat("k", i+1)] = history.Filter{}
	}
	for _, c := range []struct {
		q    history.Query
		want string
	}{
		{history.Query{Text: strings.Repeat("é", 1001)}, "a query has at most 1000 characters"},
		{history.Query{Text: "?!"}, "there is no word to search for: only letters and digits are found"},
		{history.Query{Text: "ab*"}, "ab* is too short: at least 3 letters must stand before a *"},
		{history.Query{Text: strings.Repeat("w ", 33)}, "a query has at most 32 words and phrases"},
		{history.Query{Attributes: many}, "a search takes at most 32 attributes, not 33"},
		{history.Query{Attributes: map[string]history.Filter{"k": {Contains: strings.Repeat("x", 1001)}}}, "an attribute has at most 1000 characters"},
		{history.Query{Limit: 76}, "limit must be from 1 to 75"},
		{history.Query{Limit: -1}, "limit must be from 1 to 75"},
	} {
		_, err := c.q.Check()
		var input history.InputError
		if !errors.As(err, &input) || err.Error() != c.want {
			t.Errorf("%+v: %v", c.q, err)
		}
	}
	if a, err := (history.Query{Text: strings.Repeat("é", 1000), Limit: 75}).Check(); err != nil || a.Limit != 75 {
		t.Errorf("%+v %v", a, err)
	}
	if a, err := (history.Query{}).Check(); err != nil || a.Limit != 10 {
		t.Errorf("%+v %v", a, err)
	}
	for limit, want := range map[int]int{0: 50, 1: 1, 100: 100, 101: 0, -1: 0} {
		if got, err := (history.Reading{Session: "s", Limit: limit}).Check(); got != want || (err == nil) != (want > 0) {
			t.Errorf("%d: %d %v", limit, got, err)
		}
	}
}

func TestCursorOfAnotherSearchIsRefused(t *testing.T) {
	one, _ := history.Query{Text: "one"}.Check()
	two, _ := history.Query{Text: "one", Attributes: map[string]history.Filter{"k": {Exact: "v"}}}.Check()
	c := one.Cursor(7, 1<<40)
	var a, b uint64
	if err := one.Place(c, &a, &b); err != nil || a != 7 || b != 1<<40 {
		t.Errorf("%d %d %v", a, b, err)
	}
	for _, bad := range []string{c[1:], c + "A", "x", strings.Repeat("A", 2049), one.Cursor(7), one.Cursor(7, 8, 9)} {
		var input history.InputError
		if err := one.Place(bad, &a, &b); !errors.As(err, &input) || a != 7 {
			t.Errorf("%.20q: %v", bad, err)
		}
	}
	if err := two.Place(c, &a, &b); err == nil {
		t.Error("a cursor went on with another search")
	}
	if err := (history.Reading{Session: "s", Cursor: history.ReadCursor("r", 1)}).Place(&a); err == nil {
		t.Error("a cursor went on with another session")
	}
	a, b = 1, 2
	if err := one.Place("", &a, &b); err != nil || a != 1 || b != 2 {
		t.Errorf("%d %d %v", a, b, err)
	}
}

func FuzzQuery(f *testing.F) {
	for _, s := range []string{`a "b c" d*`, `"`, `""*`, "a*\"b", "\xff*", "\ue000", "x\u0301*", strings.Repeat(`"a `, 50)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		terms, err := history.Parse(text)
		if err != nil {
			return
		}
		for _, term := range terms {
			if len(term.Words) == 0 {
				t.Fatalf("%q: a term without a word", text)
			}
			for _, w := range term.Words {
				for _, r := range w {
					if !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.Is(unicode.Mn, r) {
						t.Fatalf("%q: %q is in a word", text, r)
					}
				}
			}
		}
		history.Matches(text, terms, 3)
		_ = history.Entry{Text: text}.Excerpt(terms)
	})
}

func FuzzCursor(f *testing.F) {
	a, _ := history.Query{Text: "x"}.Check()
	f.Add(a.Cursor(1, 2))
	f.Add(a.Cursor(1<<62, 0))
	f.Add("AQ")
	f.Add("====")
	f.Fuzz(func(t *testing.T, s string) {
		x, y := uint64(5), uint64(5)
		if err := a.Place(s, &x, &y); err != nil {
			if x != 5 || y != 5 {
				t.Fatal("a bad cursor changed the place")
			}
			return
		}
		if x > 1<<62 || y > 1<<62 {
			t.Fatalf("%d %d cannot be numbers of entries", x, y)
		}
	})
}
