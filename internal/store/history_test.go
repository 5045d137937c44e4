//go:build unix

package store_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"jig/internal/history"
	"jig/internal/msg"
	"jig/internal/proto"
	"jig/internal/store"
	"jig/internal/tool"
)

var ctx = context.Background()

// shelf is sessions to transcribe by hand.
type shelf struct {
	t     *testing.T
	db    *store.DB
	c     history.Collection
	upto  map[string]uint64
	clock time.Time
}

func newShelf(t *testing.T) *shelf {
	t.Helper()
	d := fresh(t)
	return &shelf{t, d, d.Collection(), map[string]uint64{}, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
}

// add makes an entry of each text, each an hour and more after the one before.
func (s *shelf) add(id string, attributes map[string]string, texts ...string) {
	s.t.Helper()
	if _, ok := s.upto[id]; !ok {
		l := s.db.New(id)
		must(s.t, l.Append(1, conversation[:2]...))
		must(s.t, l.Close())
	}
	for _, text := range texts {
		s.clock = s.clock.Add(2 * time.Hour)
		s.upto[id]++
		must(s.t, s.c.Change(ctx, history.Change{Session: id, After: s.upto[id] - 1, Upto: s.upto[id], Created: history.Created{Time: s.clock, Attributes: attributes},
			Append: []history.Entry{{Fact: s.upto[id], Time: s.clock, Kind: history.User, Text: text}}}))
	}
}

func (s *shelf) cut(id string, fact uint64) {
	s.t.Helper()
	s.upto[id]++
	must(s.t, s.c.Change(ctx, history.Change{Session: id, After: s.upto[id] - 1, Upto: s.upto[id], Cut: fact}))
}

// find gives the ids of the sessions of all pages, with their snippets.
func find(t *testing.T, c history.Collection, q history.Query) (out []string) {
	t.Helper()
	for {
		f, err := c.Search(ctx, q)
		must(t, err)
		for _, h := range f.Sessions {
			var texts []string
			for _, s := range h.Snippets {
				texts = append(texts, s.Text)
			}
			out = append(out, h.Session+": "+strings.Join(texts, " | "))
		}
		if q.Cursor = f.Next; f.Next == "" {
			return out
		}
	}
}

func transcript(t *testing.T, c history.Collection, id string, limit int) (out []string) {
	t.Helper()
	r := history.Reading{Session: id, Limit: limit}
	for {
		p, err := c.Read(ctx, r)
		must(t, err)
		for _, e := range p.Entries {
			out = append(out, e.Text)
		}
		if r.Cursor = p.Next; p.Next == "" {
			return out
		}
	}
}

func same(t *testing.T, got []string, want ...string) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestAllWordsMustBeInOneEntry(t *testing.T) {
	s := newShelf(t)
	s.add("a", nil, "the red fox", "the brown dog")
	s.add("b", nil, "a red dog, and the fox")
	same(t, find(t, s.c, history.Query{Text: "red fox"}), "b: a red dog, and the fox", "a: the red fox")
	same(t, find(t, s.c, history.Query{Text: `"red fox"`}), "a: the red fox")
	same(t, find(t, s.c, history.Query{Text: "red brown"}))
	same(t, find(t, s.c, history.Query{Text: "bro*"}), "a: the brown dog")
	same(t, find(t, s.c, history.Query{Text: `"the bro"*`}), "a: the brown dog")
	same(t, find(t, s.c, history.Query{Text: "bro"}))
}

func TestCaseAndAccentsDoNotMatter(t *testing.T) {
	s := newShelf(t)
	s.add("a", nil, "un CAFÉ à Orléans", "Straße ΑΛΦΑ", "日本語 テスト")
	for query, want := range map[string]int{"cafe": 1, "Orleans": 1, "cafe\u0301": 1, "αλφα": 1, "日本語": 1, "STRASSE": 0} {
		if got := find(t, s.c, history.Query{Text: query}); len(got) != want {
			t.Errorf("%s: %q", query, got)
		}
	}
}

func TestNothingTypedIsAnOperatorOrAnError(t *testing.T) {
	s := newShelf(t)
	s.add("a", nil, `text: NEAR OR "AND" not (x) -y ^z {w} col:v '; DROP TABLE history; --`)
	for _, q := range []string{`NEAR(x, y)`, `x OR nowhere`, `x AND`, `NOT x`, `text:NEAR`, `region:x`, `{text}: x`, `^text`, `"x" + "y"`, `(((`, `x)`, `"`, `""`, `"unclosed`, `x"y`, `'; DROP TABLE history; --`, `-x`, `x-y`,
		"\x00x", "\ue0000", `\`, `*`, `x**`, `tex*t`, "%", "_", "?1", ":a", "@x", "$y", "\u0301", "x\u0301\u0301", strings.Repeat(`"x `, 300)} {
		f, err := s.c.Search(ctx, history.Query{Text: q})
		var input history.InputError
		if err != nil && !errorsAs(err, &input) {
			t.Errorf("%q: %v", q, err)
		}
		if strings.Contains(q, "nowhere") && len(f.Sessions) > 0 {
			t.Errorf("%q found %v", q, f.Sessions)
		}
	}
	same(t, find(t, s.c, history.Query{Text: "drop table"})[:1], "a: "+find(t, s.c, history.Query{Text: "x"})[0][3:])
}

func TestAttributesAreExactOrPartsAndPlainText(t *testing.T) {
	s := newShelf(t)
	s.add("a", map[string]string{"repository": "example.org/Team_1/100%", "source": "larch"}, "word")
	s.add("b", map[string]string{"repository": "example.org/TeamX1/100x", "source": "Grün"}, "word")
	s.add("c", map[string]string{"source": "larch"}, "word")
	for _, c := range []struct {
		filters map[string]history.Filter
		want    string
	}{
		{map[string]history.Filter{"repository": {Contains: "Team_1"}}, "a"},
		{map[string]history.Filter{"repository": {Contains: "100%"}}, "a"},
		{map[string]history.Filter{"repository": {Contains: "example"}}, "ba"},
		{map[string]history.Filter{"repository": {Exact: "example.org/Team_1/100%"}}, "a"},
		{map[string]history.Filter{"repository": {Exact: "example.org"}}, ""},
		{map[string]history.Filter{"source": {Contains: "rün"}}, "b"},
		{map[string]history.Filter{"source": {Exact: "larch"}}, "ca"},
		{map[string]history.Filter{"source": {Exact: "larch"}, "repository": {Contains: "org"}}, "a"},
		{map[string]history.Filter{"nothing": {Exact: "larch"}}, ""},
		{map[string]history.Filter{"source": {Exact: ""}}, ""},
	} {
		for _, text := range []string{"word", ""} {
			got := ""
			for _, x := range find(t, s.c, history.Query{Text: text, Attributes: c.filters, Limit: 1}) {
				got += x[:1]
			}
			if got != c.want {
				t.Errorf("%q with %v: %q", text, c.filters, got)
			}
		}
	}
}

func TestNewestComesFirstWithThreeSnippetsAtMost(t *testing.T) {
	s := newShelf(t)
	s.add("old", nil, "word 1", "word 2", "word 3", "word 4")
	s.add("new", nil, "word 5")
	s.add("old", nil, "other")
	same(t, find(t, s.c, history.Query{Text: "word"}), "new: word 5", "old: word 4 | word 3 | word 2")
	same(t, find(t, s.c, history.Query{}), "old: other", "new: word 5")
	same(t, find(t, s.c, history.Query{Limit: 1}), "old: other", "new: word 5")
}

func TestAGiantSessionHidesNoOther(t *testing.T) {
	s := newShelf(t)
	s.add("small", nil, "word")
	var all []history.Entry
	for i := range 9000 { // more than two stretches, and more than is passed by one by one
		all = append(all, history.Entry{Fact: uint64(i + 1), Time: s.clock, Kind: history.User, Text: fmt.Sprint("word ", i)})
	}
	s.add("giant", nil)
	must(t, s.c.Change(ctx, history.Change{Session: "giant", Upto: 9000, Append: all}))
	s.upto["giant"] = 9000
	s.add("late", nil, "word")
	same(t, find(t, s.c, history.Query{Text: "word"}), "late: word", "giant: word 8999 | word 8998 | word 8997", "small: word")
	same(t, find(t, s.c, history.Query{Text: "word", Limit: 1}), "late: word", "giant: word 8999 | word 8998 | word 8997", "small: word")
	if got := transcript(t, s.c, "giant", 100); len(got) != 9000 || got[0] != "word 0" || got[8999] != "word 8999" {
		t.Errorf("%d entries", len(got))
	}
}

// TestSearchIsWhatReadingEverythingWouldFind compares with the plainest search there is, over sessions that
// take turns, are rewound and deleted, page by page.
func TestSearchIsWhatReadingEverythingWouldFind(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := newShelf(t)
		type entry struct {
			session, text string
			fact          uint64
		}
		var all []entry
		words := []string{"ashen", "ashes", "elm", "elms", "yew"}
		repository := func(id string) map[string]string { return map[string]string{"repository": "r" + id[:1]} }
		for range rapid.IntRange(0, 120).Draw(r, "steps") {
			id := rapid.StringMatching("[ab][0-3]").Draw(r, "session")
			switch rapid.IntRange(0, 20).Draw(r, "what") {
			case 0:
				if s.upto[id] > 0 {
					from := rapid.Uint64Range(1, s.upto[id]).Draw(r, "from")
					s.cut(id, from)
					all = slices.DeleteFunc(all, func(e entry) bool { return e.session == id && e.fact >= from })
				}
			case 1:
				if s.upto[id] > 0 {
					if _, err := s.db.Delete(id); err != nil {
						r.Fatal(err)
					}
					delete(s.upto, id)
					all = slices.DeleteFunc(all, func(e entry) bool { return e.session == id })
				}
			default:
				text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 5).Draw(r, "text"), " ")
				s.add(id, repository(id), text)
				all = append(all, entry{id, text, s.upto[id]})
			}
		}
		for range 5 {
			w := rapid.SliceOfN(rapid.SampledFrom(words), 1, 2).Draw(r, "words")
			q := history.Query{Text: strings.Join(w, " "), Limit: rapid.IntRange(1, 4).Draw(r, "limit")}
			phrase := rapid.Bool().Draw(r, "phrase")
			if phrase {
				q.Text = `"` + q.Text + `"`
			}
			of := rapid.SampledFrom([]string{"", "a", "b"}).Draw(r, "of")
			if of != "" {
				q.Attributes = map[string]history.Filter{"repository": {Contains: of}}
			}
			begins := !phrase && rapid.Bool().Draw(r, "begins")
			if begins { // the last word is only begun
				w[len(w)-1] = w[len(w)-1][:3]
				q.Text = strings.Join(w, " ") + "*"
			}
			var want []string
			for _, e := range slices.Backward(all) {
				said := " " + e.text + " "
				match := strings.HasPrefix(e.session, of) && (!phrase || strings.Contains(said, " "+strings.Join(w, " ")+" "))
				for i, x := range w {
					if begins && i == len(w)-1 {
						match = match && strings.Contains(said, " "+x)
					} else {
						match = match && strings.Contains(said, " "+x+" ")
					}
				}
				if match && !slices.Contains(want, e.session) {
					want = append(want, e.session)
				}
			}
			var got []string
			for _, x := range find(t, s.c, q) {
				got = append(got, x[:2])
			}
			if d := cmp.Diff(want, got); d != "" {
				r.Fatalf("%+v: %s", q, d)
			}
		}
		for id := range s.upto {
			var want []string
			for _, e := range all {
				if e.session == id {
					want = append(want, e.text)
				}
			}
			if d := cmp.Diff(want, transcript(t, s.c, id, 7)); d != "" {
				r.Fatalf("%s: %s", id, d)
			}
		}
	})
}

func TestSessionIsFoundOnceAlthoughMoreIsSaidMeanwhile(t *testing.T) {
	s := newShelf(t)
	s.add("a", nil, "word 1")
	s.add("b", nil, "word 2")
	s.add("c", nil, "word 3")
	q := history.Query{Text: "word", Limit: 1}
	f, err := s.c.Search(ctx, q)
	must(t, err)
	s.add("c", nil, "word 4")
	s.add("a", nil, "word 5")
	s.add("d", nil, "word 6")
	q.Cursor = f.Next
	if f.Sessions[0].Session != "c" {
		t.Errorf("%+v", f)
	}
	same(t, find(t, s.c, q), "b: word 2", "a: word 1")
}

func TestSearchWaitsForNobodyWhoWrites(t *testing.T) {
	s := newShelf(t)
	s.add("a", nil, "word")
	raw, err := sql.Open("sqlite", s.db.Path())
	must(t, err)
	defer raw.Close()
	tx, err := raw.Conn(ctx)
	must(t, err)
	for _, q := range []string{"BEGIN IMMEDIATE", "UPDATE history_entry SET text = 'changed'", "DELETE FROM history"} {
		_, err := tx.ExecContext(ctx, q)
		must(t, err)
	}
	soon, cancel := context.WithTimeout(ctx, 5*time.Second) // a writer is waited for twice as long
	defer cancel()
	f, err := s.c.Search(soon, history.Query{Text: "word"})
	must(t, err)
	if len(f.Sessions) != 1 || f.Sessions[0].Snippets[0].Text != "word" {
		t.Errorf("%+v", f)
	}
	_, err = tx.ExecContext(ctx, "ROLLBACK")
	must(t, err)
	must(t, tx.Close())
}

func TestChangeToldTwiceCountsOnce(t *testing.T) {
	s := newShelf(t)
	s.add("a", nil, "one")
	again := history.Change{Session: "a", Upto: 1, Append: []history.Entry{{Fact: 1, Text: "one"}}}
	must(t, s.c.Change(ctx, again))
	// One that begins before what is there and goes beyond it adds only what is new.
	more := history.Change{Session: "a", Upto: 2, Append: []history.Entry{{Fact: 1, Text: "one"}, {Fact: 2, Text: "two"}}}
	must(t, s.c.Change(ctx, more, more))
	same(t, transcript(t, s.c, "a", 0), "one", "two")
	var gap *history.GapError
	if err := s.c.Change(ctx, history.Change{Session: "a", After: 5, Upto: 6}); !errorsAs(err, &gap) || gap.Has != 2 {
		t.Errorf("%v", err)
	}
	var none *history.NoSessionError
	if err := s.c.Change(ctx, history.Change{Session: "z", Upto: 6}); !errorsAs(err, &none) {
		t.Errorf("%v", err)
	}
	if _, err := s.c.Read(ctx, history.Reading{Session: "z"}); !errorsAs(err, &none) {
		t.Errorf("%v", err)
	}
}

func TestSnippetsCursorReadsFromShortlyBefore(t *testing.T) {
	s := newShelf(t)
	s.add("other", nil, "word")
	var all []history.Entry
	for i := range 20 {
		all = append(all, history.Entry{Fact: uint64(i + 1), Time: s.clock, Kind: history.User, Text: fmt.Sprint("entry ", i)})
	}
	s.add("a", nil)
	must(t, s.c.Change(ctx, history.Change{Session: "a", Upto: 20, Append: all}))
	for n, want := range map[int]string{10: "entry 8", 0: "entry 0"} {
		f, err := s.c.Search(ctx, history.Query{Text: fmt.Sprintf(`"entry %d"`, n)})
		must(t, err)
		p, err := s.c.Read(ctx, history.Reading{Session: "a", Cursor: f.Sessions[0].Snippets[0].Cursor})
		must(t, err)
		if p.Entries[0].Text != want {
			t.Errorf("reading from entry %d begins with %s", n, p.Entries[0].Text)
		}
	}
}

func TestPageOfLongEntriesIsBounded(t *testing.T) {
	s := newShelf(t)
	long := strings.Repeat("x", history.MaxText)
	s.add("a", nil, slices.Repeat([]string{long}, 20)...)
	p, err := s.c.Read(ctx, history.Reading{Session: "a", Limit: 20})
	must(t, err)
	if len(p.Entries) < 2 || len(p.Entries) > 9 || p.Next == "" {
		t.Errorf("%d entries of %d bytes", len(p.Entries), len(long))
	}
	if got := transcript(t, s.c, "a", 20); len(got) != 20 {
		t.Errorf("%d entries in all", len(got))
	}
}

// TestWhatIsDeletedIsGoneFromTheFile holds for both ways to that: among few entries and among many.
func TestWhatIsDeletedIsGoneFromTheFile(t *testing.T) {
	for _, others := range []int{1, 2500} {
		d := open(t, filepath.Join(t.TempDir(), "jig.db"))
		s := &shelf{t, d, d.Collection(), map[string]uint64{}, time.Now()}
		var all []history.Entry
		for i := range others {
			all = append(all, history.Entry{Fact: uint64(i + 1), Time: s.clock, Kind: history.User, Text: "harmless"})
		}
		s.add("b", nil)
		must(t, s.c.Change(ctx, history.Change{Session: "b", Upto: uint64(others), Append: all}))
		s.add("a", map[string]string{"repository": "hidden.example"}, "the passphrase is xyzzyplugh")
		same(t, find(t, s.c, history.Query{Text: "xyzzyplugh"}), "a: the passphrase is xyzzyplugh")
		_, err := d.Delete("a")
		must(t, err)
		same(t, find(t, s.c, history.Query{}), "b: harmless")
		same(t, find(t, s.c, history.Query{Text: "harmless"}), "b: harmless | harmless | harmless"[:11+min(others-1, 2)*11])
		path := d.Path()
		must(t, d.Close())
		for _, word := range []string{"xyzzyplugh", "hidden.example"} {
			if holds(t, path, word) {
				t.Errorf("%s is still in the file, among %d others", word, others)
			}
		}
	}
}

var called = []proto.Fact{
	proto.Said{Message: msg.Message{Role: msg.Assistant, Blocks: msg.Blocks{msg.Call{ID: "c1", Name: "grep", Args: `{"pattern":"needle"}`}}}},
	proto.Closed{Call: "c1", Result: tool.Text("haystack")},
}
