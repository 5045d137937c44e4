//go:build unix

package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"jig/internal/msg"
	"jig/internal/proto"
	"jig/internal/store"
)

func open(t *testing.T, path string) *store.DB {
	t.Helper()
	d, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

func fresh(t *testing.T) *store.DB { return open(t, filepath.Join(t.TempDir(), "jig", "jig.db")) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var conversation = []proto.Fact{
	proto.Began{Agent: "coder", Provider: "p", Model: "m", Root: "/r"},
	proto.Said{Message: msg.Say(msg.User, "\n  mend   the tests\nplease")},
	proto.Said{Message: msg.Message{Role: msg.Assistant, Blocks: msg.Blocks{msg.Reasoning{Raw: []byte("\x00\xff signed")}, msg.Text{Text: "a\x00b"}}}, Round: 1, Usage: &msg.Usage{Input: 5, Output: 2, CacheRead: 3}},
	proto.Ended{Why: proto.Done, Rounds: 1},
}

// write makes a session with the facts above.
func write(t *testing.T, d *store.DB) string {
	t.Helper()
	s := d.New(store.NewID())
	must(t, s.Append(1, conversation[:2]...))
	must(t, s.Append(3, conversation[2:]...))
	must(t, s.Close())
	return s.ID()
}

func TestWhatWasKeptComesBackByteForByte(t *testing.T) {
	d := fresh(t)
	id := write(t, d)
	got, err := d.Facts(id)
	must(t, err)
	if diff := cmp.Diff(conversation, got); diff != "" {
		t.Error(diff)
	}
}

func TestTheIndexTellsWithoutTheLog(t *testing.T) {
	d := fresh(t)
	id := write(t, d)
	all, err := d.List(store.Query{})
	must(t, err)
	if len(all) != 1 {
		t.Fatalf("%+v", all)
	}
	if i := all[0]; i.ID != id || i.Title != "mend the tests" || i.State != "done" || i.Turns != 1 || i.Agent != "coder" || i.Root != "/r" || i.Held || i.Crashed() {
		t.Errorf("%+v", i)
	}
	found, err := d.Find(strings.ToUpper(id[:4]))
	if err != nil || found.ID != id {
		t.Errorf("%+v %v", found, err)
	}
}

func TestASessionNobodySpokeInIsNone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jig.db")
	o := store.Start(path, store.Unsaved)
	s := o.New(store.NewID())
	must(t, s.Append(1, conversation[0]))
	must(t, s.Close())
	d, err := o.DB()
	must(t, err)
	if all, err := d.List(store.Query{}); err != nil || len(all) != 0 {
		t.Errorf("%+v %v", all, err)
	}
	must(t, o.Close())
}

func TestOnlyTheOwnerMayRead(t *testing.T) {
	old := umask(0)
	defer umask(old)
	dir := filepath.Join(t.TempDir(), "a", "jig")
	d := open(t, filepath.Join(dir, "jig.db"))
	write(t, d)
	for path, want := range map[string]os.FileMode{dir: 0o700, dir + "/jig.db": 0o600, dir + "/jig.db-wal": 0o600, dir + "/jig.db-shm": 0o600, dir + "/open": 0o700} {
		st, err := os.Stat(path)
		must(t, err)
		if st.Mode().Perm() != want {
			t.Errorf("%s: %o", path, st.Mode().Perm())
		}
	}
}

func TestOneWriterPerSession(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jig.db")
	a, b := open(t, path), open(t, path)
	id := write(t, a)
	s, facts, err := a.Take(id)
	must(t, err)
	if len(facts) != len(conversation) {
		t.Errorf("%d facts", len(facts))
	}
	var held *store.HeldError
	if _, _, err := b.Take(id); !errors.As(err, &held) || held.Holder.Pid != os.Getpid() || held.Mine {
		t.Fatalf("%v", err)
	}
	if _, _, err := a.Take(id); !errors.As(err, &held) || !held.Mine {
		t.Fatalf("%v", err)
	}
	if i, err := b.Find(id); err != nil || !i.Held {
		t.Errorf("%+v %v", i, err)
	}
	if _, err := b.Delete(id); !errors.As(err, &held) {
		t.Errorf("what is being written was deleted: %v", err)
	}
	must(t, s.Close())
	next, _, err := b.Take(id)
	must(t, err)
	if err := s.Append(5, conversation[1]); !errors.Is(err, store.ErrTaken) {
		t.Errorf("a session that was let go of was written: %v", err)
	}
	must(t, next.Append(5, conversation[1]))
}

func TestFactsFollowOneAnother(t *testing.T) {
	d := fresh(t)
	id := write(t, d)
	s, _, err := d.Take(id)
	must(t, err)
	for _, from := range []uint64{1, 4, 6} {
		if err := s.Append(from, conversation[1]); err == nil {
			t.Errorf("fact %d came after fact 4", from)
		}
	}
}

func TestDeletedIsGoneFromTheDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jig.db")
	d := open(t, path)
	id := write(t, d)
	s, _, err := d.Take(id)
	must(t, err)
	const secret = "the-word-nobody-may-find"
	for i := range 200 {
		must(t, s.Append(uint64(5+i), proto.Said{Message: msg.Say(msg.User, strings.Repeat(secret+" ", 300))}))
	}
	must(t, s.Close())
	kept := write(t, d)
	n, err := d.Delete(id)
	if n != 1 || err != nil {
		t.Fatal(n, err)
	}
	for _, p := range []string{path, path + "-wal"} {
		data, err := os.ReadFile(p)
		must(t, err)
		if strings.Contains(string(data), secret) {
			t.Errorf("%s still has it", p)
		}
		if len(data) > 1<<20 {
			t.Errorf("%s still has %d bytes", p, len(data))
		}
	}
	if _, err := d.Facts(kept); err != nil {
		t.Error(err)
	}
	spent, err := d.Spent(zero, zero)
	must(t, err)
	requests := 0
	for _, s := range spent {
		requests += s.Requests
	}
	if requests != 2 {
		t.Errorf("what was spent went with the session: %+v", spent)
	}
}

func TestACopyLeavesTheOtherAlone(t *testing.T) {
	d := fresh(t)
	id := write(t, d)
	_, _, err := d.Take(id) // it is being written
	must(t, err)
	copied := store.NewID()
	must(t, d.Copy(id, copied, 2))
	facts, err := d.Facts(copied)
	must(t, err)
	want := slices.Concat(conversation[:2], []proto.Fact{proto.Forked{From: id}})
	if diff := cmp.Diff(want, facts); diff != "" {
		t.Error(diff)
	}
	if i, err := d.Find(copied); err != nil || i.Parent != id || i.Held {
		t.Errorf("%+v %v", i, err)
	}
}

func TestForeignNewerAndBrokenFilesAreLeftAsTheyAre(t *testing.T) {
	dir := t.TempDir()
	for name, make := range map[string]func(path string){
		"another program": func(p string) { must(t, exec(p, "CREATE TABLE x (a)")) },
		"newer":           func(p string) { open(t, p).Close(); must(t, exec(p, "PRAGMA user_version = 9999")) },
		"damaged":         func(p string) { must(t, os.WriteFile(p, []byte(strings.Repeat("no database ", 1000)), 0o600)) },
	} {
		path := filepath.Join(dir, strings.ReplaceAll(name, " ", ""))
		make(path)
		before, err := os.ReadFile(path)
		must(t, err)
		_, err = store.Open(path)
		if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "--no-save") {
			t.Errorf("%s: %v", name, err)
		}
		if after, _ := os.ReadFile(path); string(after) != string(before) {
			t.Errorf("%s: the file was changed", name)
		}
	}
}
