//go:build unix

package store_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jig/internal/history"
	"jig/internal/msg"
	"jig/internal/proto"
	"jig/internal/store"
)

func errorsAs[T error](err error, target *T) bool { return errors.As(err, target) }

// holds looks for a word in a file and those beside it.
func holds(t *testing.T, path, word string) bool {
	t.Helper()
	for _, p := range []string{path, path + "-wal"} {
		if b, err := os.ReadFile(p); err == nil && strings.Contains(string(b), word) {
			return true
		}
	}
	return false
}

func attributes(root string) map[string]string { return map[string]string{"repository": root} }

func TestSessionIsTranscribedWhileItGoesOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jig.db")
	o := store.Start(path, store.Unsaved)
	tr := store.NewTranscriber(o.DB, attributes)
	s := o.New("a")
	log := tr.Beside("a", s)
	must(t, log.Append(1, conversation[0]))
	must(t, log.Append(2, conversation[1:]...))
	must(t, log.Append(5, called[0]))
	must(t, log.Append(6, called[1]))
	must(t, tr.Close())
	d, err := o.DB()
	must(t, err)
	same(t, transcript(t, d.Collection(), "a", 0), "\n  mend   the tests\nplease", "a\x00b", "haystack")
	if got := find(t, d.Collection(), history.Query{Text: "needle haystack", Attributes: map[string]history.Filter{"repository": {Exact: "/r"}}}); len(got) != 1 {
		t.Errorf("%q", got)
	}
	must(t, s.Close())
	must(t, o.Close())
}

func TestWhatADeadJigLeftIsMadeUpFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jig.db")
	d := open(t, path)
	s := d.New("a")
	must(t, s.Append(1, conversation[:3]...))
	tr := store.NewTranscriber(func() (*store.DB, error) { return d, nil }, attributes)
	log := tr.Beside("a", s)
	must(t, log.Append(4, called[0])) // transcribed up to a call whose result is still to come
	must(t, tr.Close())
	must(t, s.Append(5, called[1], proto.Said{Message: msg.Say(msg.User, "and then")}))
	must(t, d.Transcribe(ctx, attributes))
	if got := transcript(t, d.Collection(), "a", 0); len(got) != 2 {
		t.Errorf("what a living jig writes was transcribed: %q", got)
	}
	must(t, s.Close())
	must(t, d.Transcribe(ctx, attributes))
	must(t, d.Transcribe(ctx, attributes))
	same(t, transcript(t, d.Collection(), "a", 0), "\n  mend   the tests\nplease", "a\x00b", "haystack", "and then")
}

func TestResumedSessionGoesOnWithItsTranscript(t *testing.T) {
	d := fresh(t)
	id := write(t, d) // nothing of it is transcribed
	s, _, err := d.Take(id)
	must(t, err)
	tr := store.NewTranscriber(func() (*store.DB, error) { return d, nil }, attributes)
	log := tr.Beside(id, s)
	must(t, log.Append(5, proto.Said{Message: msg.Say(msg.User, "again")}))
	must(t, log.Append(6, proto.Rewound{Before: 5}))
	must(t, log.Append(7, proto.Compacted{Through: 3, Summary: msg.Say(msg.User, "in short")}))
	must(t, log.Append(8, proto.Said{Message: msg.Say(msg.User, "better")}))
	must(t, tr.Close())
	same(t, transcript(t, d.Collection(), id, 0), "\n  mend   the tests\nplease", "a\x00b", "better")
	p, err := d.Collection().Read(ctx, history.Reading{Session: id})
	must(t, err)
	if p.Attributes["repository"] != "/r" {
		t.Errorf("%v", p.Attributes)
	}
}

func TestEndWaitsForNoFactsOfOldRuns(t *testing.T) {
	d := fresh(t)
	id := write(t, d)
	s, _, err := d.Take(id)
	must(t, err)
	old := make([]proto.Fact, 3000)
	for i := range old {
		old[i] = proto.Said{Message: msg.Say(msg.User, "old")}
	}
	must(t, s.Append(5, old...)) // as a copy has them
	tr := store.NewTranscriber(func() (*store.DB, error) { return d, nil }, attributes)
	must(t, tr.Beside(id, s).Append(3005, conversation[1]))
	must(t, tr.Close())
	if _, err := d.Collection().Read(ctx, history.Reading{Session: id}); err == nil {
		t.Error("old facts were transcribed at the end of a run")
	}
	must(t, s.Close())
	must(t, d.Transcribe(ctx, attributes))
	if got := transcript(t, d.Collection(), id, 0); len(got) < 3000 {
		t.Errorf("%d entries", len(got))
	}
}

func TestHistoryThatFailsSaysSoOnceAndHurtsNoSession(t *testing.T) {
	d := fresh(t)
	raw, err := sql.Open("sqlite", d.Path())
	must(t, err)
	_, err = raw.Exec("DROP TABLE history_entry")
	must(t, err)
	must(t, raw.Close())
	tr := store.NewTranscriber(func() (*store.DB, error) { return d, nil }, attributes)
	s := d.New("a")
	log := tr.Beside("a", s)
	must(t, log.Append(1, conversation...))
	must(t, log.Append(5, conversation[1]))
	err = tr.Close()
	if err == nil || !strings.HasPrefix(err.Error(), "history unavailable: ") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
	if facts, err := d.Facts("a"); err != nil || len(facts) != 5 {
		t.Errorf("%d facts, %v", len(facts), err)
	}
	if _, err := d.Collection().Read(ctx, history.Reading{Session: "a"}); err == nil {
		t.Error("a broken history was read")
	}
}

func TestSessionThatIsDeletedMeanwhileIsNoFault(t *testing.T) {
	d := fresh(t)
	id := write(t, d)
	tr := store.NewTranscriber(func() (*store.DB, error) { return d, nil }, attributes)
	s, _, err := d.Take(id)
	must(t, err)
	log := tr.Beside(id, s)
	must(t, log.Append(5, conversation[1]))
	must(t, s.Close())
	_, err = d.Delete(id)
	must(t, err)
	must(t, tr.Close())
	same(t, find(t, d.Collection(), history.Query{}))
}
