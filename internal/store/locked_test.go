//go:build unix

package store_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jig/internal/store"
)

// locked lets another connection write, as another process would, until the test ends it.
func locked(t *testing.T, path string) (free func()) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	must(t, err)
	c, err := db.Conn(context.Background())
	must(t, err)
	_, err = c.ExecContext(context.Background(), "BEGIN IMMEDIATE")
	must(t, err)
	return func() {
		_, err := c.ExecContext(context.Background(), "ROLLBACK")
		must(t, err)
		must(t, c.Close())
		must(t, db.Close())
	}
}

func TestTheFirstRequestDoesNotWaitForADatabaseThatIsLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jig.db")
	must(t, open(t, path).Close())
	free := locked(t, path)
	o := store.Start(path, store.Unsaved)
	if _, err := o.DB(); err != nil {
		t.Fatal(err)
	}
	s := o.New(store.NewID())
	done := make(chan error, 1)
	go func() { done <- s.Append(1, conversation[:2]...) }()
	must(t, <-done) // while it is locked
	reply := make(chan error, 1)
	go func() { reply <- s.Append(3, conversation[2:]...) }()
	select {
	case err := <-reply:
		t.Errorf("a reply was told that nothing keeps: %v", err)
	case <-time.After(300 * time.Millisecond):
	}
	free()
	must(t, <-reply)
	must(t, s.Close())
	must(t, o.Close())
	if facts, err := open(t, path).Facts(s.ID()); err != nil || len(facts) != len(conversation) {
		t.Errorf("%d facts, %v", len(facts), err)
	}
}

func TestWhoIsAboutToEndWaitsForNobody(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jig.db")
	d := open(t, path)
	id := write(t, d)
	s, _, err := d.Take(id)
	must(t, err)
	free := locked(t, path)
	defer free()
	failed := make(chan error, 1)
	go func() { failed <- s.Append(5, conversation[1]) }()
	time.Sleep(50 * time.Millisecond)
	d.Hurry()
	if err := <-failed; err == nil || !strings.Contains(err.Error(), "locked by another process") {
		t.Errorf("%v", err)
	}
}

func TestARemovedDatabaseIsNotPassedOverInSilence(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jig", "jig.db")
	d := open(t, path)
	write(t, d)
	must(t, os.RemoveAll(filepath.Dir(path)))
	if err := d.Close(); err == nil || !strings.Contains(err.Error(), "removed or replaced") {
		t.Errorf("%v", err)
	}
}

func TestADatabaseWithoutALogOfChangesGetsOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jig.db")
	must(t, open(t, path).Close())
	must(t, exec(path, "PRAGMA journal_mode = delete"))
	write(t, open(t, path))
	if _, err := os.Stat(path + "-wal"); err != nil {
		t.Error(err)
	}
}
