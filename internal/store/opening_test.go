package store

import (
	"errors"
	"path/filepath"
	"testing"

	"jig/internal/msg"
	"jig/internal/proto"
)

// odd is a block that cannot be written.
type odd struct{ msg.Block }

// TestWhatWasToldToBeLostIsNotKeptBehindThat: a session whose first facts could not be kept has ended, and is
// not made of half of them when the database lets it.
func TestWhatWasToldToBeLostIsNotKeptBehindThat(t *testing.T) {
	db, err := Open(filepath.Join(t.TempDir(), "jig.db"))
	if err != nil {
		t.Fatal(err)
	}
	o := &Opening{done: make(chan struct{})}
	s := o.New(NewID())
	if err := s.Append(1, proto.Began{Agent: "a"}, proto.Said{Message: msg.Say(msg.User, "hello")}); err != nil {
		t.Fatal(err)
	}
	lost := make(chan error)
	go func() {
		lost <- s.Append(3, proto.Said{Message: msg.Message{Role: msg.Assistant, Blocks: msg.Blocks{odd{}}}})
	}()
	for s.mu.TryLock() { // until it waits for the database
		s.mu.Unlock()
	}
	o.db = db
	close(o.done)
	if err := <-lost; err == nil {
		t.Error("it was kept")
	}
	<-s.late
	if all, err := db.List(Query{}); err != nil || len(all) > 0 {
		t.Errorf("%+v, %v", all, err)
	}
	if err := errors.Join(s.Close(), db.Close()); err != nil {
		t.Error(err)
	}
}
