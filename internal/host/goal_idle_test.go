package host_test

import (
	"testing"
	"testing/synctest"
	"time"

	"jig/internal/host"
	"jig/internal/proto"
)

// A model that made itself a goal would go on for ever, and be paid for, if it only had to look at it.
func TestCallsOfGoalToolsDoNotKeepAGoalGoing(t *testing.T) {
	again := func(name, args string) []step { return []step{uses(name, args), says("on")} }
	for name, one := range map[string][]step{
		"get_goal":         again("get_goal", "{}"),
		"an unknown tool":  again("no_such_tool", "{}"),
		"a goal each time": {uses("update_goal", `{"status":"complete"}`), uses("create_goal", `{"objective":"mine"}`), says("on")},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := &kept{}
				steps := []step{uses("create_goal", `{"objective":"mine"}`), says("begun")}
				for range 10 {
					steps = append(steps, one...)
				}
				r := startGoal(t, host.Setup{Log: log}, 0, steps...)
				r.do(t, proto.Submit{Text: "hello"})
				time.Sleep(time.Hour)
				synctest.Wait()
				r.h.Close()
				if got, want := goalOf(log.facts), "blocked by jig: 3 continuations in a row made no tool call that does something"; got != want {
					t.Errorf("%q, want %q", got, want)
				}
				if n, want := r.requests(), 2+3*len(one); n != want {
					t.Errorf("%d requests, want %d", n, want)
				}
			})
		})
	}
}
