//go:build unix

package store_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jig/internal/history"
	"jig/internal/msg"
	"jig/internal/proto"
	"jig/internal/store"
)

// manyEntries makes a session with a transcript, and another that is none of the first's business.
func manyEntries(t *testing.T, n, size int) (s *shelf, direct *sql.DB) {
	t.Helper()
	d := open(t, filepath.Join(t.TempDir(), "jig.db"))
	s = &shelf{t, d, d.Collection(), map[string]uint64{}, time.Now()}
	s.add("b", nil, "harmless")
	var all []history.Entry
	for i := range n {
		all = append(all, history.Entry{Fact: uint64(i + 1), Time: s.clock, Kind: history.User, Text: strings.Repeat(fmt.Sprintf("secret%d words ", i), size/14)})
	}
	a, _, err := d.Take("b")
	must(t, err)
	must(t, a.Close())
	one := d.New("a")
	must(t, one.Append(1, proto.Began{}, proto.Said{Message: msg.Say(msg.User, "secret")}))
	must(t, one.Close())
	must(t, s.c.Change(ctx, history.Change{Session: "a", Upto: uint64(n), Append: all}))
	direct, err = sql.Open("sqlite", "file:"+d.Path())
	must(t, err)
	t.Cleanup(func() { _ = direct.Close() })
	direct.SetMaxOpenConns(1)
	_, err = direct.Exec("PRAGMA secure_delete = on")
	must(t, err)
	return s, direct
}

func count(t *testing.T, db *sql.DB, table string) (n int) {
	t.Helper()
	must(t, db.QueryRow("SELECT count(*) FROM "+table).Scan(&n))
	return n
}

// TestALargeTranscriptGoesInSteps: whoever writes meanwhile waits for one of them and not for all.
func TestALargeTranscriptGoesInSteps(t *testing.T) {
	s, direct := manyEntries(t, 150, 20_000) // fewer than go at once, with more bytes
	before := count(t, direct, "history_entry")
	seen := map[int]bool{}
	done := make(chan error)
	go func() {
		_, err := s.db.Delete("a")
		done <- err
	}()
	for over := false; !over; {
		select {
		case err := <-done:
			must(t, err)
			over = true
		case <-time.After(time.Millisecond):
		}
		if n := count(t, direct, "history_entry"); n > 1 && n < before {
			seen[n] = true
			same(t, find(t, s.c, history.Query{Text: "words"})) // none of it is found any more
		}
	}
	if len(seen) < 2 {
		t.Errorf("of %d entries all went at once, or nearly: %v", before, seen)
	}
	if n := count(t, direct, "history_entry"); n != 1 {
		t.Errorf("%d entries are left", n)
	}
}

// TestADeletionThatWasCutShortIsCompletedByTheNext: its words are gone from the index as well, wherever it was
// cut short.
func TestADeletionThatWasCutShortIsCompletedByTheNext(t *testing.T) {
	for name, also := range map[string]string{"before its entries": "", "after its entries": "DELETE FROM history_entry WHERE num > (SELECT min(num) FROM history_entry)"} {
		s, direct := manyEntries(t, 10, 1000)
		for _, q := range []string{"INSERT INTO doomed SELECT num FROM session WHERE id = 'a'", "DELETE FROM history WHERE session = (SELECT num FROM doomed)", "DELETE FROM session WHERE id = 'a'"} {
			_, err := direct.Exec(q)
			must(t, err)
		}
		same(t, find(t, s.c, history.Query{Text: "secret3"}))
		if also != "" { // as the program does it: the words first
			for _, q := range []string{"INSERT INTO history_word (history_word, rowid, region, tool, args, text) SELECT 'delete', num, region, tool, args, text FROM history_entry WHERE num > (SELECT min(num) FROM history_entry)", also} {
				_, err := direct.Exec(q)
				must(t, err)
			}
		}
		n, err := s.db.Delete()
		must(t, err)
		if left := count(t, direct, "history_entry") + count(t, direct, "doomed") + count(t, direct, "fact"); n != 0 || left > 1+3 {
			t.Errorf("%s: %d deleted, %d rows are left", name, n, left)
		}
		same(t, find(t, s.c, history.Query{Text: "harmless"}), "b: harmless")
		must(t, direct.Close())
		path := s.db.Path()
		must(t, s.db.Close())
		data, err := os.ReadFile(path)
		must(t, err)
		if strings.Contains(string(data), "secret") {
			t.Errorf("%s: it is still in the file", name)
		}
	}
}

// TestAFactOfManyBytesIsAStepOfItsOwn: facts are counted by what they hold.
func TestAFactOfManyBytesIsAStepOfItsOwn(t *testing.T) {
	d := fresh(t)
	s := d.New(store.NewID())
	must(t, s.Append(1, proto.Began{}))
	for i := range 8 {
		must(t, s.Append(uint64(i)+2, proto.Said{Message: msg.Say(msg.User, strings.Repeat("x", 3<<20))}))
	}
	must(t, s.Close())
	direct, err := sql.Open("sqlite", "file:"+d.Path())
	must(t, err)
	defer direct.Close()
	seen := map[int]bool{}
	done := make(chan error)
	go func() { _, err := d.Delete(s.ID()); done <- err }()
	for over := false; !over; {
		select {
		case err := <-done:
			must(t, err)
			over = true
		case <-time.After(time.Millisecond):
		}
		seen[count(t, direct, "fact")] = true
	}
	if len(seen) < 4 || !seen[0] {
		t.Errorf("so many facts were left at times: %v", seen)
	}
}
