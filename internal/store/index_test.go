//go:build unix

package store_test

import (
	"testing"
	"time"

	"jig/internal/msg"
	"jig/internal/proto"
	"jig/internal/session"
	"jig/internal/store"
)

// TestTheListSaysWhatIsFoundOnGoingOn: what was taken back counts for nothing, also where another process took it
// back.
func TestTheListSaysWhatIsFoundOnGoingOn(t *testing.T) {
	said := func(text string) proto.Said { return proto.Said{Message: msg.Say(msg.User, text)} }
	done, failed := proto.Ended{Why: proto.Done}, proto.Ended{Why: proto.Failed}
	a, b := proto.Began{Agent: "a", Model: "m"}, proto.Began{Agent: "b", Model: "n"}
	goal := proto.Goal{Objective: "the goal", Status: proto.GoalBlocked}
	for name, c := range map[string]struct {
		facts []proto.Fact
		want  store.Info
	}{
		"the last":        {[]proto.Fact{a, said("1"), done, said("2"), failed, proto.Rewound{Before: 4}}, store.Info{Title: "1", State: "done", Turns: 1}},
		"both":            {[]proto.Fact{a, said("1"), done, said("2"), failed, proto.Rewound{Before: 2}}, store.Info{Title: "1"}},
		"and other words": {[]proto.Fact{a, said("1"), done, said("2"), failed, proto.Rewound{Before: 2}, said("3"), failed}, store.Info{Title: "3", State: "failed", Turns: 1}},
		"with a name":     {[]proto.Fact{a, said("1"), proto.Titled{Title: "name"}, done, proto.Rewound{Before: 2}, said("3"), done}, store.Info{Title: "name", State: "done", Turns: 1}},
		"with a goal":     {[]proto.Fact{a, said("1"), done, said("2"), goal, failed, proto.Rewound{Before: 4}}, store.Info{Title: "1", State: "done", Turns: 1, Goal: "blocked"}},
		"another model":   {[]proto.Fact{a, said("1"), done, b, said("2"), done, proto.Rewound{Before: 5}}, store.Info{Title: "1", State: "done", Turns: 1, Agent: "b"}},
		"the model, too":  {[]proto.Fact{a, said("1"), said("2"), b, done, proto.Rewound{Before: 3}}, store.Info{Title: "1", State: store.Running, Turns: 1, Agent: "a"}},
		"within a turn":   {[]proto.Fact{a, said("1"), said("2"), done, proto.Rewound{Before: 3}}, store.Info{Title: "1", State: store.Running, Turns: 1}},
		"again and again": {[]proto.Fact{a, said("1"), done, said("2"), done, proto.Rewound{Before: 4}, said("3"), done, said("4"), done, proto.Rewound{Before: 7}, said("5"), done}, store.Info{Title: "1", State: "done", Turns: 2}},
	} {
		if c.want.Agent == "" {
			c.want.Agent = "a"
		}
		for _, way := range []string{"one process", "each its own", "a copy"} {
			d := fresh(t)
			s := d.New(store.NewID())
			for i, f := range c.facts {
				if way == "each its own" && i > 1 {
					must(t, s.Close())
					var err error
					s, _, err = d.Take(s.ID())
					must(t, err)
				}
				must(t, s.Append(uint64(i)+1, f))
			}
			must(t, s.Close())
			id := s.ID()
			if way == "a copy" {
				id = store.NewID()
				must(t, d.Copy(s.ID(), id, 0))
			}
			i, err := d.Find(id)
			must(t, err)
			if got := (store.Info{Title: i.Title, State: i.State, Turns: i.Turns, Agent: i.Agent, Goal: i.Goal}); got != c.want {
				t.Errorf("%s, %s:\n%+v, want\n%+v", name, way, got, c.want)
			}
			st := session.Fold(c.facts)
			if i.Turns != len(session.Spoken(c.facts)) || i.Agent != st.Began.Agent || (i.State == store.Running) != st.Turn {
				t.Errorf("%s: whoever goes on finds %+v", name, st)
			}
		}
	}
}

// TestANewNameMakesNoSessionYounger: it keeps its place in the list, and its age for whoever deletes old ones.
func TestANewNameMakesNoSessionYounger(t *testing.T) {
	d := fresh(t)
	first, second := write(t, d), ""
	time.Sleep(2 * time.Millisecond) // ages are told in milliseconds
	second = write(t, d)
	before, err := d.Find(first)
	must(t, err)
	time.Sleep(2 * time.Millisecond)
	append1 := func(f proto.Fact) {
		s, facts, err := d.Take(first)
		must(t, err)
		must(t, s.Append(uint64(len(facts))+1, f))
		must(t, s.Close())
	}
	append1(proto.Titled{Title: "another"})
	all, err := d.List(store.Query{})
	must(t, err)
	if all[0].ID != second || all[1].Title != "another" || !all[1].Updated.Equal(before.Updated) {
		t.Errorf("%+v", all)
	}
	// To sum it up is to use it.
	append1(proto.Compacted{Through: 1, Summary: msg.Say(msg.User, "short")})
	if all, err = d.List(store.Query{}); err != nil || all[0].ID != first {
		t.Errorf("%+v %v", all, err)
	}
}
