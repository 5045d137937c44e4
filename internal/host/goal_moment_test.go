package host_test

import (
	"sync"
	"testing"
	"time"

	"jig/internal/host"
	"jig/internal/proto"
)

// TestAGoalThatIsClearedAtTheLastMomentIsNotGoneOnWith: a person clears it when it is known already that the
// next turn begins with it, and it is not said yet.
func TestAGoalThatIsClearedAtTheLastMomentIsNotGoneOnWith(t *testing.T) {
	var r *rig
	var once sync.Once
	log, cleared := &kept{}, make(chan bool)
	r = startGoal(t, host.Setup{Log: log, Began: proto.Began{Date: "today"}, Today: func() string {
		once.Do(func() {
			go func() {
				defer close(cleared)
				if err := r.h.Do(t.Context(), r.id, proto.ClearGoal{}); err != nil {
					t.Error(err)
				}
			}()
			select {
			case <-cleared:
			case <-time.After(50 * time.Millisecond): // it waits until what begins is said
			}
		})
		return "today"
	}}, 0, says("on"), says("on"), says("on"), says("on"))
	if err := r.h.Do(t.Context(), r.id, proto.SetGoal{Objective: "x"}); err != nil {
		t.Fatal(err)
	}
	<-cleared
	for e := range r.h.Watch(t.Context(), r.id, 0) {
		if _, ended := e.Fact.(proto.Ended); ended {
			break
		}
	}
	r.h.Close()
	active := false
	for i, f := range log.facts {
		switch f := f.(type) {
		case proto.Goal:
			active = f.Active()
		case proto.Said:
			if f.Notice == proto.NoticeGoal && !active {
				t.Errorf("fact %d goes on with a goal that is cleared", i+1)
			}
		}
	}
	if len(notices(log.facts)) == 0 || goalOf(log.facts) != "cleared by person" {
		t.Errorf("%q, the goal is %s", notices(log.facts), goalOf(log.facts))
	}
}
