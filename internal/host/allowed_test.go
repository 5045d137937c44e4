package host_test

import (
	"context"
	"testing"

	"jig/internal/agent"
	"jig/internal/host"
	"jig/internal/model"
	"jig/internal/proto"
)

// again opens a session anew on what its log holds, as another process does.
func again(t *testing.T, alone bool, old []proto.Fact, steps ...func(context.Context) (model.Reply, error)) *rig {
	t.Helper()
	r := &rig{h: host.New(), model: &script{steps: steps}, waiting: make(chan bool, 1), place: &place{}}
	table, err := agent.Bind(tools{r.waiting})
	if err != nil {
		t.Fatal(err)
	}
	r.id, err = r.h.Open(host.Setup{Old: old, Alone: alone, Place: r.place,
		Turn: func(context.Context) (agent.Turn, error) { return agent.Turn{Model: r.model, Tools: table}, nil }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.h.Close() })
	return r
}

// allowed are the facts of a session in which a tool was allowed for as long as it lasts.
func allowed(t *testing.T) []proto.Fact {
	t.Helper()
	r := start(t, false, calls("write"), calls("write"), says("done"))
	asked := 0
	r.do(t, proto.Submit{Text: "go"})
	facts := r.until(1, func(f proto.Fact) {
		if a, ok := f.(proto.Asked); ok {
			asked++
			r.do(t, proto.Answer{Call: a.Call, By: "me", Choice: proto.Session})
		}
	})
	if got := results(facts); got != "written|written" || asked != 1 {
		t.Fatalf("asked %d times: %s", asked, got)
	}
	return facts
}

func TestWhatWasAllowedForASessionIsAskedAgainAfterAResume(t *testing.T) {
	old := allowed(t)
	r := again(t, false, old, calls("write"), says("done"))
	asked := 0
	r.do(t, proto.Submit{Text: "more"})
	facts := r.until(2, func(f proto.Fact) {
		if a, ok := f.(proto.Asked); ok {
			if asked++; asked == 2 { // the first is in the old facts
				r.do(t, proto.Answer{Call: a.Call, By: "me", Choice: proto.Deny})
			}
		}
	})
	want := "written|written|write was not run: the user declined this call — do not try it again unless they ask for it"
	if got := results(facts); got != want || asked != 2 {
		t.Errorf("asked %d times: %s", asked, got)
	}
}

func TestWhatWasAllowedForASessionIsRefusedWhereNobodyCanBeAskedAfterAResume(t *testing.T) {
	r := again(t, true, allowed(t), calls("write"), says("done"))
	r.do(t, proto.Submit{Text: "more"})
	if got := results(r.until(2, nil)); got != "written|written|write was not executed" {
		t.Error(got)
	}
}
