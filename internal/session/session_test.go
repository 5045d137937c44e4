package session_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"jig/internal/msg"
	"jig/internal/proto"
	"jig/internal/session"
	"jig/internal/tool"
)

func calls(ids ...string) proto.Said {
	m := msg.Message{Role: msg.Assistant}
	for _, id := range ids {
		m.Blocks = append(m.Blocks, msg.Call{ID: id, Name: "x", Args: "{}"})
	}
	return proto.Said{Message: m}
}

func closed(id, text string) proto.Closed { return proto.Closed{Call: id, Result: tool.Text(text)} }

func TestResultsStandInCallOrderWhateverEndsFirst(t *testing.T) {
	s := session.Fold([]proto.Fact{calls("a", "b", "c"), closed("c", "3"), closed("a", "1"), closed("b", "2")})
	var got []string
	for _, b := range s.Messages[1].Blocks {
		r := b.(msg.Result)
		got = append(got, r.Call+r.Blocks.Text())
	}
	if d := cmp.Diff([]string{"a1", "b2", "c3"}, got); d != "" {
		t.Error(d)
	}
	if s.Calls != 3 {
		t.Errorf("%d calls counted", s.Calls)
	}
}

func TestCallWithoutResultIsStillValidToSend(t *testing.T) {
	s := session.Fold([]proto.Fact{calls("a", "b"), closed("a", "1"), closed("a", "again"), closed("z", "nobody's")})
	if len(s.Messages) != 2 || len(s.Messages[1].Blocks) != 2 {
		t.Fatalf("%+v", s.Messages)
	}
	if r := s.Messages[1].Blocks[0].(msg.Result); r.Blocks.Text() != "1" {
		t.Errorf("a call got two results: %+v", r)
	}
	if r := s.Messages[1].Blocks[1].(msg.Result); !r.Failed || r.Blocks.Text() == "" {
		t.Errorf("%+v", r)
	}
}

func TestViewOfTheStateNeverChanges(t *testing.T) {
	l := session.NewLine(nil, calls("a", "b"))
	before := l.State()
	if err := l.Say(closed("a", "1"), proto.Said{Message: msg.Say(msg.User, "more")}); err != nil {
		t.Fatal(err)
	}
	if r := before.Messages[1].Blocks[0].(msg.Result); r.Blocks.Text() == "1" || len(before.Messages) != 2 {
		t.Error("an earlier view saw a later fact")
	}
}

type full struct{}

func (full) Append(uint64, ...proto.Fact) error { return errors.New("disk full") }

func TestWhatIsNotStoredIsNotSeen(t *testing.T) {
	l := session.NewLine(full{})
	if err := l.Say(proto.Ended{}); err == nil {
		t.Fatal("no error")
	}
	l.Close()
	for e := range l.Watch(context.Background(), 0) {
		t.Errorf("saw %+v", e)
	}
}

func TestLateReaderGetsExactlyTheRestAndTheNow(t *testing.T) {
	l := session.NewLine(nil, proto.Began{Agent: "a"}, proto.Said{Message: msg.Say(msg.User, "hi")})
	l.Show("reply", proto.Writing{Text: "on"})
	l.Show("reply", proto.Writing{Text: "one"})
	l.Show("gone", 1)
	l.Show("gone", nil)
	l.Close()
	var got []proto.Event
	for e := range l.Watch(context.Background(), 1) {
		got = append(got, e)
	}
	want := []proto.Event{
		{Seq: 2, Fact: proto.Said{Message: msg.Say(msg.User, "hi")}},
		{Key: "reply", Now: proto.Writing{Text: "one"}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestSlowReaderMissesNoFact(t *testing.T) {
	l := session.NewLine(nil)
	done := make(chan []uint64)
	started := make(chan bool)
	go func() {
		var seen []uint64
		for e := range l.Watch(context.Background(), 0) {
			if len(seen) == 0 {
				close(started)
			}
			if e.Fact != nil {
				seen = append(seen, e.Seq)
			}
		}
		done <- seen
	}()
	for range 100 {
		if err := l.Say(proto.Ended{}); err != nil {
			t.Fatal(err)
		}
		l.Show("reply", proto.Writing{})
	}
	<-started
	l.Close()
	seen := <-done
	for i, n := range seen {
		if n != uint64(i+1) {
			t.Fatalf("fact %d came as number %d", i+1, n)
		}
	}
	if len(seen) != 100 {
		t.Errorf("%d facts", len(seen))
	}
}
