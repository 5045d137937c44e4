//go:build unix

package store_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jig/internal/msg"
	"jig/internal/proto"
	"jig/internal/store"
)

// single is a fact that changes nothing of a running session's row and costs nothing.
var single = proto.Said{Message: msg.Say(msg.Assistant, "a step")}

func TestASingleFactIsNotWrittenToASessionThatAnotherTook(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jig.db")
	a, b := open(t, path), open(t, path)
	id := write(t, a)
	s, _, err := a.Take(id)
	must(t, err)
	must(t, s.Append(5, conversation[1]))
	must(t, s.Append(6, single))
	must(t, s.Close())
	next, _, err := b.Take(id)
	must(t, err)
	if err := s.Append(7, single); !errors.Is(err, store.ErrTaken) {
		t.Errorf("a session that another took was written: %v", err)
	}
	must(t, next.Append(7, single))
	must(t, next.Close())
	_, err = b.Delete(id)
	must(t, err)
	if err := s.Append(7, single); !errors.Is(err, store.ErrTaken) {
		t.Errorf("a session that was deleted was written: %v", err)
	}
}

func TestASingleFactWaitsForAnotherWriterAndIsKeptOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jig.db")
	d := open(t, path)
	s, _, err := d.Take(write(t, d))
	must(t, err)
	must(t, s.Append(5, conversation[1]))
	free := locked(t, path)
	kept := make(chan error, 1)
	go func() { kept <- s.Append(6, single) }()
	select {
	case err := <-kept:
		t.Errorf("it did not wait: %v", err)
		kept <- err
	case <-time.After(time.Second): // longer than one statement waits by itself
	}
	free()
	must(t, <-kept)
	must(t, s.Append(7, single))
	if facts, err := d.Facts(s.ID()); err != nil || len(facts) != 7 {
		t.Errorf("%d facts, %v", len(facts), err)
	}

	free = locked(t, path)
	defer free()
	go func() { kept <- s.Append(8, single) }()
	time.Sleep(50 * time.Millisecond)
	d.Hurry()
	if err := <-kept; err == nil || !strings.Contains(err.Error(), "locked by another process") {
		t.Errorf("%v", err)
	}
}
