package session_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"jig/internal/msg"
	"jig/internal/proto"
	"jig/internal/session"
	"jig/internal/tool"
)

// slowly folds by the meaning of a Rewound: the state is that of the facts before it.
func slowly(facts []proto.Fact) session.State {
	var s session.State
	for i, f := range facts {
		r, ok := f.(proto.Rewound)
		if !ok || r.Before == 0 || r.Before > uint64(i) {
			s.Apply(f)
			continue
		}
		then := slowly(facts[:r.Before-1])
		then.Cost, then.Calls, then.Jobs, then.Goal, then.Title = s.Cost, s.Calls, s.Jobs, s.Goal, s.Title
		then.Facts = s.Facts + 1
		s = then
	}
	return s
}

func TestRewindingOverAndOverIsWhatItWouldBeOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	for range 300 {
		facts := []proto.Fact{proto.Began{Agent: "a"}}
		var people []uint64
		for n := range 4 + r.IntN(30) {
			switch {
			case len(people) > 0 && r.IntN(4) == 0 && n < 24:
				k := r.IntN(len(people))
				facts = append(facts, proto.Rewound{Before: people[k]})
				people = people[:k] // only what stands can be gone back to
			case r.IntN(4) == 0:
				id := fmt.Sprintf("call%05d", n)
				result := tool.Text("r")
				if r.IntN(2) == 0 {
					result.Job, result.Label = "b1", "make"
				}
				facts = append(facts, calls(id), proto.Closed{Call: id, Result: result})
			case r.IntN(5) == 0:
				facts = append(facts, proto.Titled{Title: fmt.Sprint(n)}, proto.Cost{Session: 5}, proto.Goal{Objective: fmt.Sprint(n), Status: proto.GoalActive})
			default:
				facts = append(facts, proto.Said{Message: msg.Say(msg.User, fmt.Sprint(n))})
				people = append(people, uint64(len(facts)))
			}
		}
		want, got := slowly(facts), session.Fold(facts)
		var step session.State
		for i, f := range facts {
			step = step.Next(facts[:i], f)
		}
		for _, s := range []session.State{got, step} {
			if d := cmp.Diff(want, s, cmpopts.IgnoreUnexported(session.State{}), cmpopts.EquateEmpty()); d != "" {
				t.Fatal(d)
			}
		}
	}
}

func TestManyRewindsAreSoonFolded(t *testing.T) {
	facts := []proto.Fact{proto.Began{}}
	for i := range 2000 {
		facts = append(facts, proto.Said{Message: msg.Say(msg.User, "try")}, proto.Ended{})
		if i > 0 {
			facts = append(facts, proto.Rewound{Before: uint64(len(facts)) - 1})
		}
	}
	if s := session.Fold(facts); len(s.Messages) != 1 || s.Facts != uint64(len(facts)) {
		t.Errorf("%d messages, %d facts", len(s.Messages), s.Facts)
	}
}
