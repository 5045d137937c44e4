package session_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"jig/internal/msg"
	"jig/internal/proto"
	"jig/internal/session"
	"jig/internal/tool"
)

// summedUp is a session of two turns, of which the first one was summed up.
func summedUp() []proto.Fact {
	reply := calls("a", "b")
	reply.Usage = &msg.Usage{Input: 700, Output: 50}
	return []proto.Fact{
		proto.Began{Agent: "a"},                               // 1
		proto.Said{Message: msg.Say(msg.User, "first")},       // 2
		proto.Said{Message: msg.Say(msg.Assistant, "answer")}, // 3
		proto.Ended{Why: proto.Done},                          // 4
		proto.Said{Message: msg.Say(msg.User, "second")},      // 5
		reply,            // 6
		closed("b", "2"), // 7
		closed("a", "1"), // 8
		proto.Compacted{Through: 4, Summary: msg.Say(msg.User, "SUMMARY")}, // 9
	}
}

func TestSummaryStandsInThePlaceOfWhatItSumsUpAndNothingIsCountedAnyMore(t *testing.T) {
	before := session.Fold(summedUp()[:8])
	if before.Context != 750 || before.Counted != 4 {
		t.Errorf("%d tokens in %d messages", before.Context, before.Counted)
	}
	s := session.Fold(summedUp())
	var got []string
	for _, m := range s.Messages {
		got = append(got, string(m.Role)+" "+m.Blocks.Text())
	}
	if d := cmp.Diff([]string{"user SUMMARY", "user second", "assistant ", "user "}, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]uint64{4, 5, 6, 6}, s.At); d != "" {
		t.Error(d)
	}
	if s.Context != 0 || s.Counted != 0 || s.Calls != 2 {
		t.Errorf("%d tokens in %d messages, %d calls", s.Context, s.Counted, s.Calls)
	}
	// The next reply's count is of the conversation as it is now.
	next := session.Fold(append(summedUp(), proto.Said{Message: msg.Say(msg.Assistant, "done"), Usage: &msg.Usage{Input: 90, Output: 10}}))
	if next.Context != 100 || next.Counted != 5 {
		t.Errorf("%d tokens in %d messages", next.Context, next.Counted)
	}
	// A second summary takes the first one in.
	again := session.Fold(append(summedUp(), proto.Compacted{Through: 6, Summary: msg.Say(msg.User, "ALL")}))
	if len(again.Messages) != 1 || again.Messages[0].Blocks.Text() != "ALL" || again.At[0] != 6 {
		t.Errorf("%+v at %v", again.Messages, again.At)
	}
}

// Another process may have died while calls were open; a summary that was made before them moves their
// places.
func TestResultsFindTheirPlaceAfterASummary(t *testing.T) {
	facts := slices.Concat(summedUp()[:6], []proto.Fact{proto.Compacted{Through: 4, Summary: msg.Say(msg.User, "SUMMARY")}, closed("b", "2"), closed("a", "1")})
	s := session.Fold(facts)
	for i, want := range []string{"1", "2"} {
		if r := s.Messages[3].Blocks[i].(msg.Result); r.Blocks.Text() != want || r.Failed {
			t.Errorf("result %d is %+v", i, r)
		}
	}
}

func TestWhatWasSummedUpComesBackWhereASessionIsRewoundToBeforeIt(t *testing.T) {
	s := session.Fold(append(summedUp(), proto.Rewound{Before: 5}))
	if len(s.Messages) != 2 || s.Messages[0].Blocks.Text() != "first" || s.Facts != 10 {
		t.Errorf("%+v", s.Messages)
	}
	// The message of a turn that was summed up can be gone back to as well.
	s = session.Fold(append(summedUp(), proto.Rewound{Before: 2}))
	if len(s.Messages) != 0 {
		t.Errorf("%+v", s.Messages)
	}
}

func TestNoToASummaryHoldsUntilThereIsOneOrAnotherModel(t *testing.T) {
	asked := proto.Asked{Call: proto.CallCompaction, Question: tool.Question{Scope: proto.CallCompaction}}
	no := proto.Answered{Call: proto.CallCompaction, By: "terminal", Choice: proto.Deny}
	for name, c := range map[string]struct {
		facts []proto.Fact
		want  bool
	}{
		"no":                {[]proto.Fact{asked, no}, true},
		"no, then yes":      {[]proto.Fact{asked, no, asked, proto.Answered{Call: proto.CallCompaction, By: "terminal", Choice: proto.Once}}, false},
		"no, another model": {[]proto.Fact{asked, no, proto.Began{Model: "other"}}, false},
		"no, by hand":       {append(summedUp()[:8], asked, no, summedUp()[8]), false},
		"the turn ended":    {[]proto.Fact{asked, proto.Answered{Call: proto.CallCompaction, By: proto.ByEsc, Choice: proto.Deny}}, false},
		"jig ended":         {[]proto.Fact{asked, session.Resume(session.Fold([]proto.Fact{asked}))[0]}, false},
		"another question":  {[]proto.Fact{proto.Asked{Call: "a"}, proto.Answered{Call: "a", By: "terminal", Choice: proto.Deny}}, false},
	} {
		if got := session.Fold(c.facts).Uncompacted; got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
