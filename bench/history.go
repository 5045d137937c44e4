package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"jig/internal/history"
	"jig/internal/msg"
	"jig/internal/proto"
	"jig/internal/store"
)

const (
	entries      = 1_000_000
	entriesQuick = 50_000
	batch        = 200 // entries of a transaction
	searchGoal   = 50  // ms
	insertGoal   = 5000
	searches     = 100 // of a kind
	followed     = 5   // of them are, where a page is not full, gone on with
)

// transcripts measures the history: how fast it is written and searched, alone and while another
// process writes.
func transcripts(b *bench) error {
	path, n := b.history, entries
	if b.quick {
		n = entriesQuick
	}
	if path == "" {
		path = filepath.Join(b.tmp, "history", "jig", "jig.db")
	}
	d, err := store.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	h := &hoard{db: d, c: d.Collection(), talk: newTalk()}
	heading(fmt.Sprintf("a history of %d entries", n))
	list, err := d.List(store.Query{Limit: 1})
	if err != nil {
		return err
	}
	if len(list) == 0 {
		if err := h.fill(n); err != nil {
			return err
		}
	}
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	fmt.Printf("%-44s %10.0f MB\n", "the database", float64(st.Size())/1e6)
	if err := h.search(""); err != nil {
		return err
	}
	stop := h.disturb()
	err = h.search(", while others write")
	if e := stop(); err == nil {
		err = e
	}
	if err != nil || b.history != "" {
		return err
	}
	project, err := b.project()
	if err != nil {
		return err
	}
	return b.kept(project, filepath.Join(b.tmp, "history"), fmt.Sprintf("%d entries", n))
}

// hoard is a history that is filled and searched.
type hoard struct {
	db   *store.DB
	c    history.Collection
	talk *talk

	n int
}

// writing is a session of which entries come.
type writing struct {
	id   string
	upto uint64
	left int // entries that come before others are written
}

func (h *hoard) fill(n int) error {
	giant, err := h.begin("giant")
	if err != nil {
		return err
	}
	var texts int
	var inserting, working time.Duration
	now := &writing{}
	at := time.Now().Add(-time.Duration(n) * 20 * time.Second)
	for done := 0; done < n; {
		var changes []history.Change
		for size := 0; size < batch; {
			if now.left <= 0 {
				// A fifth of the stretches are one session's, which goes on all the time.
				if now = giant; h.talk.rand.IntN(5) > 0 {
					if now, err = h.begin(""); err != nil {
						return err
					}
				}
				now.left = 1 + int(h.talk.rand.ExpFloat64()*60)
			}
			c := history.Change{Session: now.id, After: now.upto, Created: history.Created{Time: at, Attributes: map[string]string{
				"source": "bench", "repository": fmt.Sprintf("example.org/team%d/project%d", h.talk.rand.IntN(10), h.talk.rand.IntN(40))}}}
			for ; size < batch && now.left > 0; size++ {
				now.upto++
				now.left--
				at = at.Add(20 * time.Second)
				e := history.Entry{Fact: now.upto, Time: at, Kind: history.Assistant, Text: h.talk.piece()}
				if now.upto%3 == 0 {
					e.Kind, e.Tool, e.Outcome, e.Args = history.Tool, "read_file", history.Succeeded, "path: internal/"+h.talk.word()+".go"
				}
				texts += len(e.Text)
				c.Append = append(c.Append, e)
			}
			c.Upto = now.upto
			changes = append(changes, c)
			done += len(c.Append)
		}
		begun, used := time.Now(), cpuUsed()
		if err := h.c.Change(context.Background(), changes...); err != nil {
			return err
		}
		inserting, working = inserting+time.Since(begun), working+cpuUsed()-used
	}
	rowOver(fmt.Sprintf("entries written a second, by %d", batch), float64(n)/inserting.Seconds(), insertGoal,
		fmt.Sprintf("%.0f in a second of CPU; %d MB of text", float64(n)/max(working.Seconds(), 0.001), texts/1_000_000))
	return nil
}

// begin makes a session to write of.
func (h *hoard) begin(id string) (*writing, error) {
	if id == "" {
		h.n++
		id = fmt.Sprintf("s%07d", h.n)
	}
	s := h.db.New(id)
	if err := s.Append(1, proto.Began{Agent: "bench", Root: "/bench"}, proto.Said{Message: msg.Say(msg.User, "go")}); err != nil {
		return nil, err
	}
	return &writing{id: id, upto: 0}, s.Close()
}

// kinds of search, each of which makes a query.
func (h *hoard) kinds() []kind {
	t := h.talk
	w := func(from, to int) string { return t.words[from+t.rand.IntN(to-from)] }
	return []kind{
		{"a rare word", func() history.Query { return history.Query{Text: w(10_000, vocabulary)} }},
		{"two words", func() history.Query { return history.Query{Text: w(50, 2000) + " " + w(50, 2000)} }},
		{"a phrase", func() history.Query { return history.Query{Text: `"` + w(20, 300) + " " + w(20, 300) + `"`} }},
		{"a common word", func() history.Query { return history.Query{Text: w(0, 50)} }},
		{"two common words", func() history.Query { return history.Query{Text: w(0, 10) + " " + w(0, 10)} }},
		{"a phrase of common words", func() history.Query { return history.Query{Text: `"` + w(0, 20) + " " + w(0, 20) + `"`} }},
		{"a common word, 75 sessions", func() history.Query { return history.Query{Text: w(0, 50), Limit: 75} }},
		{"words that never meet", func() history.Query {
			return history.Query{Text: `"` + strings.Repeat(w(0, 3)+" ", 5) + `" ` + w(0, 3)}
		}},
		{"a beginning of a word", func() history.Query { return history.Query{Text: (w(100, 5000) + "aba")[:3] + "*"} }},
		{"a rare word, of one project", func() history.Query {
			return history.Query{Text: w(5000, 20_000), Attributes: map[string]history.Filter{"repository": {Contains: "team3/project7"}}}
		}},
		{"a common word, of few projects", func() history.Query {
			return history.Query{Text: w(0, 50), Attributes: map[string]history.Filter{"repository": {Contains: "project11"}}}
		}},
		{"a common word, of the giant alone", func() history.Query { return history.Query{Text: w(0, 5), Limit: 1} }},
		{"the newest sessions", func() history.Query { return history.Query{} }},
	}
}

type kind struct {
	name string
	make func() history.Query
}

func (h *hoard) search(under string) error {
	for _, k := range h.kinds() {
		if under != "" && !slices.Contains([]string{"a rare word", "two words", "a phrase", "a common word"}, k.name) {
			continue
		}
		var took []float64
		short, hits, pages := 0, 0, 0
		for range searches {
			q := k.make()
			begun := time.Now()
			f, err := h.c.Search(context.Background(), q)
			if err != nil {
				return fmt.Errorf("%s: %w", q.Text, err)
			}
			took = append(took, ms(time.Since(begun)))
			hits += len(f.Sessions)
			if want, _ := q.Check(); f.Next != "" && len(f.Sessions) < want.Limit {
				if short++; short > followed {
					continue
				}
				for q.Cursor = f.Next; f.Next != "" && len(f.Sessions) < want.Limit; pages++ {
					if f, err = h.c.Search(context.Background(), q); err != nil {
						return err
					}
					q.Cursor = f.Next
				}
			}
		}
		slices.Sort(took)
		note := fmt.Sprintf("p50 %.2f, slowest %.2f; %.1f sessions each", took[len(took)/2], took[len(took)-1], float64(hits)/float64(len(took)))
		if short > 0 {
			note += fmt.Sprintf("; %d pages were not full, %.1f more filled one", short, float64(pages)/float64(min(short, followed)))
		}
		row("  "+k.name+under+", p95, ms", took[len(took)*95/100], searchGoal, note)
	}
	return nil
}

// disturb writes, through another opening of the same file, as sessions do, until it is stopped.
func (h *hoard) disturb() (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	var err error
	wg.Go(func() { err = h.scribble(ctx) })
	return func() error {
		cancel()
		wg.Wait()
		return err
	}
}

func (h *hoard) scribble(ctx context.Context) error {
	d, err := store.Open(h.db.Path())
	if err != nil {
		return err
	}
	defer d.Close()
	other := &hoard{db: d, c: d.Collection(), talk: newTalk()}
	w, err := other.begin(store.NewID())
	for ; err == nil && ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
		w.upto++
		err = other.c.Change(context.Background(), history.Change{Session: w.id, After: w.upto - 1, Upto: w.upto,
			Append: []history.Entry{{Fact: w.upto, Time: time.Now(), Kind: history.User, Text: other.talk.piece()}}})
	}
	return err
}
